/**
 * Messages of DNS (RFC 1035) as far as updates need them (RFC 2136), and their signatures (TSIG, RFC 8945). No I/O.
 *
 * Own code: dns-packet 5.6.1 knows neither the class NONE, by which an update takes away one record and leaves its neighbours, nor TSIG.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { tsigAlgorithms } from '#contract/limits.ts';
import { formatIP, parseIP } from '#contract/rules/address.ts';

export const types = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  TXT: 16,
  AAAA: 28,
  OPT: 41,
  DS: 43,
  DNSKEY: 48,
  CDS: 59,
  TSIG: 250,
  AXFR: 252,
  ANY: 255,
} as const;
export const classes = { IN: 1, NONE: 254, ANY: 255 } as const;
export const opcodes = { query: 0, update: 5 } as const;
export const rcodes: Readonly<Record<number, string>> = {
  1: 'FORMERR',
  2: 'SERVFAIL',
  3: 'NXDOMAIN',
  4: 'NOTIMP',
  5: 'REFUSED',
  6: 'YXDOMAIN',
  7: 'YXRRSET',
  8: 'NXRRSET',
  9: 'NOTAUTH',
  10: 'NOTZONE',
  16: 'BADSIG',
  17: 'BADKEY',
  18: 'BADTIME',
  22: 'BADTRUNC',
};

export interface ResourceRecord {
  name: string;
  type: number;
  class: number;
  ttl: number;
  data: Buffer;
  /** CNAME, of an answer: where it leads; its data may point elsewhere in the message */
  target?: string;
}
export interface Message {
  id: number;
  rcode: number;
  /** there is more of it over TCP */
  isCut: boolean;
  /** what it says that it was asked; undefined: nothing */
  question?: { name: string; type: number } | undefined;
  answers: ResourceRecord[];
  authorities: ResourceRecord[];
  /** of its signature: where it begins; undefined: there is none */
  signature: { at: number; record: ResourceRecord } | undefined;
}
export interface Key {
  name: string;
  algorithm: (typeof tsigAlgorithms)[number];
  secret: Buffer;
}

export class BadMessage extends Error {
  override name = 'BadMessage';
}

const u16 = (...values: number[]) => {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [i, value] of values.entries()) bytes.writeUInt16BE(value, i * 2);
  return bytes;
};
const u32 = (value: number) => u16(Math.floor(value / 65_536) % 65_536, value % 65_536);
const sized = (bytes: Buffer) => Buffer.concat([u16(bytes.length), bytes]);

/** In lower case: the form that is signed is the one that is sent. @throws BadMessage */
export function nameBytes(name: string): Buffer {
  const labels = name.toLowerCase().replace(/\.$/, '').split('.');
  if (name === '' || name === '.') return Buffer.from([0]);
  const bytes = labels.map(label => Buffer.from(label, 'latin1'));
  if (bytes.some(({ length }) => length < 1 || length > 63)) throw new BadMessage(`${name} is no name`);
  const whole = Buffer.concat([...bytes.flatMap(label => [Buffer.from([label.length]), label]), Buffer.from([0])]);
  if (whole.length > 255) throw new BadMessage(`${name} is too long for a name`);
  return whole;
}

/** Text of at most 255 bytes a piece. */
export function textData(value: string): Buffer {
  const bytes = Buffer.from(value, 'utf8');
  const parts: Buffer[] = [];
  for (let at = 0; at === 0 || at < bytes.length; at += 255) {
    const part = bytes.subarray(at, at + 255);
    parts.push(Buffer.from([part.length]), part);
  }
  return Buffer.concat(parts);
}

/** What stands in a record A or AAAA. @throws BadMessage */
export function addressData(text: string): Buffer {
  const address = parseIP(text);
  if (!address) throw new BadMessage(`${text} is no address`);
  const digits = address.family === 4 ? 8 : 32;
  return Buffer.from(address.value.toString(16).padStart(digits, '0'), 'hex');
}
/** What stands there, as text. @throws BadMessage */
export function addressOf(data: Buffer): string {
  if (data.length !== 4 && data.length !== 16) throw new BadMessage('an address in the answer is none');
  return formatIP({ family: data.length === 4 ? 4 : 6, value: BigInt(`0x${data.toString('hex')}`) });
}
/** The texts of a record TXT, one after the other. */
export function textOf(data: Buffer): string {
  const parts: Buffer[] = [];
  for (let at = 0; at < data.length; at += 1 + data[at]!) parts.push(data.subarray(at + 1, at + 1 + data[at]!));
  return Buffer.concat(parts).toString('utf8');
}

