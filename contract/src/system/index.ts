/** The groups of calls of this folder; a further one is one line. */
export { originAllow } from './origins.ts';
export { retention } from './retention.ts';
export { status } from './status.ts';
