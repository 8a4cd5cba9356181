/** A name server that takes updates signed with a key (RFC 2136, TSIG), and lets the key transfer the zone (AXFR): what stands there is read so. */
import type { Reach } from '../kit/outbound.ts';
import * as dns from '../domain/dns/message.ts';
import { Rfc2136 } from '../domain/dns/rfc2136.ts';
import type { RecordSet, RecordStore, StoredRecord } from './foreign.ts';
import { add, drop, parts } from './updates.ts';

export class UpdatedServer implements RecordStore {
  readonly #updates: Rfc2136;

  constructor(server: string, key: dns.Key, reach: Reach) {
    this.#updates = new Rfc2136(server, key, reach);
  }

  async has(zone: string): Promise<boolean> {
    return (await this.#updates.zones([zone])).get(zone)?.name === zone;
  }

  async records(zone: string): Promise<StoredRecord[]> {
    return this.#updates.transfer(zone, one => {
      const value = valueOf(one);
      return value && { name: one.name, ...value };
    });
  }

  async replace(zone: string, sets: readonly RecordSet[]): Promise<void> {
    const changes = sets.map(({ name, type, ttl, values }) => [
      drop(name, dns.types[type]),
      ...values.map(value => add(name, dns.types[type], ttl, dataOf(type, value))),
    ]);
    for (const part of parts(changes)) await this.#updates.change(zone, part);
  }

  async texts(_zone: string, name: string): Promise<string[]> {
    return (await this.#updates.query(name, dns.types.TXT)).map(one => dns.textOf(one.data));
  }
}

function dataOf(type: RecordSet['type'], value: string): Buffer {
  switch (type) {
    case 'A':
    case 'AAAA':
      return dns.addressData(value);
    case 'CNAME':
      return dns.nameBytes(value);
    case 'TXT':
      return dns.textData(value);
  }
}
function valueOf({ type, data, target }: dns.ResourceRecord): Omit<StoredRecord, 'name'> | undefined {
  switch (type) {
    case dns.types.A:
      return { type: 'A', value: dns.addressOf(data) };
    case dns.types.AAAA:
      return { type: 'AAAA', value: dns.addressOf(data) };
    case dns.types.CNAME:
      return target === undefined ? undefined : { type: 'CNAME', value: target };
    case dns.types.TXT:
      return { type: 'TXT', value: dns.textOf(data) };
    default:
      return undefined;
  }
}
