/** The implementations of this folder; a further one is one line. */
export { logCalls, statisticsCalls } from './analytics.ts';
