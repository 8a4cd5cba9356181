/** A zone is brought from what it was brought to (`cnameGroup`, `cnameSite`) to what should be. */
import { sql } from 'kysely';
import { type Db, rows, type Sql } from '../store/db.ts';
import { shuffled } from '../kit/shuffled.ts';
import { DnsProblem, problemOf } from '../domain/dns/driver.ts';
import { aFewAtATime, exceptRefused, type Refusal, refusedOf, triedApartMost } from './apart.ts';
import type { GroupAnswer, NameDriver } from './driver.ts';
import { type HeldBack, gone as away, retriesAtOnce } from './held-back.ts';
import type { HeldZone } from './load.ts';
import { groupName, siteName } from './names.ts';
import { split } from './servers.ts';

/** Names that are many have so long at a time: groups have their turn in between, and a node that fails does not wait for all of them. */
const namesMs = 1000;

/** Groups asked for after a push, to see that what was written is what is answered. */
const askedMost = 20;

/**
 * What each group answers; what is refused of one is noted in `back`, and keeps no other. @returns whether something was to be done
 * @throws Error when it is not answered afterwards
 */
export async function pushGroups(
  db: Db,
  driver: NameDriver,
  { zone }: HeldZone,
  all: readonly GroupAnswer[],
  back: HeldBack,
): Promise<boolean> {
  const applied = new Map(
    (
      await rows<{ groupID: number; applied: number }>(
        db,
        sql`select "groupID", applied from "cnameGroup" where "cnameID" = ${zone.id}`,
      )
    ).map(one => [one.groupID, one.applied]),
  );
  const others = all.filter(one => applied.get(one.groupID) !== one.version);
  const leaving = [...applied.keys()].filter(id => !all.some(one => one.groupID === id));
  const wanted = new Map<number, number>([
    ...others.map(one => [one.groupID, one.version] as const),
    ...leaving.map(id => [id, away] as const),
  ]);
  const { all: held, due } = back.groups.of(wanted);
  const apply = async (ids: readonly number[], refusalsOf: (act: Promise<void>) => Promise<readonly Refusal<number>[]>) => {
    const changed = others.filter(one => ids.includes(one.groupID));
    const gone = leaving.filter(id => ids.includes(id));
    const refusals = await refusalsOf(driver.applyGroups(zone, changed, all, gone));
    back.groups.tried(ids, wanted, refusals, id => groupName(zone.name, id));
    const refused = new Set(refusals.map(one => one.part));
    await noteGroups(
      db,
      driver,
      zone,
      changed.filter(one => !refused.has(one.groupID)),
      gone.filter(id => !refused.has(id)),
    );
    return refusals;
  };
  const fresh = [...wanted.keys()].filter(id => !held.has(id));
  const apart = async (act: Promise<void>) => (await exceptRefused<number>(act))?.refusals ?? [];
  if (fresh.length) await aFewAtATime(fresh, some => apply(some, apart));
  // none of the others waits for those that were refused before
  for (const some of growing(due)) {
    const refusals = await apply(some, act => refusedOf(some, act));
    if (!refusals.length) continue;
    back.pause();
    break;
  }
  return fresh.length > 0 || due.length > 0;
}

/** A few, and twice as many each time, up to as many as can all be refused with a reason of their own. */
function* growing<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let from = 0, some = retriesAtOnce; from < all.length; from += some, some = Math.min(2 * some, triedApartMost))
    yield all.slice(from, from + some);
}

async function noteGroups(
  db: Db,
  driver: NameDriver,
  zone: HeldZone['zone'],
  done: readonly GroupAnswer[],
  left: readonly number[],
): Promise<void> {
  await see(driver, zone, done);
  if (done.length)
    await sql`insert into "cnameGroup" ("cnameID", "groupID", applied) select ${zone.id}, c."groupID", c.version
      from jsonb_to_recordset(${JSON.stringify(done.map(({ groupID, version }) => ({ groupID, version })))}::jsonb) as c("groupID" bigint, version bigint)
      on conflict ("cnameID", "groupID") do update set applied = excluded.applied`.execute(db);
  if (left.length) await sql`delete from "cnameGroup" where "cnameID" = ${zone.id} and "groupID" = any(${[...left]})`.execute(db);
}

/** What lines of a zone go by is written down, so that a preview says what is answered there. */
export async function noteLines(
  db: Db,
  driver: NameDriver,
  { zone, lineData, placelessGroups, linelessGroups }: HeldZone,
): Promise<void> {
  const told = driver.told?.(zone);
  const isAsNoted = (ids: readonly number[], noted: readonly number[]) => String(ids) === String(noted);
  if (!told) return;
  const { data, placeless, lineless } = told;
  if (data === lineData && isAsNoted(placeless, placelessGroups) && isAsNoted(lineless, linelessGroups)) return;
  await sql`update cname set "lineData" = ${data}, "placelessGroups" = ${placeless}, "linelessGroups" = ${lineless} where id = ${zone.id}`.execute(
    db,
  );
}

/** What was written is what is answered, to everybody and on a line. @throws Error when it is not */
async function see(driver: NameDriver, zone: HeldZone['zone'], groups: readonly GroupAnswer[]): Promise<void> {
  for (const group of groups.slice(0, askedMost)) {
    const { groupID, version } = group;
    for (const asked of [undefined, ...((await driver.probes?.(group, zone)) ?? [])]) {
      const said = await driver.version(zone, groupID, asked);
      if (said !== version)
        throw problemOf('away', {
          code: 'otherVersion',
          bounds: { name: groupName(zone.name, groupID), said: said ?? '-', version, ...(asked && { asked }) },
        });
    }
  }
}

