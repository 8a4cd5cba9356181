/** The groups of calls of this folder; a further one is one line. */
export { blacklists } from './blacklists.ts';
export { errorPages, systemErrorPages } from './error-pages.ts';
export { frequencies } from './frequencies.ts';
export { limitReqs } from './limit-reqs.ts';
export { systemFrequencies } from './system-frequencies.ts';
export { userAgents } from './user-agents.ts';
export { whitelists } from './whitelists.ts';
