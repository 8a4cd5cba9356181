/** A dry run: what would be written into a zone now, and what others have there. Nothing is written, and nothing noted. */
import { sql } from 'kysely';
import { type previewChanges, previewMost } from '#contract/resolution/cnames.ts';
import type { Context } from '../kit/context.ts';
import { type Db, rows } from '../store/db.ts';
import { askNow } from './asked-now.ts';
import { isSame } from './compare.ts';
import type { Answer, ForeignRecord, NameDriver } from './driver.ts';
import { without } from './line-budget.ts';
import { groupAnswer, type HeldZone, storedAnswers } from './load.ts';
import { groupName, siteName } from './names.ts';

export interface PreviewRow {
  change: (typeof previewChanges)[number];
  name: string;
  kind: 'site' | 'group' | 'other';
  of: string;
  there: string[];
  wanted: string[];
  isByHand: boolean;
  isInTheWay: boolean;
}
export interface Preview {
  counts: Record<(typeof previewChanges)[number], number>;
  rows: PreviewRow[];
}

const textMost = 300;
const valuesOf = ({ a, aaaa, cname }: Answer): string[] => (cname === null ? [...a, ...aaaa] : [cname]);
const cut = (all: readonly string[]) => all.slice(0, previewMost.values).map(one => one.slice(0, textMost).toWellFormed());
const urgency = { change: 0, remove: 1, add: 2, foreign: 3 } as const;

const underWay = new WeakMap<object, Map<string, Promise<{ ms: number } & Preview>>>();
/** Whoever asks while it is being read waits for the same: it may be large, and its provider counts questions. @throws Fail */
export function preview(
  { db, services, language }: Pick<Context, 'db' | 'services' | 'language'>,
  held: HeldZone,
): Promise<{ ms: number } & Preview> {
  const all = underWay.get(services) ?? new Map<string, Promise<{ ms: number } & Preview>>();
  underWay.set(services, all);
  // what goes wrong is said to all of them
  const key = `${held.zone.id} ${held.server} ${language}`;
  const known = all.get(key);
  if (known) return known;
  const asked = askNow({ db, services, language }, held.dnsSettingID, driver => previewOf(db, driver, held))
    .then(({ ms, answer }) => ({ ms, ...answer }))
    .finally(() => all.delete(key));
  all.set(key, asked);
  return asked;
}

/** @throws DnsProblem, OutboundError where it cannot be read */
async function previewOf(db: Db, driver: NameDriver, held: HeldZone): Promise<Preview> {
  const { zone } = held;
  const foreign: ForeignRecord[] = [];
  const { names, groups } = await driver.observe(zone, one => foreign.push(one));
  const rest = await ofNames(db, held, names, foreign);
  const { found, leading } = await ofGroups(db, driver, held, groups);
  // a group that is a name elsewhere has nothing beside it either
  for (const one of rest) if (one.kind === 'other' && leading.has(one.name)) one.isInTheWay = true;
  const all = [...rest, ...found];
  const counts = { add: 0, change: 0, remove: 0, foreign: 0 };
  for (const { change } of all) counts[change]++;
  const order = (one: PreviewRow) => (one.isInTheWay ? -1 : urgency[one.change]);
  const sorted = all.toSorted((one, other) => order(one) - order(other) || (one.name < other.name ? -1 : 1));
  // a zone that is filled for the first time tells of others' records all the same
  const ours = sorted.filter(one => one.change !== 'foreign');
  const others = sorted.filter(one => one.change === 'foreign');
  const room = previewMost.rows - Math.min(others.length, previewMost.foreign);
  const kept = new Set([
    ...ours.slice(0, room),
    ...others.slice(0, Math.max(previewMost.foreign, previewMost.rows - ours.length)),
  ]);
  const shown = sorted.filter(one => kept.has(one)).slice(0, previewMost.rows);
  return {
    counts,
    rows: shown.map(one => ({
      ...one,
      name: one.name.slice(0, textMost).toWellFormed(),
      there: cut(one.there),
      wanted: cut(one.wanted),
    })),
  };
}

