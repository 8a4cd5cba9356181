/** The groups of calls of this folder; a further one is one line. */
export { accounts, roles } from './accounts.ts';
export { accountZones } from './account-zones.ts';
export { apiDoc, apiTokens } from './api-tokens.ts';
export { audit } from './audit.ts';
export { identities, oidcLogin } from './oidc.ts';
export { oidc } from './oidc-setting.ts';
export { passkeyLogin, passkeyPresence, passkeys } from './passkeys.ts';
export { passwordLink } from './password-link.ts';
export { secondFactor } from './second-factor.ts';
export { sessions } from './sessions.ts';
export { session } from './session.ts';
