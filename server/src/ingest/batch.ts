/** Lines of many nodes on their way into one insert: framed and prefixed, never parsed. */
import { lineMark } from '#contract/edge/log.ts';

/** What every line of one message has in common; it stands in front of each as the first columns of `access_in`. */
export interface Origin {
  nodeID: number;
  /** bus clock minus node clock, milliseconds */
  skewMs: number;
  /** when the bus took the message, epoch seconds */
  receivedAt: number;
}

const blockBytes = 4 << 20;
const newline = 0x0a;

export class Batch {
  /** when the batch before it went */
  readonly startedAt = Date.now();
  /** by stream key: the range this batch takes of it */
  readonly ranges = new Map<string, { from: number; to: number }>();
  lastSeq = 0;
  lines = 0;
  /** pieces of lines that a crash left without their end */
  torn = 0;
  /** bytes that nodes had to drop */
  lost = 0;
  bytes = 0;
  #blocks: Buffer[] = [];
  #block = Buffer.alloc(0);
  #at = 0;

  extend(stream: string, from: number, to: number) {
    const range = this.ranges.get(stream);
    if (range) range.to = to;
    else this.ranges.set(stream, { from, to });
  }

  /** Takes the whole lines of `raw`: each from its mark to the newline before the next mark. */
  add(raw: Buffer, origin: Origin) {
    const prefix = Buffer.from(`${origin.nodeID}\t${origin.skewMs}\t${origin.receivedAt.toFixed(3)}\t`, 'latin1');
    let start = raw.indexOf(lineMark);
    if (start !== 0 && raw.length > 0) this.torn++;
    while (start >= 0) {
      const next = raw.indexOf(lineMark, start + 1);
      const end = next < 0 ? raw.length : next;
      if (raw[end - 1] === newline) {
        const length = prefix.length + end - start - 1;
        if (this.#at + length > this.#block.length) this.#grow(length);
        prefix.copy(this.#block, this.#at);
        raw.copy(this.#block, this.#at + prefix.length, start + 1, end);
        this.#at += length;
        this.bytes += length;
        this.lines++;
      } else this.torn++;
      start = next;
    }
  }

  #grow(least: number) {
    if (this.#at > 0) this.#blocks.push(this.#block.subarray(0, this.#at));
    this.#block = Buffer.allocUnsafe(Math.max(blockBytes, least));
    this.#at = 0;
  }

  body(): readonly Buffer[] {
    return this.#at > 0 ? [...this.#blocks, this.#block.subarray(0, this.#at)] : this.#blocks;
  }

  get isEmpty() {
    return this.ranges.size === 0;
  }
}
