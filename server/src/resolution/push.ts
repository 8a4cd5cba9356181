/** A zone is brought from what it was brought to (`cnameGroup`, `cnameSite`) to what should be. */
import { sql } from 'kysely';
import { type Db, rows, type Sql } from '../store/db.ts';
import { problemOf } from '../domain/dns/driver.ts';
import { exceptRefused } from './apart.ts';
import type { GroupAnswer, NameDriver } from './driver.ts';
import { type HeldBack, gone as away } from './held-back.ts';
import type { HeldZone } from './load.ts';
import { groupName, siteName } from './names.ts';
import { split } from './servers.ts';

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
  const waiting = back.groups.waiting(wanted);
  const changed = others.filter(one => !waiting.has(one.groupID));
  const gone = leaving.filter(id => !waiting.has(id));
  if (!changed.length && !gone.length) return false;
  const refused = await exceptRefused<number>(driver.applyGroups(zone, changed, all, gone));
  back.groups.tried([...changed.map(one => one.groupID), ...gone], wanted, refused?.refusals ?? [], id =>
    groupName(zone.name, id),
  );
  const isDone = (groupID: number) => !refused?.parts.includes(groupID);
  const done = changed.filter(one => isDone(one.groupID));
  const left = gone.filter(isDone);
  await see(driver, zone, done);
  await sql`insert into "cnameGroup" ("cnameID", "groupID", applied) select ${zone.id}, c."groupID", c.version
      from jsonb_to_recordset(${JSON.stringify(done.map(({ groupID, version }) => ({ groupID, version })))}::jsonb) as c("groupID" bigint, version bigint)
      on conflict ("cnameID", "groupID") do update set applied = excluded.applied`.execute(db);
  if (left.length) await sql`delete from "cnameGroup" where "cnameID" = ${zone.id} and "groupID" = any(${left})`.execute(db);
  return true;
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
/** Which group each site leads to, in parts, until `isStopping`; what is refused of one is noted in `back`, and keeps no other. */
export async function pushNames(
  db: Db,
  driver: NameDriver,
  { zone, clientID }: HeldZone,
  back: HeldBack,
  isStopping: () => boolean,
): Promise<void> {
  const differing = (which: Sql) =>
    rows<Name>(
      db,
      sql`select coalesce(s.id, cs."siteID") as "siteID", coalesce(s.label, cs.label) as label, s."groupID" from
          (select s.id, s."cnameKey" as label, p."groupID" from site s join product p on p.id = s."productID" where s."clientID" = ${clientID} and s."deletedAt" is null) s
          full join (select * from "cnameSite" where "cnameID" = ${zone.id}) cs on cs."siteID" = s.id
        where s."groupID" is distinct from cs."groupID" and ${which} limit ${driver.can.namesMost}`,
    );
  const wantedOf = (found: readonly Name[]) => new Map(found.map(one => [one.siteID, one.groupID ?? away]));
  const id = sql`coalesce(s.id, cs."siteID")`;
  const held = back.sites.ids;
  const known = held.length ? await differing(sql`${id} = any(${held})`) : [];
  const left = [...back.sites.waiting(wantedOf(known))];
  for (;;) {
    const found = await differing(sql`${id} <> all(${left})`);
    const refused = found.length ? await exceptRefused<string>(driver.applyNames(zone, found)) : undefined;
    const bySite = (refused?.refusals ?? []).flatMap(one =>
      found.filter(({ label }) => label === one.part).map(({ siteID }) => ({ ...one, part: siteID })),
    );
    const labels = new Map(found.map(one => [one.siteID, one.label]));
    back.sites.tried([...labels.keys()], wantedOf(found), bySite, siteID => siteName(zone.name, labels.get(siteID)!));
    const [others, done] = split(found, one => refused?.parts.includes(one.label) ?? false);
    left.push(...others.map(one => one.siteID));
    const gone = done.filter(one => one.groupID === null).map(one => one.siteID);
    await sql`insert into "cnameSite" ("cnameID", "siteID", label, "groupID") select ${zone.id}, c."siteID", c.label, c."groupID"
        from jsonb_to_recordset(${JSON.stringify(done)}::jsonb) as c("siteID" bigint, label text, "groupID" bigint) where c."groupID" is not null
        on conflict ("cnameID", "siteID") do update set "groupID" = excluded."groupID"`.execute(db);
    if (gone.length) await sql`delete from "cnameSite" where "cnameID" = ${zone.id} and "siteID" = any(${gone})`.execute(db);
    if (found.length < driver.can.namesMost || isStopping()) break;
  }
}
