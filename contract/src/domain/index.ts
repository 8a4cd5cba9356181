/** The groups of calls of this folder; a further one is one line. */
export { domains } from './domains.ts';
