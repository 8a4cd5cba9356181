/** What a party may do so often at once, and then once in so long. */
export class Budgets {
  readonly #most: number;
  readonly #everyMs: number;
  /** party → when it would have all of it again; who is not in it has */
  readonly #fullAt = new Map<string, number>();

  constructor({ most, everyMs }: { most: number; everyMs: number }) {
    this.#most = most;
    this.#everyMs = everyMs;
  }

  /** @param now milliseconds of a clock that only goes forward */
  has(party: string, now = performance.now()): boolean {
    return (this.#fullAt.get(party) ?? now) - now <= (this.#most - 1) * this.#everyMs;
  }

  spend(party: string, now = performance.now()): void {
    for (const [one, at] of this.#fullAt) if (at <= now) this.#fullAt.delete(one);
    this.#fullAt.set(party, (this.#fullAt.get(party) ?? now) + this.#everyMs);
  }
}
