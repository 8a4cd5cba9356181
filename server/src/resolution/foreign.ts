/**
 * A name server of the operator's own: names, and what is answered to everybody, are records in a zone that it has. Whose zone it is says
 * who makes it, delegates it and writes its other records: none is made here, and nothing is touched but names that lead to a group
 * (`KEY.ZONE CNAME gN.l.ZONE`) and groups (`gN.l.ZONE`, `v.gN.l.ZONE`). Lines do not count: everybody is answered alike.
 */
import { shuffled } from '../kit/shuffled.ts';
import { DnsProblem, problemOf } from '../domain/dns/driver.ts';
import { canonicalAddress as canonical, type RecordType } from '../domain/dns/records.ts';
import {
  type Abilities,
  type Answer,
  type ForeignRecord,
  type GroupAnswer,
  type NameDriver,
  type NameZone,
  type Observed,
  observedGroups,
  type Prepared,
} from './driver.ts';
import { PartRefused, type Refusal, refusedOf } from './apart.ts';
import { groupName, groupOf, siteName, ttl, versionName } from './names.ts';

/** All records of a name of one type; none: they go. */
export interface RecordSet {
  name: string;
  type: RecordType;
  /** seconds */
  ttl: number;
  /** addresses, a name without a dot at its end, a text */
  values: readonly string[];
}
export type Unit = readonly RecordSet[];
/** Names in lower case, without a dot at their end. */
export interface StoredRecord {
  name: string;
  type: RecordType;
  value: string;
  /** not everybody is answered what stands there: somebody changed more of it than its value */
  isOther?: boolean;
}

/** How a name server is read and written. @throws DnsProblem, OutboundError */
export interface RecordStore {
  has(zone: string): Promise<boolean>;
  /** Of these types, all that stand there. */
  records(zone: string): Promise<StoredRecord[]>;
  /** A change that changes nothing, where one of `replace` is none. */
  tryChange?(zone: string): Promise<void>;
  /**
   * Each set becomes what it is here, in this order; what is gone already is fine. Sets of one unit stand or fall together; what is refused
   * of one keeps no other from it. @throws PartRefused of units, or DnsProblem where it is not known of which
   */
  replace(zone: string, units: readonly Unit[]): Promise<void>;
  /** Of a name, as they stand there now. */
  texts(zone: string, name: string): Promise<string[]>;
}

export class ForeignDriver implements NameDriver {
  readonly can: Abilities;
  readonly watchMs: number;
  readonly #store: RecordStore;

  /** `watchMs`: nobody but its operator takes a zone away */
  constructor(store: RecordStore, can: Abilities, watchMs = 60_000) {
    this.#store = store;
    this.can = can;
    this.watchMs = watchMs;
  }

