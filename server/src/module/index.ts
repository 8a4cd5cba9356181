/** The implementations of this folder; a further one is one line. */
export { corsImplementation } from './cors.ts';
export { customHeaderImplementation, domainHeaderImplementation } from './custom-headers.ts';
export { proxyRewriteImplementation } from './proxy-rewrites.ts';
export { redirectImplementation, urlRedirectImplementation } from './url-redirects.ts';
