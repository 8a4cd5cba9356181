/** The groups of calls of this folder; a further one is one line. */
export { accounts, roles } from './accounts.ts';
export { session } from './session.ts';
