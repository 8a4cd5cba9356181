/** The implementations of this folder; a further one is one line. */
export { accountCalls, roleCalls } from './accounts.ts';
export { sessionCalls } from './session.ts';
