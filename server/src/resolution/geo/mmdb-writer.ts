/** Writes an MMDB file (MaxMind DB 2.0): a tree of both families, in which IPv4 lies at ::/96, and what it leads to. */
import { Buffer } from 'node:buffer';
import { geoLimits } from '#contract/limits.ts';
import type { Cuts } from './cuts.ts';
import { BadMmdb, type Value } from './mmdb.ts';

const recordSize = 32;

/** What is said, each thing once: whatever says it again points there. */
class Data {
  // in one piece: what is small is cut out of a block that stays as long as any of it does
  #all = Buffer.alloc(1 << 20);
  readonly #known = new Map<string, number>();
  length = 0;

  /** Where it stands. */
  put(value: Value): number {
    const bytes = this.#encoded(value);
    const key = bytes.toString('latin1');
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const at = this.length;
    while (at + bytes.length > this.#all.length) this.#all = Buffer.concat([this.#all, Buffer.alloc(this.#all.length)]);
    bytes.copy(this.#all, at);
    this.#known.set(key, at);
    this.length += bytes.length;
    return at;
  }
  get bytes(): Buffer {
    return this.#all.subarray(0, this.length);
  }
  #encoded(value: Value): Buffer {
    if (typeof value !== 'object' || value === null) return scalar(value);
    if (Array.isArray(value)) return Buffer.concat([head(11, value.length), ...value.map(one => this.#in(one))]);
    const entries = Object.entries(value);
    return Buffer.concat([head(7, entries.length), ...entries.flatMap(([key, one]) => [this.#in(key), this.#in(one)])]);
  }
  /** Itself where it is short, else a pointer to it. */
  #in(value: Value): Buffer {
    if (typeof value === 'number') return scalar(value);
    const bytes = this.#encoded(value);
    return bytes.length < 4 ? bytes : pointer(this.put(value));
  }
}
function pointer(at: number): Buffer {
  if (at < 2048) return Buffer.from([0x20 | (at >> 8), at & 255]);
  if (at < 526_336) return Buffer.from([0x28 | ((at - 2048) >> 16), ((at - 2048) >> 8) & 255, (at - 2048) & 255]);
  const rest = at - 526_336;
  return Buffer.from([0x30 | (rest >> 24), (rest >> 16) & 255, (rest >> 8) & 255, rest & 255]);
}
function scalar(value: Value): Buffer {
  if (typeof value === 'string') return sized(2, Buffer.from(value));
  if (typeof value === 'bigint') return Buffer.concat([head(9, 8), bytesOf(value, 8)]);
  if (typeof value === 'number') {
    const bytes = value === 0 ? Buffer.alloc(0) : bytesOf(BigInt(value), Math.ceil(value.toString(16).length / 2));
    return Buffer.concat([head(6, bytes.length), bytes]);
  }
  throw new TypeError('neither text nor number');
}
/** Metadata that readers take as numbers of 16 bits alone (libmaxminddb is strict). */
const short = new Set(['record_size', 'ip_version', 'binary_format_major_version', 'binary_format_minor_version']);
/** A map on its own, without pointers: metadata. */
function plain(value: { [key: string]: Value }): Buffer {
  const entries = Object.entries(value);
  const one = (of: Value): Buffer => {
    if (Array.isArray(of)) return Buffer.concat([head(11, of.length), ...of.map(one)]);
    return typeof of === 'object' && of !== null ? plain(of) : scalar(of);
  };
  const said = (key: string, of: Value) => {
    const bytes = one(of);
    // the type stands in the first byte
    if (short.has(key)) bytes[0] = (5 << 5) | (bytes[0]! & 31);
    return bytes;
  };
  return Buffer.concat([head(7, entries.length), ...entries.flatMap(([key, of]) => [one(key), said(key, of)])]);
}
const sized = (type: number, bytes: Buffer) => Buffer.concat([head(type, bytes.length), bytes]);
const bytesOf = (value: bigint, count: number) => Buffer.from(value.toString(16).padStart(count * 2, '0'), 'hex');
function head(type: number, size: number): Buffer {
  const more = size < 29 ? [] : size < 285 ? [size - 29] : [(size - 285) >> 8, (size - 285) & 255];
  const bits = size < 29 ? size : size < 285 ? 29 : 30;
  return Buffer.from(type < 8 ? [(type << 5) | bits, ...more] : [bits, type - 7, ...more]);
}

/** Nodes as they are added. */
class Tree {
  #records = new Uint32Array(1 << 20);
  readonly #most: number;
  count = 0;
  constructor(most: number) {
    this.#most = most;
  }
  add(): number {
    if (this.count >= this.#most) throw new BadMmdb('it has too many networks');
    if (this.count * 2 + 2 > this.#records.length) {
      const more = new Uint32Array(this.#records.length * 2);
      more.set(this.#records);
      this.#records = more;
    }
    return this.count++;
  }
  set(node: number, side: 0 | 1, record: number): void {
    this.#records[node * 2 + side] = record;
  }
  bytes(nodes: number, offsets: readonly number[]): Buffer {
    const bytes = Buffer.alloc(nodes * 8);
    for (let n = 0; n < nodes * 2; n++) {
      const record = this.#records[n]!;
      bytes.writeUInt32BE(record & leaf ? nodes + 16 + offsets[record & ~leaf]! : record, n * 4);
    }
    return bytes;
  }
}
/** A record that leads to no node: what else it says is the number of a value. */
const leaf = 0x40000000;

/**
 * @param values what is said, by number; one that stands there twice is one
 * @param builtAt milliseconds since 1970
 * @throws BadMmdb when it has more nodes than it may
 */
export function mmdbOf({
  v4,
  v6,
  values,
  type,
  builtAt,
  nodesMost = geoLimits.writtenMax,
}: {
  v4: Cuts;
  v6: Cuts;
  values: Iterable<Value>;
  type: string;
  builtAt: number;
  nodesMost?: number;
}): Buffer {
  const tree = new Tree(nodesMost);
  const build = (
    { starts, values: said }: Cuts,
    bits: number,
    first: number,
    instead?: { depth: number; record: () => number },
  ): number => {
    let cut = 0;
    const within = (from: bigint, depth: number): number => {
      if (from === 0n && depth === instead?.depth) return instead.record();
      while (cut + 1 < starts.length && starts.at(cut + 1)! <= from) cut++;
      const size = 1n << BigInt(bits - depth);
      const isZero = from === 0n && instead !== undefined && depth < instead.depth;
      if (!isZero && (cut + 1 >= starts.length || starts.at(cut + 1)! >= from + size)) return leaf | said.at(cut)!;
      const node = tree.add();
      tree.set(node, 0, within(from, depth + 1));
      tree.set(node, 1, within(from + size / 2n, depth + 1));
      return node;
    };
    return within(0n, first);
  };
  build(v6, 128, 0, { depth: 96, record: () => build(v4, 32, 0) });
  const data = new Data();
  const offsets = Array.from(values, value => data.put(value));
  const metadata = plain({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: BigInt(Math.floor(builtAt / 1000)),
    database_type: type,
    description: { en: type },
    ip_version: 6,
    languages: ['en'],
    node_count: tree.count,
    record_size: recordSize,
  });
  return Buffer.concat([
    tree.bytes(tree.count, offsets),
    Buffer.alloc(16),
    data.bytes,
    Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'),
    metadata,
  ]);
}
