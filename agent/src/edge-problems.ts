/** What went wrong in nginx's Lua (edge/lua/core/problems.lua), over its restarts: it counts from zero each time, and an hour's loss must not look healed. */
export type Problems = Readonly<Record<string, number>>;

export class EdgeProblems {
  #epoch = '';
  #before: Record<string, number> = {};
  #now: Problems = {};

  /** @param epoch of the nginx that counted */
  take(epoch: string, counts: Problems): void {
    if (epoch !== this.#epoch) this.#before = this.sums();
    this.#epoch = epoch;
    this.#now = counts;
  }

  /** Since this agent was started; of an nginx that ran before it, since that one was. */
  sums(): Record<string, number> {
    const sums = { ...this.#before };
    for (const [kind, count] of Object.entries(this.#now)) sums[kind] = (sums[kind] ?? 0) + count;
    return sums;
  }
}
