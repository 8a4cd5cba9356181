/** The implementations of this folder; a further one is one line. */
export { domainCalls } from './domains.ts';
