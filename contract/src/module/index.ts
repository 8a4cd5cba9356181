/** The groups of calls of this folder; a further one is one line. */
export { cors } from './cors.ts';
export { customHeader, domainHeaders } from './custom-headers.ts';
export { proxyRewrite } from './proxy-rewrites.ts';
export { redirects, urlRedirect } from './url-redirects.ts';
