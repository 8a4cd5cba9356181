/** A name server that takes updates signed with a key (RFC 2136, TSIG), and lets the key transfer the zone (AXFR): what stands there is read so. */
import type { Reach } from '../kit/outbound.ts';
import * as dns from '../domain/dns/message.ts';
import { DnsProblem, problemOf } from '../domain/dns/driver.ts';
import { canonicalAddress } from '../domain/dns/records.ts';
import { KeyRefused, Rfc2136, UpdateRefused } from '../domain/dns/rfc2136.ts';
import { inHalves, PartRefused, type Refusal, refusalOf } from './apart.ts';
import type { RecordSet, RecordStore, StoredRecord, Unit } from './foreign.ts';
import { add, type Change, drop, has, hasNone, together } from './updates.ts';

/** Something that must not be there is. */
const yxrrset = 7;
/** What may be said of one name of a change (RFC 2136, 2.2): FORMERR, NXDOMAIN, REFUSED, YXDOMAIN, YXRRSET, NXRRSET, NOTAUTH, NOTZONE. */
const ofOne: readonly number[] = [1, 3, 5, 6, 7, 8, 9, 10];
/** Knot says it of a name that an ACL keeps from the key; who knows no such key at all said so before, as it was asked for the zone. */
const badKey = 17;
const mayBePart = (error: DnsProblem) =>
  (error instanceof UpdateRefused && ofOne.includes(error.rcode)) || (error instanceof KeyRefused && error.error === badKey);
/** Of the key, whatever is asked with it: that is no part of a change. */
function ofZone(error: unknown): never {
  if (!(error instanceof KeyRefused)) throw error;
  const { trouble, message, retrySeconds, said } = error;
  throw new DnsProblem(trouble, message, retrySeconds, said);
}
/** By what it is known to whoever looks after the zone. */
const nameOf = (unit: Unit) => (unit.find(({ type }) => type !== 'TXT') ?? unit[0])?.name ?? '';
/** With the name that it is of. */
function ofName(name: string, error: DnsProblem): DnsProblem {
  const { said, trouble } = error;
  const bounds = { ...said?.bounds, name };
  if (error instanceof KeyRefused) return problemOf('refused', { code: 'keyRefusedOf', bounds });
  if (error instanceof UpdateRefused)
    return problemOf(trouble, { code: 'answeredOf', bounds: { ...bounds, rcode: dns.rcodes[error.rcode] ?? error.rcode } });
  return error;
}

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
  problemOf(
    'refused',
    other ? { code: 'inTheWayType', bounds: { name, type: other.type } } : { code: 'inTheWay', bounds: { name } },
  );
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
    const refused: Refusal<Unit>[] = [];
    const each = units.flatMap((unit): Prepared[] => {
      try {
        return [{ unit, changes: changesOf(unit), needs: needsOf(unit) }];
      } catch (error) {
        // what is no address, or no name, of one keeps no other waiting
        if (!(error instanceof dns.BadMessage)) throw error;
        refused.push({ part: unit, why: error.message, said: undefined });
        return [];
      }
    });
    for (const part of together(each, one => [...one.changes, ...one.needs]))
      try {
        await inHalves(part, some => this.#change(zone, some), mayBePart);
      } catch (error) {
        if (!(error instanceof PartRefused)) throw await this.#ofMany(zone, error);
        refused.push(...error.refusals.map(one => ({ ...one, part: (one.part as Prepared).unit }))); // of `part`
      }
    if (refused.length) throw new PartRefused(refused);
  }
  /** Of many names nearly all of which are kept from the key it is no word about the key, where that is known for the zone. */
  async #ofMany(zone: string, error: unknown): Promise<unknown> {
    if (!(error instanceof KeyRefused) || !mayBePart(error)) return error;
    await this.has(zone).catch(ofZone);
    return new DnsProblem('refused', error.message, undefined, error.said);
  }
  async #change(zone: string, some: readonly Prepared[]): Promise<void> {
    try {
      await this.#updates.change(
        zone,
        some.flatMap(one => one.changes),
        some.flatMap(one => one.needs),
      );
    } catch (error) {
      const [one, another] = some;
      if (!one || another || !(error instanceof UpdateRefused || error instanceof KeyRefused) || !mayBePart(error)) throw error;
      // of a key that it does not take at all it says so of the zone, too
      if (error instanceof KeyRefused) await this.has(zone).catch(ofZone);
      const name = nameOf(one.unit);
      const isOfOther = error instanceof UpdateRefused && error.rcode === yxrrset;
      throw new PartRefused([refusalOf(one, isOfOther ? inTheWay(name) : ofName(name, error))]);
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
      if (!(error instanceof UpdateRefused || error instanceof KeyRefused)) throw error;
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
    if (!missing.length) return;
    throw new PartRefused(
      missing.map(({ one, set: { name, type } }) => {
        const other = (there.get(name) ?? []).find(record => record.type !== type);
        const isOther = other !== undefined || type === 'CNAME';
        return refusalOf(one, isOther ? inTheWay(name, other) : problemOf('refused', { code: 'notWritten', bounds: { name } }));
      }),
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
