/** The implementations of this folder; a further one is one line. Lists of a site are made of their declarations (calls.ts). */
export { errorPageCalls, systemErrorPageCalls } from './error-pages.ts';
export { systemFrequencyCalls } from './system-frequencies.ts';
