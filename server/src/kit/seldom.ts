/** Says once in a while of each key that it is time; of so many keys at most. */
export class Seldom {
  readonly #until = new Map<string, number>();
  readonly #everyMs: number;
  readonly #max: number;
  now: () => number;

  constructor(everyMs: number, max = 20_000, now = () => performance.now()) {
    this.#everyMs = everyMs;
    this.#max = max;
    this.now = now;
  }

  isTime(key: string): boolean {
    const now = this.now();
    if ((this.#until.get(key) ?? 0) > now) return false;
    // the oldest makes room
    this.#until.delete(key);
    if (this.#until.size >= this.#max) this.#until.delete(this.#until.keys().next().value!);
    this.#until.set(key, now + this.#everyMs);
    return true;
  }
}