  /** That it takes changes is found out by one that changes nothing: a group of this number there is none. */
  async test(zones: readonly NameZone[]): Promise<ReadonlySet<number>> {
    const there = new Set<number>();
    // with no zone yet it is heard at least that it takes the key
    if (!zones.length) await this.#store.has('breakwater.invalid');
    for (const zone of zones) {
      if (!(await this.#store.has(zone.name))) continue;
      const nothing: RecordSet = { name: versionName(zone.name, 0), type: 'TXT', ttl: ttl.version, values: [] };
      await (this.#store.tryChange?.(zone.name) ?? this.#store.replace(zone.name, [[nothing]]));
      there.add(zone.id);
    }
    return there;
  }

  async prepare(_all: readonly NameZone[], due: readonly NameZone[]): Promise<Prepared> {
    const failed = new Map<number, DnsProblem>();
    for (const { id, name } of due)
      try {
        if (!(await this.#store.has(name))) failed.set(id, problemOf('refused', { code: 'noZone', bounds: { zone: name } }));
      } catch (error) {
        // what it says of one zone is no reason to leave the others
        if (!(error instanceof DnsProblem) || error.trouble !== 'refused') throw error;
        failed.set(id, error);
      }
    return { failed };
  }

  async applyNames({ name: zone }: NameZone, names: readonly { label: string; groupID: number | null }[]): Promise<void> {
    const units = new Map(
      names.map(({ label, groupID }) => [
        [this.#set(siteName(zone, label), 'CNAME', ttl.site, groupID === null ? [] : [groupName(zone, groupID)])],
        label,
      ]),
    );
    await this.#replace(zone, units);
  }

  async applyGroups(
    { name: zone }: NameZone,
    changed: readonly GroupAnswer[],
    _all: readonly GroupAnswer[],
    gone: readonly number[],
  ): Promise<void> {
    const nothing: Answer = { a: [], aaaa: [], cname: null };
    const units = new Map([
      ...gone.map(groupID => [this.#setsOf(zone, groupID, nothing, undefined), groupID] as const),
      ...changed.map(({ groupID, fallback, version }) => [this.#setsOf(zone, groupID, fallback, version), groupID] as const),
    ]);
    await this.#replace(zone, units);
  }

  /** `units`: with whose they are. @throws PartRefused of these */
  async #replace<T>(zone: string, units: ReadonlyMap<Unit, T>): Promise<void> {
    try {
      await this.#store.replace(zone, [...units.keys()]);
    } catch (error) {
      if (!(error instanceof PartRefused)) throw error;
      throw new PartRefused(
        error.refusals.flatMap(one => {
          const part = units.get(one.part as Unit); // what it was given
          return part === undefined ? [] : [{ ...one, part }];
        }),
      );
    }
  }

  /** What goes stands before what comes: a name that leads on has nothing beside it. */
  #setsOf(zone: string, groupID: number, { a, aaaa, cname }: Answer, version: number | undefined): RecordSet[] {
    const name = groupName(zone, groupID);
    const sets = [
      this.#set(name, 'CNAME', ttl.group, cname === null ? [] : [cname]),
      this.#set(name, 'A', ttl.group, cname === null ? a : []),
      this.#set(name, 'AAAA', ttl.group, cname === null ? aaaa : []),
      this.#set(versionName(zone, groupID), 'TXT', ttl.version, version === undefined ? [] : [String(version)]),
    ];
    return sets.sort((one, other) => Math.min(1, one.values.length) - Math.min(1, other.values.length));
  }

  #set(name: string, type: RecordSet['type'], seconds: number, values: readonly string[]): RecordSet {
    return { name, type, ttl: Math.max(seconds, this.can.minTTL), values };
  }

  /** There are no lines. */
  async refresh(): Promise<void> {}

  async observe({ name: zone }: NameZone, onForeign: (record: ForeignRecord) => void = () => {}): Promise<Observed> {
    const names = new Map<string, number>();
    const { groups, groupFor } = observedGroups();
    const others = { names: new Set<string>(), groups: new Set<number>() };
    for (const { name, type, value, isOther } of await this.#store.records(zone)) {
      const isVersion = name.startsWith('v.');
      const groupID = groupOf(zone, isVersion ? name.slice(2) : name);
      if (groupID === undefined) {
        const leadsTo = type === 'CNAME' && name.endsWith(`.${zone}`) ? groupOf(zone, value) : undefined;
        if (leadsTo === undefined) {
          onForeign({ name, type, value });
          continue;
        }
        const label = name.slice(0, -zone.length - 1);
        names.set(label, leadsTo);
        if (isOther) others.names.add(label);
      } else if ((type === 'TXT') !== isVersion) onForeign({ name, type, value });
      else if (isOther && type !== 'TXT') others.groups.add(groupID);
      else if (isVersion) {
        if (/^\d{1,15}$/.test(value)) groupFor(groupID).version = Number(value);
      } else if (type === 'CNAME') groupFor(groupID).fallback.cname = value;
      else groupFor(groupID).fallback[type === 'A' ? 'a' : 'aaaa'].push(canonical(value));
    }
    // as if they led, or answered, to nothing that there is: so they are written anew, or go
    for (const label of others.names) names.set(label, 0);
    for (const groupID of others.groups) groupFor(groupID).version = undefined;
    return { names, groups };
  }

  shown({ fallback }: GroupAnswer): Answer {
    const { a, aaaa, cname } = fallback;
    return cname === null ? { a: a.map(canonical), aaaa: aaaa.map(canonical), cname } : { a: [], aaaa: [], cname };
  }

  async version({ name: zone }: NameZone, groupID: number): Promise<number | undefined> {
    const [text] = await this.#store.texts(zone, versionName(zone, groupID));
    return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  }

  async leave(zone: NameZone): Promise<void> {
    const { names, groups } = await this.observe(zone);
    const all = shuffled([...names.keys()]).map(label => ({ label, groupID: null }));
    const refused: Refusal<unknown>[] = [];
    // what is refused of one keeps no other here: nobody comes back for it once the setting is gone
    for (let from = 0; from < all.length; from += this.can.namesMost) {
      const some = all.slice(from, from + this.can.namesMost);
      const refusals = await refusedOf<unknown>(some, this.applyNames(zone, some));
      refused.push(...refusals);
      // where nothing at all is taken the rest is tried the next time, in another order
      if (refusals.length === some.length) break;
    }
    const ids = [...groups.keys()];
    if (ids.length) refused.push(...(await refusedOf(ids, this.applyGroups(zone, [], [], ids))));
    const [first] = refused;
    if (first) throw new DnsProblem('refused', first.why, undefined, first.said);
  }
}
