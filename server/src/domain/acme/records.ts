/**
 * The record that proves a name to an authority (DNS-01): where it belongs, that it is put there, seen by all, and taken away. It is noted
 * before it is put anywhere (`acmeRecord`), so whoever dies leaves none behind; what cannot be taken away now is tried on, for days.
 */
import { sql } from 'kysely';
import { acmeLimits } from '#contract/limits.ts';
import type { Services } from '../../kit/services.ts';
import { type Db, row, rows } from '../../store/db.ts';
import { originPolicy } from '../../system/origins.ts';
import { accountsOf, accountsWhere, driverOf, troubleOf, zonesOf } from '../dns/accounts.ts';
import { DnsProblem, type Place, problemOf } from '../dns/driver.ts';
import { leadsTo, unseen } from '../dns/seen.ts';
import type { Ordering, Said } from './orders.ts';

export const recordName = (host: string) => `_acme-challenge.${host.replace(/^\*\./, '')}`;

/** What is asked of the provider, or of name servers, next. */
export async function askDNS(services: Services, siteID: number, one: Ordering): Promise<Said> {
  const { domainID } = one;
  try {
    switch (one.phase) {
      case 'place':
        return await placeOf(services, siteID, one);
      case 'put': {
        const { driver, place } = await opened(services, one.place!);
        await driver.put({ name: place.zone, id: place.zoneID }, place.name, one.value!);
        return { domainID, next: { phase: 'look' } };
      }
      case 'look':
        return await look(services, siteID, one);
      default: {
        await takeAway(services, one.place!, one.value!);
        return { domainID, gone: true };
      }
    }
  } catch (error) {
    const { trouble, why, retrySeconds } = troubleOf(error);
    if (one.phase === 'clean') return { domainID, gone: false, why };
    const tries = one.tries ?? 0;
    if ((trouble === 'limited' || trouble === 'away') && tries + 1 < acmeLimits.dnsTries)
      return { domainID, later: { why, seconds: Math.min(retrySeconds ?? 2 ** tries, 60) } };
    return { domainID, why };
  }
}

/** The first account that has the name's zone; one that cannot be asked keeps nobody from the others. */
async function placeOf(services: Services, siteID: number, { domainID, host }: Ordering): Promise<Said> {
  const { db } = services.database;
  const looking = { policy: await originPolicy(db, siteID), resolvers: services.dns?.resolvers ?? [] };
  const name = await leadsTo(recordName(host), looking);
  let failure: unknown;
  const accounts = await accountsOf(db, siteID);
  for (const account of accounts)
    try {
      const zone = (await zonesOf(services, account, [name])).get(name);
      if (zone?.off !== undefined) failure ??= problemOf('refused', zone.off);
      else if (zone) return { domainID, place: { dnsID: account.id, zone: zone.name, zoneID: zone.id, name } };
    } catch (error) {
      failure ??= error;
    }
  if (failure !== undefined) throw failure;
  const why = accounts.length ? `no DNS account of the site has a zone for ${name}` : 'the site has no DNS account';
  return { domainID, why };
}

async function look(services: Services, siteID: number, { domainID, place, value, looks }: Ordering): Promise<Said> {
  const policy = await originPolicy(services.database.db, siteID);
  const lacks = await unseen(place!.zone, place!.name, value!, { policy, resolvers: services.dns?.resolvers ?? [] });
  if (lacks === undefined) return { domainID, next: { phase: 'accept' } };
  if (looks >= acmeLimits.seenLooks) return { domainID, why: `the record ${place!.name} is not seen: ${lacks}` };
  // every second at first, every fifth after half a minute
  return { domainID, next: { looks: looks + 1, skip: looks < 30 ? 0 : 4 } };
}

async function opened(services: Services, place: Place) {
  // one that was removed meanwhile is still good for taking away
  const [account] = await accountsWhere(services.database.db, sql`id = ${place.dnsID}`);
  if (!account) throw new DnsProblem('refused', 'the DNS account is gone');
  return { driver: await driverOf(services, account), place };
}
async function takeAway(services: Services, place: Place, value: string): Promise<void> {
  const { driver } = await opened(services, place);
  await driver.take({ name: place.zone, id: place.zoneID }, place.name, value);
}

const asked = new Map<string, Promise<Said>>();
const askedMost = 2000;
/**
 * Waits so long and no longer: a provider that takes its time holds up no other name. What it says is there at a later step; whoever dies
 * meanwhile asks it anew.
 */
