/**
 * Records of an account at a DNS provider, as its API lists and changes them. Site DNS and an operator's own names (resolution/account.ts)
 * are both written with it: what stands there is read, what differs is changed, and who came between is read anew.
 */
import { shuffled } from '../../kit/shuffled.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { domainToASCII } from 'node:url';
import { formatIP, parseIP } from '#contract/rules/address.ts';
import { type DnsDriver, DnsProblem, recordSeconds, type Zone, zonesFor } from './driver.ts';

export const recordTypes = ['A', 'AAAA', 'CNAME', 'TXT'] as const;
export type RecordType = (typeof recordTypes)[number];

/** As it stands there. */
export interface HeldRecord {
  /** the provider's; '': it knows whole sets alone */
  id: string;
  /** in lower case, without a dot at its end */
  name: string;
  type: RecordType;
  /** an address as it is usually written, a name without a dot at its end, a text without its quotation marks */
  value: string;
  /** that resolvers keep it */
  seconds: number;
  /** not everybody is answered what stands there: it is on one line alone, behind a proxy, switched off, a part of a routing policy */
  isOther: boolean;
  /** as its provider wrote it, where it has to be told so: the record, and the set it is a part of */
  raw?: string;
  rawSet?: string;
}

/** What is to become of the records of one name and type. */
export interface SetChange {
  name: string;
  type: RecordType;
  /** all that stand there */
  held: readonly HeldRecord[];
  /** of these, those that stay */
  keep: readonly HeldRecord[];
  /** values that come */
  add: readonly string[];
  /** of what comes */
  seconds: number;
  /** what stands or falls with it, under other names as well; default its name */
  unit?: number;
}
/** What is changed together, or not at all where the provider has transactions. */
export const partOf = ({ unit, name }: SetChange): number | string => unit ?? name;
/** A record whose value becomes another, one that goes, a value that comes; in this order nothing stands where it may not and no name is left empty meanwhile. */
export function stepsOf({ held, keep, add }: SetChange) {
  const [other, gone] = [new Set<HeldRecord>(), new Set<HeldRecord>()];
  // one that is not answered to everybody is made anew
  for (const one of held) if (!keep.includes(one)) (one.isOther ? other : gone).add(one);
  const moved: { record: HeldRecord; value: string }[] = [];
  const move = (value: string, record: HeldRecord | undefined) => {
    if (!record) return true;
    gone.delete(record);
    moved.push({ record, value });
    return false;
  };
  // the same value with another time first: else it would stand there twice
  const all = [...gone];
  const rest = add.filter(value =>
    move(
      value,
      all.find(one => one.value === value),
    ),
  );
  return { other: [...other], moved, add: rest.filter(value => move(value, [...gone][0])), gone: [...gone] };
}

/** A record that becomes another, or goes (no value); a value that comes (no record). */
export interface Step {
  set: Pick<SetChange, 'name' | 'type' | 'seconds'>;
  record?: HeldRecord;
  value?: string;
}
/**
 * All sets of one part, where each record is changed by itself. Between addresses and a name elsewhere one becomes the other, so that whoever
 * says no to what comes, or falls silent, leaves what was.
 */
export function stepsOfPart(sets: readonly SetChange[]): Step[] {
  const each = sets.map(set => ({ set, ...stepsOf(set) }));
  const leading = each.filter(one => one.set.type === 'CNAME');
  const addresses = each.filter(one => one.set.type === 'A' || one.set.type === 'AAAA');
  const turned: Step[] = [];
  const turn = (from: typeof each, to: typeof each) => {
    const [last, first] = [from.find(one => one.gone.length), to.find(one => one.add.length)];
    if (last && first) turned.push({ set: first.set, record: last.gone.pop()!, value: first.add.shift()! });
  };
  turn(leading, addresses);
  turn(addresses, leading);
  const going = (all: typeof each) => all.flatMap(({ set, gone }) => gone.splice(0).map(record => ({ set, record })));
  return [
    ...each.flatMap(({ set, other }) => other.map(record => ({ set, record }))),
    // it stands beside nothing
    ...(turned.some(one => one.set.type === 'CNAME') ? going(addresses) : []),
    ...turned,
    ...each.flatMap(one => [
      ...one.moved.map(({ record, value }) => ({ set: one.set, record, value })),
      ...one.add.map(value => ({ set: one.set, value })),
    ]),
    ...going(each),
  ];
}

