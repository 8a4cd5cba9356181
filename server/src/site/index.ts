/** The implementations of this folder; a further one is one line. */
export { rateCalls } from './rates.ts';
export { resourceInfoCalls } from './resource-info.ts';
export { appliedCalls, clientSiteCalls, userSiteCalls } from './sites.ts';
export { siteTermsCalls } from './terms.ts';
