/** The implementations of this folder; a further one is one line. */
export { autoCertificateCalls, zeroSSLTrialCalls } from './acme/calls.ts';
export { certificateCalls } from './certificate/certificates.ts';
export { domainCopyCalls } from './copies.ts';
export { siteDNSCalls } from './dns/calls.ts';
export { domainCalls } from './domains.ts';
export { httpsStepImplementation } from './https-steps.ts';
export { originStateImplementation } from './origin-states.ts';
export { originTLSImplementation } from './origin-tls.ts';
export { portCalls, portUpstreamCalls } from './ports.ts';
