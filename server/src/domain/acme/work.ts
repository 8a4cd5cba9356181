/**
 * The task that orders certificates for domains of one site at one authority (contract: autoSSL). Orders go on side by side, none waits for
 * another: `prepare` asks the authority one question for each, a step writes down what it said. What an authority is answered stands on
 * nodes as a document, and it is asked to look once they have said so.
 */
import { sql } from 'kysely';
import { autoSSL } from '#contract/domain/auto-certificates.ts';
import { Fail } from '#contract/errors.ts';
import { acmeLimits } from '#contract/limits.ts';
import { sentence, stored, taskWork } from '../../kit/task.ts';
import { row, rows } from '../../store/db.ts';
import { noteLimit, noteTaken, waitsOf } from './limits.ts';
import type { Ordering, Phase, Said } from './orders.ts';
import { issue, type Known, noteFailure, postpone, resume, turnTo } from './outcome.ts';
import { accountOf, authorityNames, operatorOf, secondOf } from './providers.ts';
import { saidOf } from './questions.ts';
import { renewalsOf, sayWhy } from './renewal.ts';
import { hasAccount, leaveRecords, noteGone, notePlace, soon } from './records.ts';
import {
  type Cursor,
  forget,
  forgetAnswer,
  type Given,
  leave,
  noteOrder,
  orderMinutes,
  ownKey,
  spread,
  takePlace,
} from './standing.ts';

