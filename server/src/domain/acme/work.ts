/**
 * The task that orders certificates for domains of one site at one authority (contract: autoSSL). Orders go on side by side, none waits for
 * another: `prepare` asks the authority one question for each, a step writes down what it said. What an authority is answered stands on
 * nodes as a document, and it is asked to look once they have said so.
 */
import { sql } from 'kysely';
import { autoSSL } from '#contract/domain/auto-certificates.ts';
import type { Fail } from '#contract/errors.ts';
import { acmeLimits } from '#contract/limits.ts';
import type { Context } from '../../kit/context.ts';
import { type Step, taskWork } from '../../kit/task.ts';
import { type Db, row, rows } from '../../store/db.ts';
import { issue, type Known, noteFailure, postpone } from './outcome.ts';
import { ask, type Ordering, type Phase, problemOf, type Said } from './orders.ts';
import { hasAccount, leaveRecords, noteGone, notePlace, noteRecord, soon } from './records.ts';
import { accountOf, clientOf, newKey, openKey, operatorOf, sealKey } from './providers.ts';

interface Cursor {
  left: number[];
  failed: number[];
  active: Ordering[];
  total: number;
  accountID: number;
}
type Given = Step<typeof autoSSL, Cursor, Said[]>;

/** What is asked of a DNS provider or of name servers, and how long a step waits for it: it goes on beside the others. */
const providerPhases: ReadonlySet<Phase> = new Set<Phase>(['place', 'put', 'look', 'clean']);
const providerMs = 1000;
/** Between two looks at what nodes or the authority have to do. */
const lookMs = 1000;
/** Of an order that nobody goes on with: its place at the authority is another's again. */
const orderMinutes = 15;

export const autoSSLWork = taskWork<typeof autoSSL, Cursor, Said[]>({
  kind: autoSSL,

  async prepare({ services, input, cursor, signal }) {
    const due = (cursor?.active ?? []).filter(({ phase, skip }) => phase !== 'spread' && skip === 0);
    if (!cursor || !due.length || signal.aborted) return [];
    const { db } = services.database;
    const atProvider = due.filter(({ phase }) => providerPhases.has(phase));
    const byDNS = Promise.all(atProvider.map(one => soon(services, input.siteID, one, providerMs)));
    // it is waited for after the authority, whichever is first
    byDNS.catch(() => {});
    const asked = due.filter(one => !atProvider.includes(one));
    const there = async () => (await byDNS).flatMap(said => said ?? []);
    if (!asked.length) return there();
    try {
      const acme = await clientOf(services, cursor.accountID);
      const keyOf = async (domainID: number) => {
        const found = await row<{ key: string }>(
          db,
          sql`select "privateKey" as key from "acmeOrder" where "domainID" = ${domainID}`,
        );
        return found && openKey(services, 'acmeOrder', found.key);
      };
      return [...(await Promise.all(asked.map(one => ask(acme, one, keyOf)))), ...(await there())];
    } catch (error) {
      // neither its directory nor our account could be had: so it is for all of them
      return [...asked.map(({ domainID }) => problemOf(domainID, error)), ...(await there())];
    }
  },

  async step(given) {
    const { ctx, input, prepared } = given;
    const clientID = (await operatorOf(ctx.db, input.siteID))!;
    const all: Cursor = given.cursor ?? {
      left: [...new Set(input.domainIDs)],
      failed: [],
      active: [],
      total: new Set(input.domainIDs).size,
      accountID: await accountOf(ctx, clientID, input.provider),
    };
    const said = new Map((prepared ?? []).map(one => [one.domainID, one]));
    const cursor: Cursor = { ...all, active: [], left: [...all.left], failed: [...all.failed] };
    const known = await knownOf(ctx.db, input.siteID, [...all.left, ...all.active.map(({ domainID }) => domainID)]);
    for (const one of all.active) {
      const domain = known.get(one.domainID);
      if (!domain) await drop(ctx, one.domainID);
      const now = domain && (await goOn(given, domain, one, said.get(one.domainID), cursor));
      if (now) cursor.active.push(now);
    }
    await spread(given, cursor.active);
    await begin(given, cursor, known);
    const { left, active, failed, total } = cursor;
    // whoever is not asked for time goes on at once
    const isReady = active.some(({ phase, skip, looks }) => phase !== 'spread' && skip === 0 && looks === 0);
    return {
      cursor,
      total,
      done: total - left.length - active.length,
      failed: failed.length,
      isEnd: left.length + active.length === 0,
      ...(isReady ? {} : { againMs: lookMs }),
    };
  },
});

/** Those of the domains that still want one. */
async function knownOf(db: Db, siteID: number, ids: readonly number[]): Promise<Map<number, Known>> {
  const found = await rows<Known>(
    db,
    sql`select a.id, d.id as "domainID", d."domainName" as host, a.attempts, a."certificateID", a.way from "autoCertificate" a
        join domain d on d.id = a."domainID" and d."siteID" = ${siteID} and d."autoSSL" and d.status = 1 and d."deletedAt" is null
        where a."deletedAt" is null and d.id = any(${ids})`,
  );
  return new Map(found.map(one => [one.domainID, one]));
}

