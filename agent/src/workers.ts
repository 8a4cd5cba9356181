/** Workers of nginx that stand still. nginx as a whole answers meanwhile, and a visitor whose connection such a worker holds gets nothing. */
import { processFacts, signal } from './processes.ts';

/** What a worker said of itself (edge/lua/core/beats.lua). */
export interface Beat {
  pid: number;
  /** since it went round last */
  seconds: number;
  /** when that was, in seconds of a clock of nginx's machine; missing of an nginx of an earlier release */
  at?: number;
}

const hungMs = 15_000;
/**
 * One look tells of no more time than this, however long ago the one before was: if we stood still, so did the workers perhaps, and the
 * first of them to run again says so before the others can.
 */
const lookMostMs = 4000;

interface Seen {
  at: number | undefined;
  /** how long we have seen it stand at this beat while others went round */
  stoodMs: number;
}

/** Sees them from look to look. */
export class HungWorkers {
  #seen = new Map<number, Seen>();
  #lookedAt = 0;

  /**
   * Kills those that stood at the very same beat, look after look, while others went round between the looks: the master starts new
   * ones. Where none goes round the machine stands still, or nginx does: that is seen by others.
   * @param now milliseconds of a clock that only goes forward
   * @returns their process ids
   */
  look(beats: readonly Beat[], master: number | undefined, now = performance.now()): number[] {
    const before = this.#seen;
    const passed = Math.min(now - this.#lookedAt, lookMostMs);
    this.#lookedAt = now;
    const stands = ({ pid, at }: Beat) => at !== undefined && before.get(pid)?.at === at;
    const othersMoved = beats.some(beat => before.has(beat.pid) && !stands(beat));
    this.#seen = new Map(
      beats.map(beat => {
        const stoodMs = stands(beat) ? before.get(beat.pid)!.stoodMs + (othersMoved ? passed : 0) : 0;
        return [beat.pid, { at: beat.at, stoodMs }];
      }),
    );
    const hung = beats
      .map(({ pid }) => pid)
      .filter(pid => this.#seen.get(pid)!.stoodMs >= hungMs && processFacts(pid)?.parent === master);
    // a stopped process takes no other signal
    for (const pid of hung) signal(pid, 'SIGKILL');
    return hung;
  }
}