interface Name {
  siteID: number;
  label: string;
  groupID: number | null;
}
/**
 * Which group each site leads to, in parts, until `isStopping`; what is refused of one is noted in `back`, and keeps no other. @returns whether
 * there are more, which have not been tried
 */
export async function pushNames(
  db: Db,
  driver: NameDriver,
  { zone, clientID }: HeldZone,
  back: HeldBack,
  isStopping: () => boolean,
): Promise<boolean> {
  const differing = (which: Sql, most: number) =>
    rows<Name>(
      db,
      sql`select coalesce(s.id, cs."siteID") as "siteID", coalesce(s.label, cs.label) as label, s."groupID" from
          (select s.id, s."cnameKey" as label, p."groupID" from site s join product p on p.id = s."productID" where s."clientID" = ${clientID} and s."deletedAt" is null) s
          full join (select * from "cnameSite" where "cnameID" = ${zone.id}) cs on cs."siteID" = s.id
        where s."groupID" is distinct from cs."groupID" and ${which} limit ${most}`,
    );
  const wantedOf = (found: readonly Name[]) => new Map(found.map(one => [one.siteID, one.groupID ?? away]));
  const id = sql`coalesce(s.id, cs."siteID")`;
  /** @returns those of them that were refused */
  const note = async (found: readonly Name[], refusals: readonly Refusal<string>[]): Promise<Name[]> => {
    const bySite = refusals.flatMap(one =>
      found.filter(({ label }) => label === one.part).map(({ siteID }) => ({ ...one, part: siteID })),
    );
    const labels = new Map(found.map(one => [one.siteID, one.label]));
    back.sites.tried([...labels.keys()], wantedOf(found), bySite, siteID => siteName(zone.name, labels.get(siteID)!));
    const parts = new Set(refusals.map(one => one.part));
    const [others, done] = split(found, one => parts.has(one.label));
    const gone = done.filter(one => one.groupID === null).map(one => one.siteID);
    await sql`insert into "cnameSite" ("cnameID", "siteID", label, "groupID") select ${zone.id}, c."siteID", c.label, c."groupID"
        from jsonb_to_recordset(${JSON.stringify(done)}::jsonb) as c("siteID" bigint, label text, "groupID" bigint) where c."groupID" is not null
        on conflict ("cnameID", "siteID") do update set "groupID" = excluded."groupID"`.execute(db);
    if (gone.length) await sql`delete from "cnameSite" where "cnameID" = ${zone.id} and "siteID" = any(${gone})`.execute(db);
    return others;
  };
  const known = back.sites.ids.length ? await differing(sql`${id} = any(${back.sites.ids})`, back.sites.ids.length) : [];
  const { all: held, due } = back.sites.of(wantedOf(known));
  const left = [...held];
  const until = performance.now() + namesMs;
  let isMore = false;
  back.begin();
  for (;;) {
    const found = await differing(sql`${id} <> all(${left})`, driver.can.namesMost);
    // of an account that took hardly any the last time any few of them, and more once none of these is refused
    const some = back.namesMost < found.length ? shuffled(found).slice(0, back.namesMost) : found;
    const refusals = await refusalsOf(driver, zone, some);
    if (refusals) left.push(...(await note(some, refusals)).map(one => one.siteID));
    const isRest = some.length < found.length;
    // it is left alone for a while: groups have their turn, and other zones there
    if (!refusals || (isRest && 2 * refusals.length > some.length)) {
      back.again(triedApartMost);
      break;
    }
    back.more();
    if (!isRest && found.length < driver.can.namesMost) break;
    // nobody else's groups wait until all of these are written
    isMore = isStopping() || performance.now() >= until;
    if (isMore) break;
  }
  if (isMore) back.endTurn();
  const byID = new Map(known.map(one => [one.siteID, one]));
  for (const ids of growing(due)) {
    if (isStopping()) break;
    const some = ids.map(one => byID.get(one)!);
    const asked = refusedOf(
      some.map(one => one.label),
      driver.applyNames(zone, some),
    );
    // what else is wrong with a few that were refused once is no matter of those that still come: they say it themselves
    const refusals = await (isMore ? asked.catch(() => undefined) : asked);
    if (!refusals) break;
    const isRefused = (await note(some, refusals)).length > 0;
    if (isRefused) back.pause();
    // however many come anew, a few of those that were refused have their turn as well
    if (isRefused || isMore) break;
  }
  return isMore;
}

/**
 * What is refused of some. Undefined: nearly all of them are, as by an account that has room for no more; a few are tried the next time, to
 * show that it is they: what is there already, and every group, need not wait for them. @throws DnsProblem where it is the zone
 */
async function refusalsOf(
  driver: NameDriver,
  zone: HeldZone['zone'],
  some: readonly Name[],
): Promise<readonly Refusal<string>[] | undefined> {
  if (!some.length) return [];
  try {
    return (await exceptRefused<string>(driver.applyNames(zone, some)))?.refusals ?? [];
  } catch (error) {
    if (!(error instanceof DnsProblem) || error.trouble !== 'refused' || some.length <= triedApartMost) throw error;
    return undefined;
  }
}
