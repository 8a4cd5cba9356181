/** A name server that takes updates (RFC 2136) signed with a key (TSIG), asked over TCP: what is answered is signed too. */
import { randomInt } from 'node:crypto';
import type { Socket } from 'node:net';
import { connectOut, OutboundError, type Reach } from '../../kit/outbound.ts';
import { type DnsDriver, DnsProblem, problemOf, recordSeconds, type Zone } from './driver.ts';
import * as dns from './message.ts';
import { type DnsSaid, saidText } from './said.ts';
import { transferred } from './transfer.ts';

const timeoutMs = 8000;
const bytesMax = 65_535;
/** Names of one question for zones. */
const together = 8;

export class UpdateRefused extends DnsProblem {
  readonly rcode: number;

  constructor(rcode: number, { trouble, message, said }: DnsProblem) {
    super(trouble, message, undefined, said);
    this.rcode = rcode;
  }
}
/** What it says of the key (RFC 8945, 3); Knot says so too of a name that an ACL keeps from the key. */
export class KeyRefused extends DnsProblem {
  readonly error: number;

  constructor(error: number, said: DnsSaid) {
    super('credentials', saidText(said, 'en_US'), undefined, said);
    this.error = error;
  }
}

/** `name`, `name:port`, `[address]:port` */
export function serverOf(server: string): { host: string; port: number } {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(server) ?? [];
  // an address of IPv6 without a port
  if (bracketed === undefined && plain === undefined) return { host: server, port: 53 };
  return { host: bracketed ?? plain!, port: Number(port ?? 53) };
}

export class Rfc2136 implements DnsDriver {
  readonly #server: { host: string; port: number };
  readonly #key: dns.Key;
  readonly #reach: Reach;

  constructor(server: string, key: dns.Key, reach: Reach) {
    this.#server = serverOf(server);
    this.#key = key;
    this.#reach = { timeoutMs, ...reach };
  }

  async zones(names: readonly string[]): Promise<Map<string, Zone>> {
    const found = new Map<string, Zone>();
    for (let from = 0; from < names.length; from += together)
      await Promise.all(
        names.slice(from, from + together).map(async name => {
          const zone = await this.#zoneOf(name, [...found.values()]);
          if (zone) found.set(name, zone);
        }),
      );
    return found;
  }

