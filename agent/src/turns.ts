/** Places for work, given in turn to those who wait for one: however much one party waits for, another's turn comes next. */
export type Party = number | string;

/** First in, first out, each step at the same cost however long it is. */
class Queue<T> {
  #items: T[] = [];
  #first = 0;
  get length(): number {
    return this.#items.length - this.#first;
  }
  push(item: T): void {
    this.#items.push(item);
  }
  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.#items[this.#first++];
    if (this.#first > 64 && this.#first * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }
}

export class Turns<Work> {
  readonly #limits: { all: number; party: number };
  readonly #waiting = new Map<Party, Queue<Work>>();
  readonly #busy = new Map<Party, number>();
  /** parties that wait and may have a place, in the order of their turns */
  readonly #order = new Queue<Party>();
  /** parties that wait and have all the places one party may have */
  readonly #held = new Set<Party>();
  #all = 0;

  /** @param limits places at once, of all and of one party */
  constructor(limits: { all: number; party: number }) {
    this.#limits = limits;
  }

  /** What a party waits for and has in work. */
  load(party: Party): number {
    return (this.#waiting.get(party)?.length ?? 0) + (this.#busy.get(party) ?? 0);
  }

  wait(party: Party, work: Work): void {
    let queue = this.#waiting.get(party);
    if (!queue) {
      this.#waiting.set(party, (queue = new Queue()));
      this.#order.push(party);
    }
    queue.push(work);
  }

  /** The next work that has a place now; the place is taken until `done`. */
  next(): { party: Party; work: Work } | undefined {
    if (this.#all >= this.#limits.all) return undefined;
    for (;;) {
      const party = this.#order.shift();
      if (party === undefined) return undefined;
      const busy = this.#busy.get(party) ?? 0;
      if (busy >= this.#limits.party) {
        this.#held.add(party);
        continue;
      }
      const queue = this.#waiting.get(party)!;
      const work = queue.shift()!;
      if (queue.length) this.#order.push(party);
      else this.#waiting.delete(party);
      this.#busy.set(party, busy + 1);
      this.#all++;
      return { party, work };
    }
  }

  done(party: Party): void {
    this.#all--;
    const busy = this.#busy.get(party)! - 1;
    if (busy) this.#busy.set(party, busy);
    else this.#busy.delete(party);
    if (this.#held.delete(party)) this.#order.push(party);
  }
}
