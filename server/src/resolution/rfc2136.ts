/** A name server that takes updates signed with a key (RFC 2136, TSIG), and lets the key transfer the zone (AXFR): what stands there is read so. */
import type { Reach } from '../kit/outbound.ts';
import * as dns from '../domain/dns/message.ts';
import type { DnsProblem } from '../domain/dns/driver.ts';
import { canonicalAddress } from '../domain/dns/records.ts';
import { Rfc2136, UpdateRefused } from '../domain/dns/rfc2136.ts';
import { inHalves, PartRefused } from './apart.ts';
import type { RecordSet, RecordStore, StoredRecord, Unit } from './foreign.ts';
import { add, type Change, drop, has, hasNone, together } from './updates.ts';

/** Something that must not be there is. */
const yxrrset = 7;
const refusedCode = 5;
/** A part of a change is what it says no to; its other words are of the zone. */
const mayBePart = (error: DnsProblem) =>
  error instanceof UpdateRefused && (error.rcode === yxrrset || error.rcode === refusedCode);

/** Types that people put beside addresses, which make way for a name elsewhere: NS, PTR, MX, TXT, LOC, SRV, NAPTR, DS, SSHFP, TLSA, SVCB, HTTPS, CAA. */
const typesBeside = [2, 12, 15, 16, 29, 33, 35, 43, 44, 52, 64, 65, 257];

interface Prepared {
  unit: Unit;
  changes: readonly Change[];
  needs: readonly Change[];
}
const changesOf = (unit: Unit): Change[] =>
  unit.flatMap(({ name, type, ttl, values }) => [
    drop(name, dns.types[type]),
    ...values.map(value => add(name, dns.types[type], ttl, dataOf(type, value))),
  ]);
const leadingIn = (unit: Unit) => unit.find(({ type, values }) => type === 'CNAME' && values.length);
/** Addresses do not go where the name that takes their place would be left out: nothing would be answered. */
function needsOf(unit: Unit): Change[] {
  const name = leadingIn(unit)?.name;
  const isInstead = name !== undefined && unit.some(one => one.name === name && one.type !== 'CNAME');
  return isInstead ? typesBeside.map(type => hasNone(name, type)) : [];
}
const inTheWay = (name: string, other?: StoredRecord) =>
  `${name} has ${other ? `a record ${other.type} of somebody else` : 'a record of somebody else'}, beside which ours cannot stand: take it away`;
const canonical = (type: RecordSet['type'], value: string) => (type === 'A' || type === 'AAAA' ? canonicalAddress(value) : value);
const isSame = (one: readonly string[], other: readonly string[]) => String([...one].sort()) === String([...other].sort());

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

  async replace(zone: string, units: readonly Unit[]): Promise<void> {
    const refused: Unit[] = [];
    let why: string | undefined;
    const each = units.map(unit => ({ unit, changes: changesOf(unit), needs: needsOf(unit) }));
    for (const part of together(each, one => [...one.changes, ...one.needs]))
      try {
        await inHalves(part, some => this.#change(zone, some), mayBePart);
      } catch (error) {
        if (!(error instanceof PartRefused)) throw error;
        why ??= error.why;
        refused.push(...error.parts.map(one => (one as Prepared).unit)); // of `part`
      }
    if (why !== undefined) throw new PartRefused(refused, why);
  }
  async #change(zone: string, some: readonly Prepared[]): Promise<void> {
    try {
      await this.#updates.change(
        zone,
        some.flatMap(one => one.changes),
        some.flatMap(one => one.needs),
      );
    } catch (error) {
      if (!(error instanceof UpdateRefused) || error.rcode !== yxrrset) throw error;
      throw some.length > 1 ? error : new PartRefused(some, inTheWay(leadingIn(some[0]!.unit)!.name));
    }
    await this.#see(zone, some);
  }

  /** A record that may not stand beside another is left out by a server that says nothing of it (RFC 2136, 3.4.2.2). */
  async #see(zone: string, some: readonly Prepared[]): Promise<void> {
    const wanted = some.flatMap(({ unit }) =>
      unit.flatMap(({ name, type, values }) => values.map(value => has(name, dns.types[type], dataOf(type, value)))),
    );
    if (!wanted.length) return;
    try {
      await this.#updates.change(zone, [], wanted);
      return;
    } catch (error) {
      if (!(error instanceof UpdateRefused)) throw error;
    }
    // it says not of which; or it takes no such question
    const there = Map.groupBy(await this.records(zone), one => one.name);
    const missing = some.flatMap(one => {
      const set = one.unit.find(({ name, type, values }) => {
        const found = (there.get(name) ?? []).filter(record => record.type === type).map(record => record.value);
        return !isSame(
          found,
          values.map(value => canonical(type, value)),
        );
      });
      return set ? [{ one, set }] : [];
    });
    const [first] = missing;
    if (!first) return;
    const { name, type } = first.set;
    const other = (there.get(name) ?? []).find(record => record.type !== type);
    throw new PartRefused(
      missing.map(({ one }) => one),
      other || type === 'CNAME' ? inTheWay(name, other) : `${name} does not hold what was written there`,
    );
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