  /** Where the name has no record of the zone, the answer's authority does. */
  async #zoneOf(name: string, known: readonly Zone[]): Promise<Zone | undefined> {
    const { rcode, answers, authorities } = await this.#ask(id => dns.soaQuery(id, name));
    if (rcode === 5 || rcode === 9) return undefined;
    if (rcode !== 0 && rcode !== 3) throw this.#refusal(rcode);
    const owner = [...answers, ...authorities].find(one => one.type === dns.types.SOA)?.name;
    // of what lies elsewhere it may speak too, as a resolver does
    if (owner === undefined || !(name === owner || name.endsWith(`.${owner}`)) || owner === '') return undefined;
    return known.find(one => one.name === owner) ?? { name: owner, id: '' };
  }

  put(zone: Zone, name: string, value: string): Promise<void> {
    return this.#change(zone, { name, class: dns.classes.IN, ttl: recordSeconds, value });
  }
  take(zone: Zone, name: string, value: string): Promise<void> {
    return this.#change(zone, { name, class: dns.classes.NONE, ttl: 0, value });
  }

  async #change(zone: Zone, { value, ...record }: { name: string; class: number; ttl: number; value: string }): Promise<void> {
    const change = { ...record, type: dns.types.TXT, data: dns.textData(value) };
    await this.change(zone.name, [change]);
  }

  /**
   * Several changes of one zone: all of them, or none; also where something is not as `needs` say (RFC 2136, 2.4). @throws UpdateRefused,
   * DnsProblem, OutboundError
   */
  async change(zone: string, changes: readonly dns.ResourceRecord[], needs: readonly dns.ResourceRecord[] = []): Promise<void> {
    const { rcode } = await this.#ask(id => dns.update(id, zone, changes, needs));
    if (rcode !== 0) throw new UpdateRefused(rcode, this.#refusal(rcode));
  }

  /** A question, signed; what the name has not is an answer too. @throws DnsProblem, OutboundError */
  async query(name: string, type: number): Promise<dns.ResourceRecord[]> {
    const { rcode, answers } = await this.#ask(id => dns.bareQuery(id, name, type));
    if (rcode !== 0 && rcode !== 3) throw this.#refusal(rcode);
    return answers.filter(one => one.name === name && one.type === type);
  }

  /** What `keep` makes of everything that stands in a zone. @throws DnsProblem, OutboundError */
  async transfer<T>(zone: string, keep: (record: dns.ResourceRecord) => T | undefined): Promise<T[]> {
    const { host, port } = this.#server;
    const id = randomInt(65_536);
    const socket = await connectOut(host, port, this.#reach);
    try {
      return await transferred(socket, { zone, id, key: this.#key, host }, keep);
    } finally {
      socket.destroy();
    }
  }

  #refusal(rcode: number): DnsProblem {
    const { host } = this.#server;
    // RFC 2136 2.2 has it for a zone that is not there; Knot from 3.3 on says it without a word more of a key with another algorithm, too
    if (rcode === 9) return problemOf('refused', { code: 'notAuth', bounds: { host, key: this.#key.name } });
    return problemOf(rcode === 2 ? 'away' : 'refused', { code: 'answered', bounds: { host, rcode: dns.rcodes[rcode] ?? rcode } });
  }

  async #ask(question: (id: number) => Buffer): Promise<dns.Message> {
    const { host, port } = this.#server;
    const id = randomInt(65_536);
    try {
      // a name may be too long for a question
      const { bytes, mac } = dns.signed(question(id), this.#key, Date.now());
      const socket = await connectOut(host, port, this.#reach);
      let answer: Buffer;
      try {
        answer = await exchange(socket, bytes, host, this.#reach.timeoutMs ?? timeoutMs);
      } finally {
        socket.destroy();
      }
      const message = dns.read(answer);
      const verdict = dns.verified(answer, message, this.#key, mac, Date.now());
      const key = this.#key.name;
      if (verdict.error === 18) throw problemOf('credentials', clockSaid(host, verdict.serverSeconds));
      if (verdict.error !== 0)
        throw new KeyRefused(verdict.error, {
          code: 'keyRefused',
          bounds: { host, key, rcode: dns.rcodes[verdict.error] ?? verdict.error },
        });
      // what is refused without a signature is refused by whoever: that is believed
      if (!verdict.isGood && message.rcode === 0) throw problemOf('credentials', { code: 'unsigned', bounds: { host, key } });
      if (message.id !== id) throw problemOf('refused', { code: 'otherAnswer', bounds: { host } });
      return message;
    } catch (error) {
      if (error instanceof dns.BadMessage)
        throw problemOf('refused', { code: 'unreadable', bounds: { host, why: error.message } });
      throw error;
    }
  }
}

const clockSaid = (host: string, seconds: number | undefined): DnsSaid =>
  seconds === undefined
    ? { code: 'clockUnknown', bounds: { host } }
    : { code: 'clock', bounds: { host, seconds: Math.round(seconds - Date.now() / 1000) } };

/** One message there, one back, each with its length before it (RFC 7766); whoever trickles has no more time than who is silent. */
export async function exchange(socket: Socket, message: Buffer, host: string, ms: number): Promise<Buffer> {
  let late: NodeJS.Timeout | undefined;
  try {
    return await new Promise((done, failed) => {
      let got = Buffer.alloc(0);
      const fail = (error: Error) => failed(new OutboundError('connection', error.message));
      late = setTimeout(() => failed(new OutboundError('timeout', `${host} did not answer in time`)), ms);
      socket.on('error', fail);
      socket.on('close', () => fail(new Error(`${host} closed the connection`)));
      socket.on('data', part => {
        got = Buffer.concat([got, part]);
        const length = got.length < 2 ? bytesMax : got.readUInt16BE(0);
        if (got.length >= length + 2) done(got.subarray(2, length + 2));
      });
      const length = Buffer.alloc(2);
      length.writeUInt16BE(message.length);
      socket.write(Buffer.concat([length, message]));
    });
  } finally {
    clearTimeout(late);
  }
}
