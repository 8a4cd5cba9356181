/** The groups of calls of this folder; a further one is one line. */
export { corsCalls } from './cors.ts';
export { customHeaderCalls, domainHeaderCalls } from './custom-headers.ts';
export { proxyRewriteCalls } from './proxy-rewrites.ts';
export { redirectCalls, urlRedirectCalls } from './url-redirects.ts';
