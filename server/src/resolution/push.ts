/** A zone is brought from what it was brought to (`cnameGroup`, `cnameSite`) to what should be. */
import { sql } from 'kysely';
import { type Db, rows } from '../store/db.ts';
import { PartRefused } from './apart.ts';
import type { GroupAnswer, NameDriver } from './driver.ts';
import type { HeldZone } from './load.ts';
import { split } from './servers.ts';

/** Groups asked for after a push, to see that what was written is what is answered. */
const askedMost = 20;

/** What each group answers. @returns whether something was to be done @throws Error when it is not answered afterwards */
export async function pushGroups(db: Db, driver: NameDriver, { zone }: HeldZone, all: readonly GroupAnswer[]): Promise<boolean> {
  const applied = new Map(
    (
      await rows<{ groupID: number; applied: number }>(
        db,
        sql`select "groupID", applied from "cnameGroup" where "cnameID" = ${zone.id}`,
      )
    ).map(one => [one.groupID, one.applied]),
  );
  const changed = all.filter(one => applied.get(one.groupID) !== one.version);
  const gone = [...applied.keys()].filter(id => !all.some(one => one.groupID === id));
  if (!changed.length && !gone.length) return false;
  const refused = await exceptRefused<number>(driver.applyGroups(zone, changed, all, gone));
  const isDone = (groupID: number) => !refused?.parts.includes(groupID);
  const done = changed.filter(one => isDone(one.groupID));
  const left = gone.filter(isDone);
  await see(driver, zone, done);
  await sql`insert into "cnameGroup" ("cnameID", "groupID", applied) select ${zone.id}, c."groupID", c.version
      from jsonb_to_recordset(${JSON.stringify(done.map(({ groupID, version }) => ({ groupID, version })))}::jsonb) as c("groupID" bigint, version bigint)
      on conflict ("cnameID", "groupID") do update set applied = excluded.applied`.execute(db);
  if (left.length) await sql`delete from "cnameGroup" where "cnameID" = ${zone.id} and "groupID" = any(${left})`.execute(db);
  if (refused) throw refused;
  return true;
}

/** What was refused, where everything else was done. */
async function exceptRefused<T>(act: Promise<void>): Promise<PartRefused<T> | undefined> {
  try {
    await act;
    return undefined;
  } catch (error) {
    if (error instanceof PartRefused) return error as PartRefused<T>; // of what the driver was given
    throw error;
  }
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
        throw new Error(`group ${groupID} answers version ${said ?? 'none'} instead of ${version}${asked ? ` to ${asked}` : ''}`);
    }
  }
}

/** Which group each site leads to, in parts, until `isStopping`. @throws PartRefused once all others do */
export async function pushNames(
  db: Db,
  driver: NameDriver,
  { zone, clientID }: HeldZone,
  isStopping: () => boolean,
): Promise<void> {
  const left: number[] = [];
  let refused: PartRefused<string> | undefined;
  for (;;) {
    const found = await rows<{ siteID: number; label: string; groupID: number | null }>(
      db,
      sql`select coalesce(s.id, cs."siteID") as "siteID", coalesce(s.label, cs.label) as label, s."groupID" from
          (select s.id, s."cnameKey" as label, p."groupID" from site s join product p on p.id = s."productID" where s."clientID" = ${clientID} and s."deletedAt" is null) s
          full join (select * from "cnameSite" where "cnameID" = ${zone.id}) cs on cs."siteID" = s.id
        where s."groupID" is distinct from cs."groupID" and coalesce(s.id, cs."siteID") <> all(${left}) limit ${driver.can.namesMost}`,
    );
    const why = found.length ? await exceptRefused<string>(driver.applyNames(zone, found)) : undefined;
    refused ??= why;
    const [others, done] = split(found, one => why?.parts.includes(one.label) ?? false);
    left.push(...others.map(one => one.siteID));
    const gone = done.filter(one => one.groupID === null).map(one => one.siteID);
    await sql`insert into "cnameSite" ("cnameID", "siteID", label, "groupID") select ${zone.id}, c."siteID", c.label, c."groupID"
        from jsonb_to_recordset(${JSON.stringify(done)}::jsonb) as c("siteID" bigint, label text, "groupID" bigint) where c."groupID" is not null
        on conflict ("cnameID", "siteID") do update set "groupID" = excluded."groupID"`.execute(db);
    if (gone.length) await sql`delete from "cnameSite" where "cnameID" = ${zone.id} and "siteID" = any(${gone})`.execute(db);
    if (found.length < driver.can.namesMost || isStopping()) break;
  }
  // it is told once all others are there; what is refused is tried again with the zone
  if (refused) throw refused;
}
