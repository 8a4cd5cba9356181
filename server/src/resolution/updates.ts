/** Changes of a zone as an update has them (RFC 2136, 2.5). */
import * as dns from '../domain/dns/message.ts';

/** A message has 64 kB; a name with its target takes about 150 bytes of it, when both are long 600. */
const bytesOfUpdate = 50_000;

export type Change = dns.ResourceRecord;
export const add = (name: string, type: number, seconds: number, data: Buffer): Change => ({
  name,
  type,
  class: dns.classes.IN,
  ttl: seconds,
  data,
});
/** The whole set. */
export const drop = (name: string, type: number): Change => ({
  name,
  type,
  class: dns.classes.ANY,
  ttl: 0,
  data: Buffer.alloc(0),
});

/** What has to be so before (RFC 2136, 2.4.2 and 2.4.3): a set has this record, among others that are named; it is not there. */
export const has = (name: string, type: number, data: Buffer): Change => ({ name, type, class: dns.classes.IN, ttl: 0, data });
export const hasNone = (name: string, type: number): Change => ({
  name,
  type,
  class: dns.classes.NONE,
  ttl: 0,
  data: Buffer.alloc(0),
});

/** As many of them together as a message has room for; one name's stay together. */
export function* parts(changes: readonly (readonly Change[])[]): Generator<Change[]> {
  for (const part of together(changes, some => some)) yield part.flat();
}
/** The same, of what changes are made of. */
export function* together<T>(all: readonly T[], changesOf: (one: T) => readonly Change[]): Generator<T[]> {
  let part: T[] = [];
  let bytes = 0;
  for (const one of all) {
    const size = changesOf(one).reduce((sum, { name, data }) => sum + name.length + data.length + 14, 0);
    if (part.length && bytes + size > bytesOfUpdate) {
      yield part;
      [part, bytes] = [[], 0];
    }
    part.push(one);
    bytes += size;
  }
  if (part.length) yield part;
}
