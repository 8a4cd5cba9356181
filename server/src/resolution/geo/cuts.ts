/** A family of addresses, cut into networks: a million of them in a few bytes each, where numbers of JavaScript would take five times as much. */

/** As an array has it. */
export interface Listed<T> {
  readonly length: number;
  at(index: number): T | undefined;
}
/** A whole family, cut: cut `n` goes from start `n` to the next one, and is said value `n` of. */
export interface Cuts {
  starts: Listed<bigint>;
  values: Listed<number>;
}

const firstRoom = 1024;
function larger<T extends Uint32Array | BigUint64Array>(full: T, more: T): T {
  more.set(full as never); // both are of the one type
  return more;
}

/** Addresses of one family. */
export class Starts implements Listed<bigint> {
  #low = new BigUint64Array(firstRoom);
  /** of IPv6 alone */
  #high: BigUint64Array | undefined;
  length = 0;
  constructor(family: 4 | 6) {
    if (family === 6) this.#high = new BigUint64Array(firstRoom);
  }
  push(start: bigint): number {
    const at = this.length;
    if (at === this.#low.length) {
      this.#low = larger(this.#low, new BigUint64Array(at * 2));
      this.#high &&= larger(this.#high, new BigUint64Array(at * 2));
    }
    this.#low[at] = BigInt.asUintN(64, start);
    if (this.#high) this.#high[at] = start >> 64n;
    return (this.length = at + 1);
  }
  pop(): void {
    this.length--;
  }
  /** Negative: from the end. */
  at(index: number): bigint | undefined {
    const n = index < 0 ? this.length + index : index;
    if (n < 0 || n >= this.length) return undefined;
    const low = this.#low[n]!;
    return this.#high ? (this.#high[n]! << 64n) | low : low;
  }
}

export class Values implements Listed<number> {
  #all = new Uint32Array(firstRoom);
  length = 0;
  push(value: number): number {
    if (this.length === this.#all.length) this.#all = larger(this.#all, new Uint32Array(this.length * 2));
    this.#all[this.length] = value;
    return ++this.length;
  }
  pop(): void {
    this.length--;
  }
  at(index: number): number | undefined {
    const n = index < 0 ? this.length + index : index;
    return n < 0 || n >= this.length ? undefined : this.#all[n];
  }
}
