/** Looks at many things, many at once, and for no longer than so: who has no turn in one look is among the first in the next. */
import type { NameZone } from './driver.ts';

const atOnce = 32;
const roundMs = 2000;

export class Rounds {
  readonly #ms: number;
  /** that had a turn last, by its id */
  #last = -Infinity;

  constructor(ms = roundMs) {
    this.#ms = ms;
  }

  /**
   * Those that `isWell`, by their ids; of whom nobody was asked in this round, nothing is said against. Once one is not, all are asked: what
   * befell one has likely befallen others. @throws what `isWell` throws
   */
  async well(all: readonly NameZone[], isWell: (one: NameZone) => Promise<boolean>): Promise<Set<number>> {
    const inTurn = all.toSorted((x, y) => x.id - y.id);
    const from = inTurn.findIndex(one => one.id > this.#last);
    const queue = from <= 0 ? inTurn : [...inTurn.slice(from), ...inTurn.slice(0, from)];
    const found = new Set(all.map(one => one.id));
    const until = performance.now() + this.#ms;
    let at = 0;
    const next = async () => {
      while (at < queue.length && (performance.now() < until || found.size < all.length)) {
        const one = queue[at++]!;
        this.#last = one.id;
        if (!(await isWell(one))) found.delete(one.id);
      }
    };
    // where nobody answers, nobody else is asked
    const stop = (error: unknown) => {
      at = queue.length;
      throw error;
    };
    await Promise.all(Array.from({ length: atOnce }, () => next().catch(stop)));
    return found;
  }
}