/** What is asked of a DNS provider or of name servers, and how long a step waits for it: it goes on beside the others. */
const providerPhases: ReadonlySet<Phase> = new Set<Phase>(['place', 'put', 'look', 'clean']);
const providerMs = 400;
/** Between two looks at what nodes or the authority have to do. */
const lookMs = 1000;
export const autoSSLWork = taskWork<typeof autoSSL, Cursor, Said[]>({
  kind: autoSSL,

  async prepare({ services, taskID, input, cursor, signal }) {
    const due = (cursor?.active ?? []).filter(({ phase, skip }) => phase !== 'spread' && skip === 0);
    if (cursor?.accountID === undefined || !due.length || signal.aborted) return [];
    const { accountID } = cursor;
    const atProvider = due.filter(({ phase }) => providerPhases.has(phase));
    const asked = due.filter(one => !atProvider.includes(one));
    const [said, found] = await Promise.all([
      saidOf({ services, taskID, accountID, signal }, asked),
      Promise.all(atProvider.map(one => soon(services, input.siteID, one, providerMs))),
    ]);
    return [...said, ...found.flatMap(one => one ?? [])];
  },

  async step(given) {
    const { ctx, input, prepared } = given;
    const ids = [...new Set(input.domainIDs)];
    const all: Cursor = given.cursor ?? { left: ids, failed: [], active: [], total: ids.length };
    const now = (await row<{ at: number }>(ctx.db, sql`select extract(epoch from clock_timestamp())::float8 as at`))!.at;
    // steps may follow each other at once: what waits, waits for seconds
    const isSecond = all.at === undefined || now < all.at || now - all.at >= (lookMs / 1000) * 0.9;
    const said = new Map((prepared ?? []).map(one => [one.domainID, one]));
    const cursor: Cursor = { ...all, active: [], left: [...all.left], failed: [...all.failed], at: isSecond ? now : all.at! };
    if (cursor.left.length) await claim(given, cursor);
    const known = await knownOf(given, [...cursor.left, ...all.active.map(({ domainID }) => domainID)]);
    // who no longer wants one is left out
    cursor.left = cursor.left.filter(id => known.has(id));
    for (const one of all.active) {
      const domain = known.get(one.domainID);
      // what became of it is said already: what was put somewhere is to go
      const isOver = one.phase === 'clean';
      if (!domain && !isOver) await leave(given, one.domainID);
      const next =
        domain && !isOver
          ? await goOn(given, domain, one, said.get(one.domainID), cursor, isSecond)
          : isOver && (await clean(given, one, said.get(one.domainID), isSecond));
      if (next) cursor.active.push(next);
    }
    if (isSecond) await spread(given, cursor.active);
    if (cursor.left.length) await begin(given, cursor, known);
    const { left, active, failed, total } = cursor;
    // whoever is not asked for time goes on at once
    const was = new Map(all.active.map(({ domainID, phase }) => [domainID, phase]));
    const isReady = active.some(({ domainID, phase, skip }) => phase !== 'spread' && skip === 0 && was.get(domainID) !== phase);
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

/** Those of the domains that still want one, of this authority and from this task. */
async function knownOf({ ctx, input, taskID }: Given, ids: readonly number[]): Promise<Map<number, Known>> {
  const found = await rows<Known>(
    ctx.db,
    sql`select a.id, d.id as "domainID", d."domainName" as host, a.attempts, a.limits, a."certificateID", a.way,
          a.instead is null and coalesce(a."insteadAt", '-infinity') < clock_timestamp() - interval '1 hour' as "mayTurn" from "autoCertificate" a
        ${wishing(input.siteID)} where a."deletedAt" is null and a."taskID" = ${taskID} and coalesce(a.instead, a.provider) = ${input.provider} and d.id = any(${ids})`,
  );
  return new Map(found.map(one => [one.domainID, one]));
}
const wishing = (siteID: number) =>
  sql`join domain d on d.id = a."domainID" and d."siteID" = ${siteID} and d."autoSSL" and d.status = 1 and d."deletedAt" is null`;

/**
 * What a task was given is its own. Of one that somebody has tried again it no longer is: what another has stays there, what has its certificate
 * needs none, and what was tried a moment ago is left to its time.
 */
async function claim({ ctx, input, taskID, say }: Given, cursor: Cursor): Promise<void> {
  const free = await rows<{ domainID: number; seconds: number; isDue: boolean }>(
    ctx.db,
    sql`select d.id as "domainID", greatest(0, extract(epoch from a."nextAt" - clock_timestamp()))::float8 as seconds,
          coalesce(a."nextAt", '-infinity') <= clock_timestamp()
            or a.state = 'fail' and a."updatedAt" < clock_timestamp() - ${acmeLimits.triedMinutes} * interval '1 minute' as "isDue"
        from "autoCertificate" a ${wishing(input.siteID)}
        left join task k on k.id = a."taskID" and k."endedAt" is null
        where a."deletedAt" is null and k.id is null and a.state <> 'success' and coalesce(a.instead, a.provider) = ${input.provider} and d.id = any(${cursor.left})
        for update of a`,
  );
  if (!free.length) return;
  const mine = free.filter(one => one.isDue).map(one => one.domainID);
  await sql`update "autoCertificate" set "taskID" = ${taskID}, state = 'processing', "nextAt" = clock_timestamp() + interval '1 hour'
    where "domainID" = any(${mine}) and "deletedAt" is null`.execute(ctx.db);
  const early = free.filter(one => !one.isDue);
  if (!early.length) return;
  cursor.failed.push(...early.map(one => one.domainID));
  const minutes = Math.ceil(Math.max(...early.map(one => one.seconds)) / 60);
  say('limited', { count: early.length, minutes }, { level: 'warn' });
}

/** The same, in a savepoint: what cannot be kept of one keeps nobody else from theirs. */
async function goOn(
  given: Given,
  domain: Known,
  one: Ordering,
  said: Said | undefined,
  cursor: Cursor,
  isSecond: boolean,
): Promise<Ordering | undefined> {
  const { ctx, say } = given;
  if (!said) return { ...one, skip: Math.max(0, one.skip - (isSecond ? 1 : 0)) };
  let next: Ordering | undefined;
  const failure = await ctx.attempt(async () => {
    try {
      next = await take(given, domain, one, said, cursor);
    } catch (error) {
      // SQLSTATE 22: something in it is no value to PostgreSQL
      if (error instanceof Error && 'code' in error && String(error.code).startsWith('22'))
        throw new Fail('unknown', { cause: error });
      throw error;
    }
  });
  if (!failure) return next;
  await forget(given, one.domainID);
  if (!cursor.failed.includes(one.domainID)) cursor.failed.push(one.domainID);
  say('notTaken', { host: one.host, minutes: await noteFailure(ctx, domain, reasonOf(failure)) }, { failure });
  return undefined;
}

/** As the operator reads it in a list, beside an authority's own words. */
const reasonOf = (failure: Fail): string => sentence(stored(failure), 'en_US') ?? failure.message;

/** What the authority said of one; answers how it goes on, undefined: it has come to its end. */
async function take(given: Given, domain: Known, one: Ordering, said: Said, cursor: Cursor): Promise<Ordering | undefined> {
  const { ctx, say } = given;
  const { host } = one;
  if ('next' in said) {
    const now: Ordering = { ...one, skip: 0, troubles: 0, tries: 0, ...said.next };
    if (said.next.phase !== undefined && said.next.phase !== one.phase) now.looks = said.next.looks ?? 0;
    if (one.phase === 'order' && now.phase !== 'order') {
      await noteOrder(given, domain, now, said.proof);
      await noteTaken(ctx, cursor.accountID!);
    }
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
  if ('gone' in said) return undefined;
  // HTTP did not do, and something else may
  if ('why' in said && said.unproven && one.way !== 'dns' && (await hasAccount(ctx.db, given.input.siteID))) {
    await forgetAnswer(ctx, one.domainID);
    say('byDNS', { host, why: said.why }, { level: 'warn' });
    const { domainID, replaces } = one;
    return { domainID, host, phase: 'order', way: 'dns', looks: 0, skip: 0, httpWhy: said.why, ...(replaces && { replaces }) };
  }
  // whatever became of it, what was put somewhere is taken away
  const rest: Ordering | undefined = one.place && { ...one, phase: 'clean', looks: 0, skip: 0, tries: 0 };
  if (one.value !== undefined && !rest) await noteGone(ctx.db, one.domainID, one.value);
  if ('pem' in said) {
    const key = await ownKey(given, one.domainID);
    await forget(given, one.domainID);
    const failure = await ctx.attempt(async () => {
      if (!key) throw new Fail('unknown');
      say('issued', { host, until: await issue(ctx, given.input, domain, said.pem, key, one.way ?? 'http') });
    });
    if (!failure) return rest;
    say('notTaken', { host, minutes: await noteFailure(ctx, domain, reasonOf(failure)) }, { failure });
    cursor.failed.push(one.domainID);
    return rest;
  }
  await forget(given, one.domainID);
  cursor.failed.push(one.domainID);
  const second = said.other && domain.mayTurn ? await secondOf(ctx, given.input) : undefined;
  if (second) {
    // for when the first is asked again
    if (said.limit) await noteLimit(ctx, cursor.accountID!, domain, said.limit);
    await turnTo(ctx, domain, second, said.detail ?? said.why);
    say('otherAuthority', { host, why: said.why, authority: authorityNames[second] }, { level: 'warn' });
    return rest;
  }
  if (said.limit) {
    const seconds = await noteLimit(ctx, cursor.accountID!, domain, said.limit);
    await postpone(ctx, [domain], seconds, { why: said.detail ?? said.why, isOwn: said.limit.name !== null });
    say('limited', { count: 1, minutes: Math.ceil(seconds / 60) }, { level: 'warn' });
    return rest;
  }
  // nobody meant this name to be proven by DNS: what HTTP lacked is what helps
  const told = (why: string) => (one.httpWhy === undefined ? why : `${one.httpWhy} (by DNS: ${why})`);
  const minutes = await noteFailure(ctx, domain, told(said.detail ?? said.why));
  say('notIssued', { host, why: told(said.why), minutes }, { level: 'warn' });
  return rest;
}

/** What was put somewhere for it goes; what cannot go now is taken away beside the task. */
async function clean(
  { ctx, say }: Given,
  one: Ordering,
  said: Said | undefined,
  isSecond: boolean,
): Promise<Ordering | undefined> {
  if (!said || !('gone' in said)) return { ...one, skip: Math.max(0, one.skip - (isSecond ? 1 : 0)) };
  const { host, domainID } = one;
  if (said.gone) {
    say('recordGone', { host });
    await noteGone(ctx.db, domainID, one.value!);
  } else {
    say('recordLeft', { host, why: said.why ?? '' }, { level: 'warn' });
    await leaveRecords(ctx.db, domainID, 60);
  }
  return undefined;
}

/** As many further ones as the authority takes from us at once. */
async function begin(given: Given, cursor: Cursor, known: Map<number, Known>): Promise<void> {
  const { ctx, say, input } = given;
  if (cursor.accountID === undefined) {
    const failure = await ctx.attempt(async () => {
      cursor.accountID = await accountOf(ctx, (await operatorOf(ctx.db, input.siteID))!, input.provider);
    });
    if (failure) return refuseAll(given, cursor, known, failure);
  }
  // what is there already is shown, not ordered
  const there = await resume(
    ctx,
    input.siteID,
    cursor.left.map(id => known.get(id)!),
  );
  for (const [id, until] of there) say('issued', { host: known.get(id)!.host, until });
  cursor.left = cursor.left.filter(id => !there.has(id));
  if (!cursor.left.length) return;
  const accountID = cursor.accountID!;
  const account = (await row<{ wait: number | null; open: number }>(
    ctx.db,
    sql`with mine as (select id, "notBefore" from "acmeAccount" where id = ${accountID} for no key update)
        select extract(epoch from m."notBefore" - clock_timestamp())::float8 as wait,
          (select count(*) from "autoCertificate" a where a."accountID" = m.id and a."orderUntil" > clock_timestamp()) as open from mine m`,
  ))!;
  const left = cursor.left.map(id => known.get(id)!);
  const waits = await waitsOf(ctx, accountID, left);
  const wait = account.wait ?? 0;
  if (wait > 0) for (const { domainID } of left) waits.set(domainID, Math.max(wait, waits.get(domainID) ?? 0));
  if (waits.size) {
    cursor.failed.push(...waits.keys());
    cursor.left = cursor.left.filter(id => !waits.has(id));
    const second = await secondOf(ctx, input);
    for (const one of left) {
      const seconds = waits.get(one.domainID);
      if (seconds === undefined) continue;
      if (!second || !one.mayTurn) await postpone(ctx, [one], seconds);
      else {
        waits.delete(one.domainID);
        const why = `the authority takes no order for ${Math.ceil(seconds / 60)} min`;
        await turnTo(ctx, one, second, why);
        say('otherAuthority', { host: one.host, why, authority: authorityNames[second] }, { level: 'warn' });
      }
    }
  }
  if (waits.size) say('limited', { count: waits.size, minutes: Math.ceil(Math.max(...waits.values()) / 60) }, { level: 'warn' });
  const taken = cursor.left.splice(0, Math.max(0, acmeLimits.ordersAtOnce - account.open));
  if (!taken.length) return;
  await sql`update "autoCertificate" set "accountID" = ${accountID}, state = 'processing',
      "orderUntil" = clock_timestamp() + ${orderMinutes} * interval '1 minute'
    where "domainID" = any(${taken}) and "deletedAt" is null`.execute(ctx.db);
  const renewals = await renewalsOf(ctx, taken);
  for (const id of taken) {
    const { host, way } = known.get(id)!;
    const renewal = renewals.get(id);
    if (renewal) sayWhy(given, host, renewal);
    // another authority knows nothing of it
    const replaces = renewal?.provider === input.provider ? renewal.replaces : undefined;
    cursor.active.push({ domainID: id, host, phase: 'order', way, looks: 0, skip: 0, ...(replaces && { replaces }) });
  }
}

/** There is no account at that authority, and none can be had: what it needs was taken away. */
async function refuseAll({ ctx, say }: Given, cursor: Cursor, known: Map<number, Known>, failure: Fail): Promise<void> {
  for (const id of cursor.left) {
    const one = known.get(id)!;
    say('notTaken', { host: one.host, minutes: await noteFailure(ctx, one, reasonOf(failure)) }, { failure });
  }
  cursor.failed.push(...cursor.left);
  cursor.left = [];
}