/** Client subnet (RFC 7871): what a resolver tells of the visitor it asks for; bits behind the prefix are 0. */
export interface Subnet {
  address: string;
  prefix: number;
}
function subnetOption({ address, prefix }: Subnet): Buffer {
  const whole = addressData(address);
  const part = Buffer.from(whole.subarray(0, Math.ceil(prefix / 8)));
  if (prefix % 8) part[part.length - 1]! &= 0xff << (8 - (prefix % 8));
  const data = Buffer.concat([u16(whole.length === 4 ? 1 : 2), Buffer.from([prefix, 0]), part]);
  return Buffer.concat([u16(8), sized(data)]);
}
/** A question as a resolver asks it: EDNS(0), with the visitor's network where it is known; `isRecursive`: as one asks a resolver. */
export const query = (id: number, name: string, type: number, subnet?: Subnet, isRecursive = false): Buffer =>
  Buffer.concat([
    u16(id, (opcodes.query << 11) | (isRecursive ? 0x100 : 0), 1, 0, 0, 1),
    question(name, type),
    Buffer.from([0]),
    u16(types.OPT, udpBytes, 0, 0),
    sized(subnet ? subnetOption(subnet) : Buffer.alloc(0)),
  ]);
/** More than this may be lost on its way (DNS flag day 2020). */
export const udpBytes = 1232;

const question = (name: string, type: number) => Buffer.concat([nameBytes(name), u16(type, classes.IN)]);
const recordBytes = ({ name, type, class: kind, ttl, data }: ResourceRecord) =>
  Buffer.concat([nameBytes(name), u16(type, kind), u32(ttl), sized(data)]);

export const bareQuery = (id: number, name: string, type: number): Buffer =>
  Buffer.concat([u16(id, opcodes.query << 11, 1, 0, 0, 0), question(name, type)]);
/** The zone's own record, or who is asked instead says which zone a name lies in. */
export const soaQuery = (id: number, name: string): Buffer => bareQuery(id, name, types.SOA);
/** `needs`: what has to be so before, or nothing is changed (RFC 2136, 2.4). */
export const update = (
  id: number,
  zone: string,
  changes: readonly ResourceRecord[],
  needs: readonly ResourceRecord[] = [],
): Buffer =>
  Buffer.concat([
    u16(id, opcodes.update << 11, 1, needs.length, changes.length, 0),
    question(zone, types.SOA),
    ...[...needs, ...changes].map(recordBytes),
  ]);

const hashOf = { hmacSHA256: 'sha256', hmacSHA384: 'sha384', hmacSHA512: 'sha512', hmacSHA1: 'sha1' } as const;
const algorithmName = (algorithm: Key['algorithm']) => `hmac-${hashOf[algorithm]}`;
const fudgeSeconds = 300;
const time = (seconds: number) => Buffer.concat([u16(Math.floor(seconds / 2 ** 32)), u32(seconds % 2 ** 32)]);

/** What a signature is over, beside the message. */
function variables(key: Key, seconds: number, fudge: number, error: number, other: Buffer): Buffer {
  return Buffer.concat([
    nameBytes(key.name),
    u16(classes.ANY, 0, 0),
    nameBytes(algorithmName(key.algorithm)),
    u16(Math.floor(seconds / 2 ** 32)),
    u32(seconds % 2 ** 32),
    u16(fudge, error),
    sized(other),
  ]);
}
const macOf = (key: Key, parts: Buffer[]) => createHmac(hashOf[key.algorithm], key.secret).update(Buffer.concat(parts)).digest();

/** The message with its signature. @param now milliseconds since 1970 */
export function signed(message: Buffer, key: Key, now: number): { bytes: Buffer; mac: Buffer } {
  const seconds = Math.floor(now / 1000);
  const mac = macOf(key, [message, variables(key, seconds, fudgeSeconds, 0, Buffer.alloc(0))]);
  const data = Buffer.concat([
    nameBytes(algorithmName(key.algorithm)),
    u16(Math.floor(seconds / 2 ** 32)),
    u32(seconds % 2 ** 32),
    u16(fudgeSeconds),
    sized(mac),
    u16(message.readUInt16BE(0), 0, 0),
  ]);
  const whole = Buffer.concat([message, recordBytes({ name: key.name, type: types.TSIG, class: classes.ANY, ttl: 0, data })]);
  // one record more among the additional ones
  whole.writeUInt16BE(whole.readUInt16BE(10) + 1, 10);
  return { bytes: whole, mac };
}

/** What the signature of an answer says. `error`: of RFC 8945 5.4, 0: none; `serverSeconds` comes with BADTIME. */
export interface Verdict {
  isGood: boolean;
  error: number;
  serverSeconds: number | undefined;
  /** of its signature; undefined: it has none */
  mac: Buffer | undefined;
}
/**
 * Whether an answer to what was signed with `requestMac` comes from who knows the key. `between`: of a further message of an answer in many
 * (RFC 8945, 5.3.1), `requestMac` is the last signature's, and these came since without one.
 */
