/** The implementations of this folder; a further one is one line. */
export { cacheCalls } from './cache.ts';
