/** What was found for a key of a line: one memory for the lines of all nodes, of a size that no node can make larger. */

/** A power of two. */
const places = 65_536;
/** Longer keys are looked up each time. */
const keyBytes = 128;

export class KeyMemo<T> {
  // one block, so that no small buffer keeps a large one alive; what was never written takes no memory
  readonly #keys = Buffer.alloc(places * keyBytes);
  readonly #lengths = new Uint8Array(places);
  readonly #found: (T | undefined)[] = Array.from({ length: places });

  /** What stands for the key in `raw[from, to)`; found anew if another key has taken its place. */
  get(raw: Buffer, from: number, to: number, find: (key: string) => T): T {
    const length = to - from;
    if (length > keyBytes || length === 0) return find(raw.toString('latin1', from, to));
    let hash = 0x811c9dc5;
    for (let i = from; i < to; i++) hash = Math.imul(hash ^ raw[i]!, 0x01000193);
    const place = (hash ^ (hash >>> 15)) & (places - 1);
    const begin = place * keyBytes;
    if (this.#lengths[place] === length && this.#isAt(begin, raw, from, to)) return this.#found[place]!;
    const found = find(raw.toString('latin1', from, to));
    raw.copy(this.#keys, begin, from, to);
    this.#lengths[place] = length;
    this.#found[place] = found;
    return found;
  }

  clear(): void {
    this.#lengths.fill(0);
    this.#found.fill(undefined);
  }

  #isAt(begin: number, raw: Buffer, from: number, to: number): boolean {
    const keys = this.#keys;
    for (let i = from, at = begin; i < to; i++, at++) if (keys[at] !== raw[i]) return false;
    return true;
  }
}