/** What the authority said of one; answers how it goes on, undefined: it has come to its end. */
async function goOn(
  given: Given,
  domain: Known,
  one: Ordering,
  said: Said | undefined,
  cursor: Cursor,
): Promise<Ordering | undefined> {
  const { ctx, say } = given;
  const { host } = one;
  if (!said) return { ...one, skip: Math.max(0, one.skip - 1) };
  if ('next' in said) {
    const now: Ordering = { ...one, skip: 0, tries: 0, ...said.next };
    if (said.next.phase !== undefined && said.next.phase !== one.phase) now.looks = said.next.looks ?? 0;
    if (one.phase === 'order') await noteOrder(given, domain, now, said.proof);
    if (now.phase === 'look' && one.phase === 'put') say('recordPut', { host, name: one.place!.name, zone: one.place!.zone });
    // the authority has nothing to do meanwhile: the place among its orders is another's
    if (now.phase === 'place') await takePlace(ctx, one.domainID, 0);
    if (one.phase === 'look' && now.phase === 'accept') {
      say('recordSeen', { host });
      await takePlace(ctx, one.domainID, orderMinutes);
    }
    if (one.phase === 'validate' && now.phase === 'finalize') say('validated', { host });
    return now;
  }
  if ('place' in said) {
    await notePlace(ctx.db, one.domainID, one.value!, said.place);
    return { ...one, phase: 'put', place: said.place, tries: 0, looks: 0, skip: 0 };
  }
  if ('later' in said) {
    const { why, seconds } = said.later;
    say('recordLater', { host, why, seconds }, { level: 'warn' });
    return { ...one, tries: (one.tries ?? 0) + 1, skip: seconds };
  }
  if ('gone' in said) {
    if (said.gone) say('recordGone', { host });
    else say('recordLeft', { host, why: said.why ?? '' }, { level: 'warn' });
    if (said.gone) await noteGone(ctx.db, one.domainID, one.value!);
    else await leaveRecords(ctx.db, one.domainID, 60);
    return undefined;
  }
  // HTTP did not do, and something else may
  if ('why' in said && said.unproven && one.way !== 'dns' && (await hasAccount(ctx.db, given.input.siteID))) {
    await forgetAnswer(ctx, one.domainID);
    say('byDNS', { host, why: said.why }, { level: 'warn' });
    return { domainID: one.domainID, host, phase: 'order', way: 'dns', looks: 0, skip: 0, httpWhy: said.why };
  }
  await forget(ctx, one.domainID);
  // whatever became of it, what was put somewhere is taken away
  const rest: Ordering | undefined = one.place && { ...one, phase: 'clean', looks: 0, skip: 0, tries: 0 };
  if (one.value !== undefined && !rest) await noteGone(ctx.db, one.domainID, one.value);
  if ('pem' in said) {
    let failure: Fail | undefined;
    const key = await ownKey(ctx, one.domainID);
    if (key)
      failure = await ctx.attempt(async () =>
        say('issued', { host, until: await issue(ctx, given.input, domain, said.pem, key, one.way ?? 'http') }),
      );
    await sql`delete from "acmeOrder" where "domainID" = ${one.domainID}`.execute(ctx.db);
    if (failure) {
      say('notTaken', { host, minutes: await noteFailure(ctx, domain, failure.message) }, { failure });
      cursor.failed.push(one.domainID);
    }
    return rest;
  }
  await sql`delete from "acmeOrder" where "domainID" = ${one.domainID}`.execute(ctx.db);
  cursor.failed.push(one.domainID);
  if (said.limitSeconds !== undefined) {
    await sql`update "acmeAccount" set "notBefore" = clock_timestamp() + ${said.limitSeconds} * interval '1 second'
      where id = ${cursor.accountID}`.execute(ctx.db);
    await postpone(ctx, [domain], said.limitSeconds, said.why);
    say('limited', { count: 1, minutes: Math.ceil(said.limitSeconds / 60) }, { level: 'warn' });
    return rest;
  }
  // nobody meant this name to be proven by DNS: what HTTP lacked is what helps
  const why = one.httpWhy === undefined ? said.why : `${one.httpWhy} (by DNS: ${said.why})`;
  const minutes = await noteFailure(ctx, domain, why);
  say('notIssued', { host, why, minutes }, { level: 'warn' });
  return rest;
}

async function ownKey(ctx: Context, domainID: number) {
  const found = await row<{ key: string }>(
    ctx.db,
    sql`select "privateKey" as key from "acmeOrder" where "domainID" = ${domainID}`,
  );
  return found && openKey(ctx.services, 'acmeOrder', found.key);
}

