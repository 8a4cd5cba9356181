import { resolutionLimits } from '#contract/limits.ts';

/** Whoever stands on a line is asked for each second. */
const unseenMs = 5000;

interface Known {
  isWell: boolean;
  since: number;
  falls: number[];
  /** when it was asked for last */
  at: number;
}
/** How long a node has been well, so that one that comes and goes does not take visitors with it. */
export class Steadiness {
  readonly #known = new Map<string, Known>();
  readonly #firstMs: number;
  constructor(steadySeconds: number) {
    this.#firstMs = steadySeconds * 1000;
  }

  /**
   * Milliseconds until it may come back; 0: it may, or is there, or is not well. `wellMs`: for how long it has been well by its own row;
   * that counts where it stood on no line, and was not asked for here. Undefined: it does not say.
   */
  waitMs(UID: string, isWell: boolean, isAnswered: boolean, wellMs?: number): number {
    const now = performance.now();
    let known = this.#known.get(UID);
    // who is answered was well when somebody else steered
    if (!known)
      this.#known.set(UID, (known = { isWell, since: isAnswered ? -Infinity : now - (wellMs ?? 0), falls: [], at: now }));
    // it may have fallen, and come to itself, meanwhile
    if (now - known.at > unseenMs && isWell && wellMs !== undefined) Object.assign(known, { isWell, since: now - wellMs });
    known.at = now;
    if (known.isWell !== isWell) {
      if (!isWell) known.falls = [...known.falls.filter(at => now - at < resolutionLimits.flapMinutes * 60_000), now].slice(-20);
      Object.assign(known, { isWell, since: now });
    }
    if (!isWell || isAnswered) return 0;
    const needs = Math.min(resolutionLimits.steadySecondsMax * 1000, this.#firstMs * 2 ** Math.max(0, known.falls.length - 1));
    return Math.max(0, known.since + needs - now);
  }
}
