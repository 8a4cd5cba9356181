/** The groups of calls of this folder; a further one is one line. */
export { autoCertificates, zeroSSLTrial } from './auto-certificates.ts';
export { certificates } from './certificates.ts';
export { domainCopies } from './copies.ts';
export { domains } from './domains.ts';
export { httpsSteps } from './https-steps.ts';
export { ports, portUpstreams } from './ports.ts';
export { siteDNS } from './site-dns.ts';
export { originCheck } from '../edge/origin-check.ts';
export { originStateCalls } from './origin-states.ts';
export { originTimeouts } from '../edge/origin-timeouts.ts';
export { originTLS } from '../edge/origin-tls.ts';
