/**
 * Reads MMDB files (MaxMind DB 2.0, maxmind.github.io/MaxMind-DB). A file may be anybody's: whatever stands in it, reading ends, with an
 * answer or with `BadMmdb`. A tree has no loops, for an address has so many bits; of values so many are read, so deep.
 */
import { Buffer } from 'node:buffer';

export class BadMmdb extends Error {
  override name = 'BadMmdb';
}

export type Value = string | number | bigint | boolean | null | Value[] | { [key: string]: Value };
export type ValueMap = { [key: string]: Value };
export const isMap = (value: Value | undefined): value is ValueMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const mapAt = (value: Value | undefined, key: string): Value | undefined =>
  isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined;

const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
const metadataBytesMost = 131_072;
const separatorBytes = 16;
const depthMost = 8;
const valuesMost = 1000;
/** What begins at a pointer of each length (control byte, bits 3 and 4). */
const pointerBase = [0, 2048, 526_336, 0] as const;

export interface Network {
  family: 4 | 6;
  from: bigint;
  prefix: number;
  /** where its data stands; the same number: the same data */
  at: number;
}

export class Mmdb {
  readonly type: string;
  /** milliseconds since 1970 */
  readonly builtAt: number;
  readonly #bytes: Buffer;
  readonly #nodeCount: number;
  readonly #nodeBytes: number;
  readonly #isV6: boolean;
  readonly #data: number;
  /** where metadata begin */
  readonly #end: number;
  /** where addresses of IPv4 begin: a node, or what stands there instead */
  readonly #v4: number;

