import { sql } from 'kysely';
import { logger } from '../log.ts';
import { type Db, rows } from '../store/db.ts';
import type { Answer, NameDriver } from './driver.ts';
import { refusedOf } from './apart.ts';
import type { RefusedName } from './held-back.ts';
import { groupAnswer, type HeldZone, storedAnswers } from './load.ts';
import { groupName, siteName } from './names.ts';
import { oneLine } from './servers.ts';

/** What a site's key may be. Whoever writes a name there may give it any bytes, and PostgreSQL is not asked for those: it takes no NUL. */
const mayBeKey = (label: string) => /^[\w-]+$/.test(label);

/** An answer that stands there is the one that should. */
export function isSame(there: Answer, wanted: Answer): boolean {
  const same = (a: readonly string[], b: readonly string[]) => String([...a].sort()) === String([...b].sort());
  return same(there.a, wanted.a) && same(there.aaaa, wanted.aaaa) && there.cname === wanted.cname;
}

/**
 * What the zone above has to say of it, and a key that is to take another's place. The one before is first: which of them is the new one is
 * read of that.
 */
async function compareKeys(db: Db, driver: NameDriver, { zone, ds: before, isNewKey, isNewKeyDue }: HeldZone): Promise<void> {
  const told = async () => {
    const all = zone.isSigned ? ((await driver.trust?.(zone)) ?? []) : [];
    return [...before.filter(one => all.includes(one)), ...all.filter(one => !before.includes(one))];
  };
  let ds = await told();
  if (ds.length > 1 || (isNewKey && before.length < 2)) {
    await driver.newKey?.(zone, ds.length > 1 && isNewKeyDue ? 'take' : 'begin');
    ds = await told();
  }
  // None yet says nothing of the one before; of another key than before the zone above has to be told. What stands there is the one that was
  // shown first, however many came after it, until that is back.
  if (ds.length || !zone.isSigned)
    await sql`update cname set ds = ${ds}, "dsBefore" = case when "dsBefore" && ${ds}::text[] then '{}'
        when "dsBefore" <> '{}' or ds = '{}' or ds && ${ds}::text[] then "dsBefore" else ds end
      where id = ${zone.id} and ds <> ${ds}::text[]`.execute(db);
  // it has taken the other's place, or both are lost
  if (before.length > 1 && ds.length === 1)
    await sql`update cname set "newKeyAt" = null, "newKeyFrom" = null where id = ${zone.id}`.execute(db);
}

/** What really stands there: what is not as it was written is written again. @returns names that nobody knows, and that are not to be taken away */
export async function compare(db: Db, driver: NameDriver, held: HeldZone): Promise<RefusedName[]> {
  const { zone, clientID } = held;
  const { names, groups } = await driver.observe(zone);
  await compareKeys(db, driver, held);
  const sites = await rows<{ siteID: number; label: string; groupID: number }>(
    db,
    sql`select "siteID", label, "groupID" from "cnameSite" where "cnameID" = ${zone.id}`,
  );
  const isLost = (one: (typeof sites)[number]) => names.get(one.label) !== one.groupID;
  const lost = sites.filter(isLost).map(one => one.siteID);
  // one that leads elsewhere is known no longer: of a site that is no more nobody else takes it away
  const known = new Set(sites.filter(one => !isLost(one)).map(one => one.label));
  if (lost.length) await sql`delete from "cnameSite" where "cnameID" = ${zone.id} and "siteID" = any(${lost})`.execute(db);
  const unknown = [...names.keys()].filter(label => !known.has(label));
  // Whoever wrote a name may have ended, or been told to wait, before it was noted: a site's own is answered, and is no stranger. It is written anyway.
  const live = new Set(
    (
      await rows<{ label: string }>(
        db,
        sql`select s."cnameKey" as label from site s where s."clientID" = ${clientID} and s."deletedAt" is null and s."cnameKey" = any(${unknown.filter(mayBeKey)})`,
      )
    ).map(one => one.label),
  );
  const strange = unknown.filter(label => !live.has(label)).map(label => ({ label, groupID: null }));
  // groups of its operator alone: others' nodes are not to be read in its zone
  const mine = (await storedAnswers(db)).filter(one => one.clientID === clientID);
  const stored = new Map(mine.map(one => [one.groupID, groupAnswer(one)]));
  const applied = await rows<{ groupID: number; applied: number }>(
    db,
    sql`select "groupID", applied from "cnameGroup" where "cnameID" = ${zone.id}`,
  );
  const isOther = ({ groupID, applied: version }: { groupID: number; applied: number }) => {
    const there = groups.get(groupID);
    const wanted = stored.get(groupID);
    if (!wanted || wanted.version !== version) return false; // it is written anyway
    return there?.version !== version || !isSame(there.fallback, driver.shown(wanted, zone));
  };
  const others = applied.filter(isOther).map(one => one.groupID);
  const foreign = [...groups.keys()].filter(id => !stored.has(id) && !applied.some(one => one.groupID === id));
  if (others.length) await sql`delete from "cnameGroup" where "cnameID" = ${zone.id} and "groupID" = any(${others})`.execute(db);
  if (lost.length || strange.length || others.length)
    logger.warn(
      { zone: zone.name, names: lost.length, strange: strange.length, groups: others.length },
      'what stood there was not what was written, and is mended',
    );
  // last: what is not taken away keeps nothing else from being mended
  const refused: RefusedName[] = [];
  const apart = async <T>(some: readonly T[], act: Promise<void>, nameOf: (part: T) => string) => {
    const told = await refusedOf(some, act);
    refused.push(...told.map(({ part, why, said }) => ({ name: nameOf(part), why: oneLine(why), said: said ?? null })));
  };
  if (foreign.length)
    await apart(foreign, driver.applyGroups(zone, [], [...stored.values()], foreign), id => groupName(zone.name, id));
  for (let from = 0; from < strange.length; from += driver.can.namesMost) {
    const some = strange.slice(from, from + driver.can.namesMost);
    await apart(
      some.map(one => one.label),
      driver.applyNames(zone, some),
      label => siteName(zone.name, label),
    );
  }
  return refused;
}
