/** The implementations of this folder; a further one is one line. */
export { certificateCalls } from './certificate/certificates.ts';
export { domainCalls } from './domains.ts';