  /** @throws BadMmdb */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    const found = bytes.lastIndexOf(marker);
    if (found < 0 || bytes.length - found > metadataBytesMost) throw new BadMmdb('it has no metadata of an MMDB');
    const metadata = new Decoder(bytes, found + marker.length, bytes.length).read(0);
    const number = (name: string): number => {
      const value = mapAt(metadata, name);
      return typeof value === 'number' ? value : Number(typeof value === 'bigint' ? value : NaN);
    };
    const recordSize = number('record_size');
    const version = number('ip_version');
    this.#nodeCount = number('node_count');
    if (number('binary_format_major_version') !== 2 || ![24, 28, 32].includes(recordSize) || (version !== 4 && version !== 6))
      throw new BadMmdb('it is no MMDB of version 2');
    this.#isV6 = version === 6;
    this.#nodeBytes = recordSize / 4;
    this.#data = this.#nodeCount * this.#nodeBytes + separatorBytes;
    this.#end = found;
    if (!Number.isSafeInteger(this.#nodeCount) || this.#nodeCount < 1 || this.#data > found)
      throw new BadMmdb('its tree is longer than the file');
    const type = mapAt(metadata, 'database_type');
    this.type = typeof type === 'string' ? type.replace(/[^\x20-\x7e]/g, '').slice(0, 64) : '';
    const epoch = number('build_epoch');
    this.builtAt = epoch > 0 && epoch < 253_402_300_800 ? epoch * 1000 : 0;
    let at = 0;
    for (let bit = 0; this.#isV6 && bit < 96 && at < this.#nodeCount; bit++) at = this.#child(at, 0);
    this.#v4 = at;
  }

  #child(node: number, side: 0 | 1): number {
    const bytes = this.#bytes;
    const at = node * this.#nodeBytes;
    switch (this.#nodeBytes) {
      case 6:
        return bytes.readUIntBE(at + side * 3, 3);
      case 7:
        return side
          ? ((bytes[at + 3]! & 0x0f) << 24) | bytes.readUIntBE(at + 4, 3)
          : ((bytes[at + 3]! & 0xf0) << 20) | bytes.readUIntBE(at, 3);
      default:
        return bytes.readUInt32BE(at + side * 4);
    }
  }

  /** What is said of an address; undefined: nothing. @throws BadMmdb */
  get({ family, value }: { family: 4 | 6; value: bigint }): Value | undefined {
    const bits = family === 4 ? 32 : 128;
    if (family === 6 && !this.#isV6) return undefined;
    let at = family === 4 ? this.#v4 : 0;
    for (let bit = bits - 1; bit >= 0 && at < this.#nodeCount; bit--)
      at = this.#child(at, Number((value >> BigInt(bit)) & 1n) as 0 | 1);
    return at > this.#nodeCount ? this.read(at) : undefined;
  }

  /** What stands at a network's `at`. @throws BadMmdb */
  read(at: number): Value {
    return new Decoder(this.#bytes, this.#data, this.#end).read(at - this.#nodeCount - separatorBytes);
  }

  /**
   * All networks of which something is said, in their order, IPv4 first. Where a tree of IPv6 leads to that of IPv4 once more
   * (::ffff:0:0/96, 2002::/16), that is left out. @throws BadMmdb
   */
  *networks(): Generator<Network> {
    let visits = 0;
    const walk = function* (this: Mmdb, family: 4 | 6, root: number): Generator<Network> {
      const bits = family === 4 ? 32 : 128;
      // what is on the right waits
      const waiting: { at: number; from: bigint; depth: number }[] = [{ at: root, from: 0n, depth: 0 }];
      for (let one = waiting.pop(); one; one = waiting.pop()) {
        // each node once: in one that stands in many places more networks would lie than there are atoms
        if (++visits > 2 * this.#nodeCount + 2) throw new BadMmdb('its tree grows together again');
        const { at, from, depth } = one;
        if (at > this.#nodeCount) yield { family, from, prefix: depth, at };
        if (at >= this.#nodeCount || (family === 6 && at === this.#v4)) continue;
        if (depth === bits) throw new BadMmdb('its tree is deeper than an address is long');
        const half = 1n << BigInt(bits - depth - 1);
        waiting.push({ at: this.#child(at, 1), from: from + half, depth: depth + 1 });
        waiting.push({ at: this.#child(at, 0), from, depth: depth + 1 });
      }
    }.bind(this);
    yield* walk(4, this.#v4);
    if (this.#isV6) yield* walk(6, 0);
  }
}

/** One value with what is in it. */
class Decoder {
  readonly #bytes: Buffer;
  readonly #base: number;
  readonly #end: number;
  #values = 0;
  #at = 0;

  constructor(bytes: Buffer, base: number, end: number) {
    this.#bytes = bytes;
    this.#base = base;
    this.#end = end;
  }

  read(offset: number): Value {
    this.#at = this.#base + offset;
    return this.#value(0, false);
  }

  /** The place of so many bytes, which are passed. */
  #take(count: number): number {
    const at = this.#at;
    if (!(at >= this.#base) || at + count > this.#end) throw new BadMmdb('a value lies outside of its data');
    this.#at += count;
    return at;
  }
  #number(count: number): number {
    return count === 0 ? 0 : this.#bytes.readUIntBE(this.#take(count), count);
  }

  #value(depth: number, isPointed: boolean): Value {
    if (depth > depthMost || ++this.#values > valuesMost) throw new BadMmdb('a value has too much in it');
    const control = this.#number(1);
    let type = control >> 5;
    if (type === 1) {
      const length = (control >> 3) & 3;
      const value = (length === 3 ? 0 : (control & 7) * 256 ** (length + 1)) + this.#number(length + 1) + pointerBase[length]!;
      // the format forbids a pointer to a pointer, which could go on for ever
      if (isPointed) throw new BadMmdb('a pointer leads to a pointer');
      const back = this.#at;
      this.#at = this.#base + value;
      const found = this.#value(depth, true);
      this.#at = back;
      return found;
    }
    if (type === 0) type = this.#number(1) + 7;
    let size = control & 31;
    if (size === 29) size = 29 + this.#number(1);
    else if (size === 30) size = 285 + this.#number(2);
    else if (size === 31) size = 65_821 + this.#number(3);
    switch (type) {
      case 2: {
        const at = this.#take(size);
        return this.#bytes.toString('utf8', at, at + Math.min(size, 1024));
      }
      case 3:
        if (size !== 8) break;
        return this.#bytes.readDoubleBE(this.#take(8));
      case 15:
        if (size !== 4) break;
        return this.#bytes.readFloatBE(this.#take(4));
      case 4:
        this.#take(size);
        return null;
      case 5:
      case 6:
        if (size > 4) break;
        return this.#number(size);
      case 8:
        if (size > 4) break;
        return size === 4 ? this.#bytes.readInt32BE(this.#take(4)) : this.#number(size);
      case 9:
      case 10: {
        if (size > 16) break;
        const at = this.#take(size);
        return BigInt(`0x0${this.#bytes.toString('hex', at, at + size)}`);
      }
      case 14:
        if (size > 1) break;
        return size === 1;
      case 7: {
        // no prototype: a key may be called __proto__
        const map = Object.create(null) as ValueMap;
        for (let n = 0; n < size; n++) {
          const key = this.#value(depth + 1, false);
          if (typeof key !== 'string') throw new BadMmdb('a key is no text');
          map[key] = this.#value(depth + 1, false);
        }
        return map;
      }
      case 11: {
        const list: Value[] = [];
        for (let n = 0; n < size; n++) list.push(this.#value(depth + 1, false));
        return list;
      }
    }
    throw new BadMmdb('a value is of no known type');
  }
}