/** There is an order: its key is kept, and what the authority is answered goes to the nodes. */
async function noteOrder(
  { ctx, say }: Given,
  { domainID, host }: Known,
  now: Ordering,
  proof: { token: string; answer: string } | undefined,
): Promise<void> {
  // one that was ordered before its key was written down is ordered for nothing
  await sql`insert into "acmeOrder" ("domainID", "privateKey") values (${domainID}, ${sealKey(ctx.services, 'acmeOrder', newKey())})
    on conflict ("domainID") do update set "privateKey" = excluded."privateKey"`.execute(ctx.db);
  say('ordered', { host });
  if (now.value !== undefined) await noteRecord(ctx.db, domainID, host, now.value);
  if (!proof) return;
  await sql`delete from "acmeChallenge" where "domainID" = ${domainID}`.execute(ctx.db);
  await sql`insert into "acmeChallenge" ("domainID", token, answer) values (${domainID}, ${proof.token}, ${proof.answer})`.execute(
    ctx.db,
  );
  ctx.touch('challenge', domainID);
  now.looks = 0;
}

/** Nobody is to be answered any more, and its place at the authority is another's. */
async function forget(ctx: Context, domainID: number): Promise<void> {
  await forgetAnswer(ctx, domainID);
  await sql`update "autoCertificate" set "orderUntil" = null, "accountID" = null where "domainID" = ${domainID}`.execute(ctx.db);
}

async function forgetAnswer(ctx: Context, domainID: number): Promise<void> {
  const gone = await rows(ctx.db, sql`delete from "acmeChallenge" where "domainID" = ${domainID} returning id`);
  if (gone.length) ctx.touch('challenge', domainID);
}

/** Among the orders that wait for the authority, for so long; 0: no longer. */
async function takePlace(ctx: Context, domainID: number, minutes: number): Promise<void> {
  await sql`update "autoCertificate" set "orderUntil" = ${minutes ? sql`clock_timestamp() + ${minutes} * interval '1 minute'` : null}
    where "domainID" = ${domainID} and "deletedAt" is null`.execute(ctx.db);
}

/** Its domain wants none any more. */
async function drop(ctx: Context, domainID: number): Promise<void> {
  await forget(ctx, domainID);
  await leaveRecords(ctx.db, domainID, 0);
}

/** Answers that all live nodes of the zone have, or that were waited for long enough: the authority may look. */
async function spread({ ctx, input: { siteID }, say }: Given, active: Ordering[]): Promise<void> {
  const waiting = active.filter(({ phase }) => phase === 'spread');
  if (!waiting.length) return;
  const state = (await row<{ revision: number; served: (number | null)[] }>(
    ctx.db,
    sql`select s.revision, coalesce((select jsonb_agg(k.revision) from node n left join ack k on k."nodeID" = n.id and k."siteID" = s.id
          where n."zoneID" = g."zoneID" and n."deletedAt" is null and n.status in ('normal', 'error', 'unknown', 'reconnect')), '[]') as served
        from site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID" where s.id = ${siteID}`,
  ))!;
  for (const one of waiting) {
    // the first look comes after the transaction that published it
    const revision = (one.revision ??= one.looks === 0 ? undefined : state.revision)!;
    const nodes = revision === undefined ? 0 : state.served.filter(served => served !== null && served >= revision).length;
    const total = state.served.length;
    if (revision !== undefined && nodes === total && total > 0) say('spread', { host: one.host, nodes });
    else if (one.looks >= acmeLimits.spreadSeconds) say('spreadPartly', { host: one.host, nodes, total }, { level: 'warn' });
    else {
      one.looks++;
      continue;
    }
    one.phase = 'accept';
    one.looks = 0;
  }
}

/** As many further ones as the authority takes from us at once. */
async function begin({ ctx, say }: Given, cursor: Cursor, known: Map<number, Known>): Promise<void> {
  // who no longer wants one is left out
  cursor.left = cursor.left.filter(id => known.has(id));
  if (!cursor.left.length) return;
  const { accountID } = cursor;
  const account = (await row<{ wait: number | null; open: number }>(
    ctx.db,
    sql`with mine as (select id, "notBefore" from "acmeAccount" where id = ${accountID} for no key update)
        select extract(epoch from m."notBefore" - clock_timestamp())::float8 as wait,
          (select count(*) from "autoCertificate" a where a."accountID" = m.id and a."orderUntil" > clock_timestamp()) as open from mine m`,
  ))!;
  const wait = account.wait ?? 0;
  if (wait > 0) {
    const all = cursor.left.map(id => known.get(id)!);
    await postpone(ctx, all, wait);
    say('limited', { count: all.length, minutes: Math.ceil(wait / 60) }, { level: 'warn' });
    cursor.failed.push(...cursor.left);
    cursor.left = [];
    return;
  }
  const taken = cursor.left.splice(0, Math.max(0, acmeLimits.ordersAtOnce - account.open));
  if (!taken.length) return;
  await sql`update "autoCertificate" set "accountID" = ${accountID}, state = 'processing',
      "orderUntil" = clock_timestamp() + ${orderMinutes} * interval '1 minute'
    where "domainID" = any(${taken}) and "deletedAt" is null`.execute(ctx.db);
  cursor.active.push(
    ...taken.map(id => {
      const { host, way } = known.get(id)!;
      return { domainID: id, host, phase: 'order' as const, way, looks: 0, skip: 0 };
    }),
  );
}
