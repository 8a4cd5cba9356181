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

/** As many of them together as a message has room for; one name's stay together. */
export function* parts(changes: readonly (readonly Change[])[]): Generator<Change[]> {
  let part: Change[] = [];
  let bytes = 0;
  for (const some of changes) {
    const size = some.reduce((sum, { name, data }) => sum + name.length + data.length + 14, 0);
    if (part.length && bytes + size > bytesOfUpdate) {
      yield part;
      [part, bytes] = [[], 0];
    }
    part.push(...some);
    bytes += size;
  }
  if (part.length) yield part;
}