/** @throws DnsProblem, OutboundError */
export interface RecordApi {
  /** as people know it */
  readonly provider: string;
  /** seconds that it lets resolvers keep a record, at the least, whoever pays nothing included */
  readonly minTTL: number;
  allZones(): Promise<Zone[]>;
  /** All records of a zone of our types, or of one name in it. @throws DnsProblem where it answers a part alone */
  list(zone: Zone, name?: string): Promise<HeldRecord[]>;
  /**
   * In this order; each part at least as a whole where the provider has transactions. What is refused of one keeps no other from it
   * (`changeApart`). @throws Conflict: something else stands there than was read; PartsRefused
   */
  change(zone: Zone, sets: readonly SetChange[]): Promise<void>;
  /** A change that changes nothing: whether it takes any. */
  probe(zone: Zone): Promise<void>;
}

/** Somebody else changed it meanwhile. */
export class Conflict extends DnsProblem {}
/** Everything else was done. */
export class PartsRefused extends DnsProblem {
  /** by `partOf`: why each of them was */
  readonly parts: ReadonlyMap<number | string, DnsProblem>;
  /** somebody else may have changed one of them meanwhile */
  readonly isConflict: boolean;

  constructor(parts: ReadonlyMap<number | string, DnsProblem>) {
    const whys = [...parts.values()];
    super('refused', whys[0]?.message ?? '', undefined, whys[0]?.said);
    this.parts = parts;
    this.isConflict = whys.some(one => one instanceof Conflict);
  }
}
const mayBeBetween = (error: unknown) => error instanceof Conflict || (error instanceof PartsRefused && error.isConflict);
const tries = 5;
/** A list may lag behind what stands there (DNSPod's by up to 30 s): where it says again what it said it is waited for, so often and so long. */
const waits = { most: 2, firstMs: 250 };
/** Fewer names are read one by one, more with everything else. */
const byNameMost = 4;

/** What `wanted` makes of what stands there of these names; read anew where somebody else was in between. */
export async function changeRecords(
  api: RecordApi,
  zone: Zone,
  names: readonly string[],
  wanted: (held: readonly HeldRecord[]) => readonly SetChange[],
): Promise<void> {
  let before = '';
  let waited = 0;
  let told: PartsRefused | undefined;
  for (let left = tries; ; left--) {
    const held: HeldRecord[] = [];
    if (names.length > byNameMost) held.push(...(await api.list(zone)));
    else for (const name of names) held.push(...(await api.list(zone, name)));
    const sets = wanted(held).filter(({ held: there, keep, add }) => add.length || keep.length < there.length);
    if (!sets.length) return;
    try {
      await api.change(zone, sets);
      return;
    } catch (error) {
      // of those alone that were refused all are refused again, and by themselves they use up how often it may say no
      if (told && error instanceof DnsProblem && error.trouble === 'refused' && !(error instanceof PartsRefused)) throw told;
      if (error instanceof PartsRefused) told = error;
      if (!mayBeBetween(error) || left <= 1) throw error;
      const now = JSON.stringify(held);
      if (now === before) {
        if (waited >= waits.most) throw error;
        await sleep(waits.firstMs * 2 ** waited++);
      }
      before = now;
    }
  }
}

/** An account as a site uses it: texts of ours beside whatever else there is. */
export class SiteNames implements DnsDriver {
  readonly #api: RecordApi;

  constructor(api: RecordApi) {
    this.#api = api;
  }

  async zones(names: readonly string[]): Promise<Map<string, Zone>> {
    return zonesFor(this.#api.provider, names, await this.#api.allZones());
  }

  put(zone: Zone, name: string, value: string): Promise<void> {
    return this.#change(zone, name, held => {
      const isThere = held.some(one => one.value === value && !one.isOther);
      return { keep: held, add: isThere ? [] : [value] };
    });
  }

  take(zone: Zone, name: string, value: string): Promise<void> {
    return this.#change(zone, name, held => ({ keep: held.filter(one => one.value !== value), add: [] }));
  }

  #change(zone: Zone, name: string, changed: (held: HeldRecord[]) => Pick<SetChange, 'keep' | 'add'>): Promise<void> {
    return changeRecords(this.#api, zone, [name], all => {
      const held = all.filter(one => one.name === name && one.type === 'TXT');
      const seconds = Math.max(recordSeconds, this.#api.minTTL);
      return [{ name, type: 'TXT', held, seconds, ...changed(held) }];
    });
  }
}

