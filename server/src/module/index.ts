/** The implementations of this folder; a further one is one line. */
export { customHeaderImplementation, domainHeaderImplementation } from './custom-headers.ts';
export { redirectImplementation } from './url-redirects.ts';
