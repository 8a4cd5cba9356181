/** The groups of calls of this folder; a further one is one line. */
export { cache } from './cache.ts';