export function verified(
  bytes: Buffer,
  message: Message,
  key: Key,
  requestMac: Buffer,
  now: number,
  between?: readonly Buffer[],
): Verdict {
  const none = { isGood: false, error: 0, serverSeconds: undefined, mac: undefined };
  if (!message.signature) return none;
  const { at, record } = message.signature;
  const reader = new Reader(record.data);
  const algorithm = reader.name();
  const seconds = reader.u16() * 2 ** 32 + reader.u32();
  const fudge = reader.u16();
  const mac = reader.bytes(reader.u16());
  const originalID = reader.u16();
  const error = reader.u16();
  const other = reader.bytes(reader.u16());
  const serverSeconds = error === 18 && other.length === 6 ? other.readUIntBE(0, 6) : undefined;
  if (record.name !== key.name.toLowerCase().replace(/\.$/, '') || algorithm !== algorithmName(key.algorithm))
    return { ...none, error, serverSeconds, mac };
  const bare = Buffer.from(bytes.subarray(0, at));
  bare.writeUInt16BE(originalID, 0);
  bare.writeUInt16BE(bare.readUInt16BE(10) - 1, 10);
  const said = between ? Buffer.concat([time(seconds), u16(fudge)]) : variables(key, seconds, fudge, error, other);
  const wanted = macOf(key, [sized(requestMac), ...(between ?? []), bare, said]);
  const isOurs = mac.length === wanted.length && timingSafeEqual(mac, wanted);
  const isNow = error === 18 || Math.abs(now / 1000 - seconds) <= fudge + fudgeSeconds;
  return { isGood: isOurs && isNow, error, serverSeconds, mac };
}

const hopsMax = 126;
/** Reads from its place on. @throws BadMessage where the bytes end, or a name goes on for ever */
class Reader {
  readonly #bytes: Buffer;
  /** what stands where pointers lead is read once: thousands that lead to a name of a hundred labels would hold everybody up */
  readonly #names = new Map<number, string>();
  at: number;
  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }
  bytes(length: number): Buffer {
    if (this.at + length > this.#bytes.length) throw new BadMessage('the answer ends in its midst');
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }
  u8 = () => this.bytes(1)[0]!;
  u16 = () => this.bytes(2).readUInt16BE(0);
  u32 = () => this.bytes(4).readUInt32BE(0);
  name(): string {
    const labels: string[] = [];
    /** each place with where in the name it is */
    const places: [at: number, from: number][] = [];
    let after: number | undefined;
    let tail = '';
    for (let size = 0, hops = 0; ;) {
      const known = after === undefined ? undefined : this.#names.get(this.at);
      if (known !== undefined) {
        if (known !== '' && size + known.length + 1 > 254) throw new BadMessage('a name in the answer is too long');
        tail = known;
        break;
      }
      places.push([this.at, size]);
      const length = this.u8();
      if (length >= 0xc0) {
        const to = ((length & 0x3f) << 8) | this.u8();
        after ??= this.at;
        // backwards alone, so it comes to an end; soon, as no name has more labels
        if (to >= this.at - 2 || ++hops > hopsMax) throw new BadMessage('a name in the answer leads nowhere');
        this.at = to;
        continue;
      }
      if (length > 63) throw new BadMessage('a name in the answer is none');
      if (length === 0) break;
      size += length + 1;
      if (size > 254) throw new BadMessage('a name in the answer is too long');
      labels.push(this.bytes(length).toString('latin1').toLowerCase());
    }
    if (after !== undefined) this.at = after;
    if (tail !== '') labels.push(tail);
    const name = labels.join('.');
    for (const [at, from] of places) this.#names.set(at, name.slice(from));
    return name;
  }
}

const recordsMax = 500;
/** @throws BadMessage */
export function read(bytes: Buffer, most = recordsMax): Message {
  const reader = new Reader(bytes);
  const id = reader.u16();
  const flags = reader.u16();
  const [questions, answers, authorities, additionals] = [reader.u16(), reader.u16(), reader.u16(), reader.u16()];
  if (!(flags & 0x8000)) throw new BadMessage('that is no answer');
  if (questions > 1 || answers + authorities + additionals > most) throw new BadMessage('the answer has too many records');
  let question: Message['question'];
  for (let i = 0; i < questions; i++) {
    question = { name: reader.name(), type: reader.u16() };
    reader.bytes(2);
  }
  const record = (): ResourceRecord & { at: number } => {
    const { at } = reader;
    const name = reader.name();
    const [type, kind, ttl] = [reader.u16(), reader.u16(), reader.u32()];
    const length = reader.u16();
    const start = reader.at;
    const target = type === types.CNAME && length > 0 ? reader.name() : undefined;
    reader.at = start;
    return { at, name, type, class: kind, ttl, data: reader.bytes(length), ...(target === undefined ? {} : { target }) };
  };
  const list = (count: number) => Array.from({ length: count }, record);
  const found = { answers: list(answers), authorities: list(authorities) };
  const last = list(additionals).at(-1);
  return {
    id,
    rcode: flags & 15,
    isCut: (flags & 0x200) !== 0,
    question,
    ...found,
    signature: last?.type === types.TSIG ? { at: last.at, record: last } : undefined,
  };
}
