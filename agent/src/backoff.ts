/**
 * How long the control plane is not asked again after it gave no credentials. One that says no is asked less and less often: an operator
 * has to do something first. One that is away (a restart, a broken line, a database that is down) is asked soon, so that nodes come back
 * with it. By up to half less each time, so that a fleet does not come in step.
 */
import { Held, Refusal } from './identity.ts';

const schedule = {
  refused: { first: 5000, most: 10 * 60_000 },
  away: { first: 1000, most: 30_000 },
} as const;
/** No longer than this, whatever it says. */
const heldMost = 15 * 60_000;

export class Backoff {
  #failed: { error: unknown; until: number } | undefined;
  /** How often it failed in each way since it last did not: one that says now this, now that is asked less often, too. */
  #counts = { refused: 0, away: 0 };
  readonly #now: () => number;
  readonly #random: () => number;

  constructor(now = () => performance.now(), random = Math.random) {
    this.#now = now;
    this.#random = random;
  }

  /** 0: it may be asked. */
  get waitMs(): number {
    return Math.max(0, (this.#failed?.until ?? 0) - this.#now());
  }

  /** Asks, unless it said no a moment ago. @throws what it said, also the last time */
  async ask<T>(ask: () => Promise<T>): Promise<T> {
    if (this.waitMs > 0) throw this.#failed!.error;
    try {
      const answer = await ask();
      this.clear();
      return answer;
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  clear(): void {
    this.#failed = undefined;
    this.#counts = { refused: 0, away: 0 };
  }

  #fail(error: unknown): void {
    const kind = error instanceof Refusal ? 'refused' : 'away';
    const count = this.#counts[kind]++;
    const { first, most } = schedule[kind];
    const own = Math.min(first * 2 ** count, most) * (0.5 + this.#random() / 2);
    // not before the time it named
    const named = error instanceof Held ? Math.min(error.seconds * 1000, heldMost) * (1 + this.#random() / 4) : 0;
    this.#failed = { error, until: this.#now() + Math.max(own, named) };
  }
}
