/** The groups of calls of this folder; a further one is one line. */
export { certificates } from './certificates.ts';
export { domains } from './domains.ts';
