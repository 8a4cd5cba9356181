/** Workers of nginx that stand still. nginx as a whole answers meanwhile, and a visitor whose connection such a worker holds gets nothing. */
import { processFacts, signal } from './processes.ts';

/** What a worker said of itself (edge/lua/core/beats.lua). */
export interface Beat {
  pid: number;
  /** since it went round last */
  seconds: number;
}

const hungSeconds = 15;
/** Where none goes round the machine stands still, or nginx does: that is seen by others. */
const freshSeconds = 5;

/** Kills those that stand still while others go round: the master starts new ones. @returns their process ids */
export function endHungWorkers(beats: readonly Beat[], master: number | undefined, limit = hungSeconds): number[] {
  if (!beats.some(({ seconds }) => seconds < freshSeconds)) return [];
  const hung = beats.filter(({ pid, seconds }) => seconds > limit && processFacts(pid)?.parent === master);
  // a stopped process takes no other signal
  for (const { pid } of hung) signal(pid, 'SIGKILL');
  return hung.map(({ pid }) => pid);
}
