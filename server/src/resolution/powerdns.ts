/** PowerDNS Authoritative by its HTTP API, version 1 (doc.powerdns.com/authoritative/http-api), from 4.7 on. */
import * as z from 'zod/mini';
import { outbound, type OutboundAnswer, type Reach } from '../kit/outbound.ts';
import { DnsProblem } from '../domain/dns/driver.ts';
import { jsonOf, readJson, retryAfter, strange, troubleOfStatus, userAgent, without } from '../domain/dns/http.ts';
import { recordTypes, valueOf as valueIn } from '../domain/dns/records.ts';
import { inHalves } from './apart.ts';
import type { RecordSet, RecordStore, StoredRecord, Unit } from './foreign.ts';

const timeoutMs = 20_000;
/** A zone of 100,000 names is about 20 MB of JSON; what is read of it takes ten times as much here, and whoever sends it may mean us harm. */
const bytesMax = 48 * 2 ** 20;
/** It cuts the connection when one change is much longer. */
const setsMost = 4000;
/** There is one server behind each API, and it is called so. */
const path = '/api/v1/servers/localhost/zones';

const Named = z.object({ name: z.string() });
const Sets = z.object({
  name: z.string(),
  rrsets: z.array(
    z.object({ name: z.string(), type: z.string(), records: z.array(z.object({ content: z.string(), disabled: z.boolean() })) }),
  ),
});
const Said = z.object({ error: z.string() });

/** It says no to something of a change, and did nothing of it. */
class Unprocessable extends DnsProblem {}

export class PowerDns implements RecordStore {
  readonly #base: string;
  readonly #key: string;
  readonly #reach: Reach;

  constructor(server: string, key: string, reach: Reach) {
    this.#base = server.endsWith('/') ? server.slice(0, -1) : server;
    this.#key = key;
    this.#reach = reach;
  }

  async has(zone: string): Promise<boolean> {
    const answer = await this.#ask('GET', `/${zone}.?rrsets=false`, undefined, [404]);
    if (answer.status === 404) return false;
    return this.#isOf(zone, readJson('PowerDNS', Named, answer));
  }

  async records(zone: string): Promise<StoredRecord[]> {
    return this.#read(zone, '');
  }

  async replace(zone: string, units: readonly Unit[]): Promise<void> {
    await inHalves(
      units,
      some => this.#change(zone, some.flat()),
      error => error instanceof Unprocessable,
    );
  }
  async #change(zone: string, sets: readonly RecordSet[]): Promise<void> {
    for (let from = 0; from < sets.length; from += setsMost) {
      const rrsets = sets.slice(from, from + setsMost).map(({ name, type, ttl, values }) => ({
        name: `${name}.`,
        type,
        ttl,
        changetype: values.length ? 'REPLACE' : 'DELETE',
        records: values.map(value => ({ content: contentOf(type, value), disabled: false })),
      }));
      await this.#ask('PATCH', `/${zone}.`, { rrsets });
    }
  }

  async texts(zone: string, name: string): Promise<string[]> {
    const found = await this.#read(zone, `?rrset_name=${encodeURIComponent(name)}.&rrset_type=TXT`);
    // earlier releases do not know these parameters and answer everything
    return found.filter(one => one.name === name && one.type === 'TXT').map(one => one.value);
  }

  /** @throws DnsProblem where it speaks of another zone */
  #isOf(zone: string, { name }: { name: string }): true {
    if (bare(name) !== zone) throw new DnsProblem('away', `PowerDNS was asked for ${zone} and answered ${bare(name)}`);
    return true;
  }

  async #read(zone: string, query: string): Promise<StoredRecord[]> {
    const said = readJson('PowerDNS', Sets, await this.#ask('GET', `/${zone}.${query}`));
    this.#isOf(zone, said);
    return said.rrsets.flatMap(({ name, type, records }) => {
      const kind = recordTypes.find(one => one === type);
      if (!kind) return [];
      return records
        .filter(one => !one.disabled)
        .map(({ content }) => ({ name: bare(name), type: kind, value: valueOf(kind, content) }));
    });
  }

  async #ask(method: 'GET' | 'PATCH', where: string, body?: object, fine: readonly number[] = []): Promise<OutboundAnswer> {
    const answer = await outbound(this.#base + path + where, {
      method,
      headers: {
        'user-agent': userAgent,
        'x-api-key': this.#key,
        accept: 'application/json',
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      timeoutMs,
      bytesMax,
      ...this.#reach,
    });
    const { status } = answer;
    // a change is answered without a word
    if (status === (method === 'GET' ? 200 : 204)) return answer;
    const error = jsonOf(Said, answer)?.error;
    // it says no more to a key that it does not take
    const words = error ?? (status === 401 ? 'Unauthorized' : undefined);
    if (words === undefined || status < 400) throw strange('PowerDNS', answer);
    if (fine.includes(status)) return answer;
    const said = `PowerDNS: ${without(this.#key, words)}`;
    if (status === 422) throw new Unprocessable('refused', said);
    throw new DnsProblem(troubleOfStatus(status), said, retryAfter(answer));
  }
}

const bare = (name: string) => name.toLowerCase().replace(/\.$/, '');
const contentOf = (type: RecordSet['type'], value: string) =>
  type === 'CNAME' ? `${value}.` : type === 'TXT' ? `"${value}"` : value;
const valueOf = (type: RecordSet['type'], content: string) =>
  type === 'CNAME' ? bare(content) : type === 'TXT' ? valueIn('TXT', content) : content;