export async function soon(services: Services, siteID: number, one: Ordering, ms: number): Promise<Said | undefined> {
  const key = `${one.domainID} ${one.phase} ${one.value} ${one.looks} ${one.tries ?? 0}`;
  let question = asked.get(key);
  if (!question) {
    question = askDNS(services, siteID, one);
    question.catch(() => {});
    asked.set(key, question);
    if (asked.size > askedMost) asked.delete(asked.keys().next().value!);
  }
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>(done => (timer = setTimeout(() => done(undefined), ms)));
  try {
    const said = await Promise.race([question, late]);
    if (said) asked.delete(key);
    return said;
  } catch (error) {
    asked.delete(key);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** How it is noted. */
export async function noteRecord(db: Db, domainID: number, host: string, value: string): Promise<void> {
  await sql`insert into "acmeRecord" ("domainID", name, value) values (${domainID}, ${recordName(host)}, ${value})
    on conflict ("domainID", value) do nothing`.execute(db);
}
export async function notePlace(db: Db, domainID: number, value: string, { dnsID, zone, zoneID, name }: Place): Promise<void> {
  await sql`update "acmeRecord" set "dnsID" = ${dnsID}, zone = ${zone}, "zoneID" = ${zoneID}, target = ${name}
    where "domainID" = ${domainID} and value = ${value}`.execute(db);
}
export async function noteGone(db: Db, domainID: number, value: string): Promise<void> {
  await sql`delete from "acmeRecord" where "domainID" = ${domainID} and value = ${value}`.execute(db);
  await emptyAccounts(db);
}
/** Whoever looks after what was left takes it away (takeAwayDue). @param seconds from now */
export async function leaveRecords(db: Db, domainID: number, seconds: number): Promise<void> {
  await sql`update "acmeRecord" set "removeAt" = clock_timestamp() + ${seconds} * interval '1 second'
    where "domainID" = ${domainID}`.execute(db);
}

/** Accounts that were removed keep their credentials while something of ours is to be taken away, and no longer. */
const emptyAccounts = (db: Db) =>
  sql`update "siteDNS" n set credentials = null where n."deletedAt" is not null and n.credentials is not null
    and not exists (select from "acmeRecord" r where r."dnsID" = n.id)`.execute(db);

const dueMost = 20;
const keptDays = 7;
/** For one record: the others, and the end of the program, wait for it. */
const takeMs = 20_000;
interface Left extends Place {
  id: number;
  siteID: number;
  value: string;
  attempts: number;
  isOld: boolean;
}
/** Takes away what tasks left: they were cancelled, the provider was down. `gone`: how many; `abandoned`: those that stay where they are. */
export async function takeAwayDue(
  db: Db,
  services: Services,
): Promise<{ gone: number; abandoned: { siteID: number; name: string; why: string }[] }> {
  const abandoned: { siteID: number; name: string; why: string }[] = [];
  // whoever looks meanwhile finds others
  const due = await rows<Left>(
    db,
    sql`update "acmeRecord" r set attempts = r.attempts + 1,
          "removeAt" = clock_timestamp() + least(power(2, r.attempts), 60) * interval '1 minute'
        from domain d where d.id = r."domainID" and r.id in (select id from "acmeRecord" where "removeAt" <= clock_timestamp()
          order by "removeAt" limit ${dueMost} for update skip locked)
        returning r.id, d."siteID", r."dnsID", r.zone, r."zoneID", r.target as name, r.value, r.attempts,
          r."createdAt" < now() - ${keptDays} * interval '1 day' as "isOld"`,
  );
  const done = await Promise.all(
    due.map(async one => {
      if (one.dnsID === null) return one.id;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, failed) => {
        timer = setTimeout(() => failed(new DnsProblem('away', 'the provider did not answer in time')), takeMs);
      });
      try {
        await Promise.race([takeAway(services, one, one.value), late]);
        return one.id;
      } catch (error) {
        // whatever it was: one record keeps no other from going
        const why = (error instanceof Error ? error.message : String(error)).slice(0, 300);
        if (!one.isOld) return undefined;
        abandoned.push({ siteID: one.siteID, name: one.name, why });
        return one.id;
      } finally {
        clearTimeout(timer);
      }
    }),
  );
  const gone = done.flatMap(id => id ?? []);
  if (gone.length) {
    await sql`delete from "acmeRecord" where id = any(${gone})`.execute(db);
    await emptyAccounts(db);
  }
  return { gone: gone.length - abandoned.length, abandoned };
}

/** Whether a name that HTTP did not prove may be by DNS. */
export const hasAccount = async (db: Db, siteID: number): Promise<boolean> =>
  (await row(db, sql`select 1 from "siteDNS" where "siteID" = ${siteID} and "deletedAt" is null limit 1`)) !== undefined;