/** Names of sites, as `compare` and `pushNames` would leave them; and others' records. */
async function ofNames(
  db: Db,
  { zone, clientID }: HeldZone,
  names: ReadonlyMap<string, number>,
  foreign: readonly ForeignRecord[],
): Promise<PreviewRow[]> {
  const sites = await rows<{ label: string; name: string; groupID: number; isNoted: boolean; isLive: boolean }>(
    db,
    sql`select coalesce(s."cnameKey", cs.label) as label, coalesce(s."siteName", '') as name, coalesce(p."groupID", cs."groupID") as "groupID",
        cs."siteID" is not null and (s.id is null or cs."groupID" = p."groupID") as "isNoted", s.id is not null as "isLive"
      from (select * from site where "clientID" = ${clientID} and "deletedAt" is null) s join product p on p.id = s."productID"
      full join (select * from "cnameSite" where "cnameID" = ${zone.id}) cs on cs."siteID" = s.id`,
  );
  const wanted = new Map(sites.filter(one => one.isLive).map(one => [siteName(zone.name, one.label), one]));
  const noted = new Set(sites.filter(one => one.isNoted).map(one => siteName(zone.name, one.label)));
  // what leads elsewhere by hand, where a name of ours should lead, is written over
  const led = new Map(foreign.filter(one => one.type === 'CNAME' && wanted.has(one.name)).map(one => [one.name, one.value]));
  const found: PreviewRow[] = [];
  const ours = { kind: 'site', isInTheWay: false } as const;
  for (const [name, { label, groupID, name: of }] of wanted) {
    const to = names.get(label);
    if (to === groupID) continue;
    const there = to ? [groupName(zone.name, to)] : [led.get(name) ?? []].flat();
    const isThere = to !== undefined || there.length > 0;
    found.push({
      ...ours,
      change: isThere ? 'change' : 'add',
      name,
      of,
      there,
      wanted: [groupName(zone.name, groupID)],
      isByHand: noted.has(name),
    });
  }
  for (const [label, to] of names) {
    const name = siteName(zone.name, label);
    if (wanted.has(name)) continue;
    const there = to ? [groupName(zone.name, to)] : [];
    found.push({ ...ours, change: 'remove', name, of: '', there, wanted: [], isByHand: !noted.has(name) });
  }
  for (const { name, type, value } of foreign) {
    if (type === 'CNAME' && led.has(name)) continue;
    const isInTheWay = wanted.has(name);
    const there = [`${type} ${value}`];
    found.push({ change: 'foreign', name, kind: 'other', of: '', there, wanted: [], isByHand: false, isInTheWay });
  }
  return found;
}

/** What groups answer to everybody; `leading`: names of those that lead elsewhere. */
async function ofGroups(
  db: Db,
  driver: NameDriver,
  { zone, clientID, linelessGroups, placelessGroups }: HeldZone,
  groups: Awaited<ReturnType<NameDriver['observe']>>['groups'],
): Promise<{ found: PreviewRow[]; leading: ReadonlySet<string> }> {
  const noted = new Map(
    (
      await rows<{ groupID: number; applied: number }>(
        db,
        sql`select "groupID", applied from "cnameGroup" where "cnameID" = ${zone.id}`,
      )
    ).map(one => [one.groupID, one.applied]),
  );
  const called = new Map(
    (await rows<{ id: number; name: string }>(db, sql`select id, name from "group" where "clientID" = ${clientID}`)).map(one => [
      one.id,
      one.name,
    ]),
  );
  const stored = (await storedAnswers(db)).filter(one => one.clientID === clientID).map(groupAnswer);
  const found: PreviewRow[] = [];
  const leading = new Set<string>();
  const ours = (groupID: number) =>
    ({ kind: 'group', name: groupName(zone.name, groupID), of: called.get(groupID) ?? '', isInTheWay: false }) as const;
  for (const group of stored) {
    const { groupID, version } = group;
    const there = groups.get(groupID);
    const left = linelessGroups.includes(groupID) ? 'lines' : placelessGroups.includes(groupID) ? 'places' : undefined;
    const wanted = driver.shown(without(group, left && { left, why: '' }), zone);
    if (wanted.cname !== null) leading.add(groupName(zone.name, groupID));
    const isAlike = there !== undefined && isSame(there.fallback, wanted);
    if (isAlike && there.version === version) continue;
    const applied = noted.get(groupID);
    found.push({
      ...ours(groupID),
      change: there ? 'change' : 'add',
      there: there ? valuesOf(there.fallback) : [],
      wanted: valuesOf(wanted),
      isByHand: applied !== undefined && (there?.version !== applied || (applied === version && !isAlike)),
    });
  }
  const known = new Set(stored.map(one => one.groupID));
  for (const [groupID, { fallback }] of groups)
    if (!known.has(groupID))
      found.push({ ...ours(groupID), change: 'remove', there: valuesOf(fallback), wanted: [], isByHand: !noted.has(groupID) });
  return { found, leading };
}
