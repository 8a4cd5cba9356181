/** The implementations of this folder; a further one is one line. */
export { blacklistCalls } from './blacklists.ts';
export { errorPageCalls, systemErrorPageCalls } from './error-pages.ts';
export { frequencyCalls } from './frequencies.ts';
export { limitReqCalls } from './limit-reqs.ts';
export { systemFrequencyCalls } from './system-frequencies.ts';
export { userAgentCalls } from './user-agents.ts';
export { whitelistCalls } from './whitelists.ts';
