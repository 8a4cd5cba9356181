/** The groups of calls of this folder; a further one is one line. */
export { gzip } from './gzip.ts';
export { rates } from './rates.ts';
export { applied, clientSites, resourceInfo, userSites } from './sites.ts';
export { forceSSLRedirectCode, http2, http3, proxyProtocol, resource } from './zone-settings.ts';
export { siteTerms } from './terms.ts';
