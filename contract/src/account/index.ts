/** The groups of calls of this folder; a further one is one line. */
export { accounts, roles } from './accounts.ts';
export { apiDoc, apiTokens } from './api-tokens.ts';
export { audit } from './audit.ts';
export { session } from './session.ts';