/** Providers write names as their customers did: with a dot at the end, in capitals, in letters of any script. */
export function bareName(said: string): string {
  const name = said.toLowerCase().replace(/\.$/, '');
  // oxlint-disable-next-line no-control-regex -- all of ASCII
  return /^[\x00-\x7f]*$/.test(name) ? name : domainToASCII(name) || name;
}
/** One address has many spellings. */
export function canonicalAddress(address: string): string {
  const parsed = parseIP(address);
  return parsed ? formatIP(parsed) : address;
}
/** A value as we have it, of one as providers write it. */
export function valueOf(type: RecordType, said: string): string {
  switch (type) {
    case 'CNAME':
      return bareName(said);
    case 'TXT':
      // a long one is several strings
      return said.replace(/^"(.*)"$/, '$1').replace(/"[ \t]+"/g, '');
    case 'A':
    case 'AAAA':
      return canonicalAddress(said);
  }
}
export const typeOf = (said: string): RecordType | undefined => recordTypes.find(one => one === said);

/** Parts whole, as many of them together as one change has room for. */
export function* chunksOf(sets: readonly SetChange[], sizeOf: (set: SetChange) => number, most: number): Generator<SetChange[]> {
  let part: SetChange[] = [];
  let size = 0;
  for (const some of Map.groupBy(sets, partOf).values()) {
    const own = some.reduce((sum, set) => sum + sizeOf(set), 0);
    if (part.length && size + own > most) {
      yield part;
      [part, size] = [[], 0];
    }
    part.push(...some);
    size += own;
  }
  if (part.length) yield part;
}

/** So often it may say no: at first, and more for each yes. Whoever says it to everything is not asked part by part. */
const refusals = { first: 24, each: 12 };
/**
 * Parts of a change one after the other, some of them together. What is refused is made again in halves, so that one part keeps no other
 * from it: a node that fails leaves one group whatever the provider thinks of another. @throws PartsRefused once all others are through
 */
export async function changeApart(
  parts: Iterable<readonly SetChange[]>,
  change: (part: readonly SetChange[]) => Promise<void>,
): Promise<void> {
  // those to blame may stand side by side, and would all be met before anybody who is not
  const all = shuffled([...parts]);
  const stack = [...all];
  const refused = new Map<number | string, DnsProblem>();
  let left = refusals.first;
  // the last first, half by half: those that are good come in between, however many others there are
  for (let part = stack.pop(); part; part = stack.pop())
    try {
      await change(part);
      left += refusals.each;
    } catch (error) {
      if (!(error instanceof DnsProblem) || error.trouble !== 'refused' || --left < 0) throw error;
      const some = [...Map.groupBy(part, partOf)];
      const middle = some.length >> 1;
      if (middle) {
        const mixed = all.includes(part) ? shuffled(some) : some;
        for (const half of [mixed.slice(0, middle), mixed.slice(middle)]) stack.push(half.flatMap(([, sets]) => sets));
      } else refused.set(some[0]![0], error);
    }
  if (refused.size) throw new PartsRefused(refused);
}

const readings = 3;
/** Of one list: what an account has beyond them is nobody's zone of sites, and would take up the memory of all. */
const foundMost = 200_000;
export interface Page<T> {
  found: readonly T[];
  /** records of this page, those of other types among them */
  count: number;
  /** records of the list; undefined: it does not say */
  total: number | undefined;
  isLast: boolean;
}
/** A page without anything, and the last one. */
export const nothing: Page<never> = { found: [], count: 0, total: undefined, isLast: true };
/**
 * All pages of a list, of which `seen` records came before. One that changes meanwhile is read anew: what slipped from one page to another
 * would be taken for lost, and what stands in two of them would be taken away as one too many. @throws DnsProblem where fewer came than it said there are
 */
export async function pagesOf<T extends { id: string }>(
  provider: string,
  most: number,
  ask: (page: number, seen: number) => Promise<Page<T>>,
): Promise<T[]> {
  let why = '';
  for (let tries = 0; tries < readings; tries++) {
    const all: T[] = [];
    const ids = new Set<string>();
    let seen = 0;
    let wanted: number | undefined;
    for (let page = 0; ; page++) {
      if (page >= most) throw new DnsProblem('refused', `${provider} has more than ${most} pages of one list`);
      const { found, count, total, isLast } = await ask(page, seen);
      all.push(...found);
      seen += count;
      wanted ??= total;
      if (all.length > foundMost) throw new DnsProblem('refused', `${provider} has more than ${foundMost} records in one list`);
      const isTwice = found.some(({ id }) => id !== '' && ids.size === ids.add(id).size);
      const isChanged = isTwice || (total !== undefined && total !== wanted);
      if (isChanged) why = 'the list changed while it was read';
      else if (isLast && wanted !== undefined && seen !== wanted) why = `it answered ${seen} of ${wanted} records`;
      else if (isLast) return all;
      else continue;
      break;
    }
  }
  throw new DnsProblem('away', `${provider}: ${why}`);
}
