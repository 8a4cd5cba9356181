/** A whole zone, as its name server hands it out (AXFR, RFC 5936): many messages over one connection, signed as RFC 8945, 5.3.1 has it. */
import type { Socket } from 'node:net';
import { OutboundError } from '../../kit/outbound.ts';
import { DnsProblem, problemOf } from './driver.ts';
import * as dns from './message.ts';

/** of everything together */
const transferMs = 60_000;
/** A zone of 100,000 names takes about 10 MB, four times as much where it is signed. */
const bytesMost = 64 * 2 ** 20;
/** of one message */
const recordsMost = 65_535;
/** A name of few bytes on the way may take hundreds here, and whoever sends it may mean us harm: that many are kept, and no others. */
const keptMost = 500_000;
/** So many messages in a row may come without a signature. */
const unsignedMost = 99;

export interface Asked {
  zone: string;
  id: number;
  key: dns.Key;
  /** as it is called in what is said of it */
  host: string;
}

/** What `keep` makes of each record. @throws DnsProblem, OutboundError: nothing of it is believed */
export async function transferred<T>(
  socket: Socket,
  { zone, id, key, host }: Asked,
  keep: (record: dns.ResourceRecord) => T | undefined,
): Promise<T[]> {
  const { bytes, mac } = dns.signed(dns.bareQuery(id, zone, dns.types.AXFR), key, Date.now());
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  socket.write(Buffer.concat([length, bytes]));
  const kept: T[] = [];
  let count = 0;
  let last = mac;
  let isFirst = true;
  let unsigned: Buffer[] = [];
  const notSigned = { code: 'transferUnsigned', bounds: { host, zone, key: key.name } } as const;
  try {
    for await (const message of messages(socket, host)) {
      const read = dns.read(message, recordsMost);
      if (read.id !== id) throw problemOf('refused', { code: 'otherAnswer', bounds: { host } });
      const verdict = dns.verified(message, read, key, last, Date.now(), isFirst ? undefined : unsigned);
      if (read.rcode !== 0 || verdict.error !== 0) {
        const rcode = dns.rcodes[verdict.error || read.rcode] ?? read.rcode;
        throw problemOf('refused', { code: 'transferRefused', bounds: { host, key: key.name, zone, rcode } });
      }
      // only what comes behind the first may be without
      if (read.signature ? !verdict.isGood : isFirst || unsigned.length >= unsignedMost)
        throw problemOf('credentials', notSigned);
      if (read.signature) [last, unsigned] = [verdict.mac!, []];
      else unsigned.push(message);
      isFirst = false;
      const { answers } = read;
      if (count === 0 && answers[0]?.type !== dns.types.SOA)
        throw problemOf('refused', { code: 'transferOther', bounds: { host, zone } });
      count += answers.length;
      for (const one of answers) {
        const value = keep(one);
        if (value !== undefined) kept.push(value);
      }
      if (kept.length > keptMost) throw new OutboundError('tooLarge', `${host} transfers more than ${keptMost} records`);
      // it ends as it began
      if (count > 1 && answers.at(-1)?.type === dns.types.SOA) {
        if (unsigned.length) throw problemOf('credentials', notSigned);
        return kept;
      }
    }
  } catch (error) {
    if (error instanceof dns.BadMessage) throw problemOf('refused', { code: 'unreadable', bounds: { host, why: error.message } });
    throw error;
  }
  throw problemOf('away', { code: 'transferCut', bounds: { host, zone } });
}

/** Whoever trickles has no more time than who is silent. */
async function* messages(socket: Socket, host: string): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  let all = 0;
  const late = setTimeout(() => socket.destroy(new Error('it takes too long')), transferMs);
  try {
    // a socket without an encoding gives bytes
    for await (const part of socket as AsyncIterable<Buffer>) {
      all += part.length;
      if (all > bytesMost) throw new OutboundError('tooLarge', `${host} transfers more than ${bytesMost / 2 ** 20} MB`);
      rest = Buffer.concat([rest, part]);
      let at = 0;
      while (at + 2 <= rest.length && at + 2 + rest.readUInt16BE(at) <= rest.length) {
        const end = at + 2 + rest.readUInt16BE(at);
        yield rest.subarray(at + 2, end);
        at = end;
      }
      rest = rest.subarray(at);
    }
  } catch (error) {
    if (error instanceof DnsProblem || error instanceof OutboundError || error instanceof dns.BadMessage) throw error;
    // whatever else is thrown by a socket is an error
    throw new OutboundError('connection', `${host}: ${(error as Error).message}`);
  } finally {
    clearTimeout(late);
  }
}
