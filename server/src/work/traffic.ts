/**
 * Counts what customers used of each product, by months of their operator, and sees to it that what follows from it is so. Once in the
 * installation, however many processes look: whoever holds an advisory lock. The month that is and the one before are counted anew each
 * time, as lines may come late, and any further one whose figures were not all there; what lies before stays as it was. What is counted
 * never gets less because the store has less (kit/traffic-kept.ts): it is what people are billed by.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { sql } from 'kysely';
import { audit, Context, publish, theHouse } from '../kit/context.ts';
import { newRequestID } from '../kit/ids.ts';
import { settleTraffic } from '../kit/traffic.ts';
import { type CountedLine, kept } from '../kit/traffic-kept.ts';
import { keepCalendar } from '../kit/traffic-months.ts';
import { customersOf, type Month, monthsToCount, storedOf, writeLines } from './traffic-lines.ts';
import { Rounds } from '../kit/rounds.ts';
import { Seldom } from '../kit/seldom.ts';
import type { Services } from '../kit/services.ts';
import { untangled } from '../kit/untangled.ts';
import { logger } from '../log.ts';
import { row, rows, type Sql } from '../store/db.ts';

const lookMs = 2000;
const countMs = 15_000;
/** Counting takes at most this share of the store's time: it waits so many times as long as it took. */
const waitTimes = 20;
/** Everybody is judged this often, whatever changed. */
const allMs = 600_000;
const lockMs = 500;
/** The lock of whoever leads is said to be wanted this often: PostgreSQL ends what stands idle for a minute. */
const leadMs = 10_000;
/** Customers that are judged in one transaction, at most: their operator's own calls wait so long. */
const judgedAtOnce = 200;
/** One operator is judged so long in one look, then it is another's turn. */
const judgingMs = 5000;
/** Customers that are counted in one piece. */
const countedAtOnce = 500;
/** Rows after which others have a turn. */
const turnRows = 5000;
/** Sites that were sold as something else meanwhile, of one question: each brings boundaries of its own. */
const changedAtOnce = 100;
const stepSeconds = 300;
const troubles = new Seldom(300_000);

/** Bytes of sites between boundaries (epoch seconds): analytics/usage.ts. */
export type BytesBetween = (
  siteIDs: readonly number[],
  boundaries: readonly number[],
) => Promise<readonly { siteID: number; from: number; bytes: number }[]>;

interface SoldSite {
  id: number;
  userID: number;
  isThere: boolean;
  /** the first one first; since: epoch seconds, on the grid of steps */
  sold: { productID: number; since: number }[];
}

export interface TrafficWatchOptions {
  /** the newest step that there are figures of, epoch seconds; left out: they are never behind */
  newest?: () => Promise<number>;
  lookMs?: number;
  countMs?: number;
}

export class TrafficWatch {
  readonly #services: Services;
  readonly #bytesBetween: BytesBetween | undefined;
  readonly #newest: () => Promise<number>;
  readonly #countMs: number;
  readonly #rounds: Rounds;
  /** begin of the month that each operator was judged in, and its clock */
  readonly #months = new Map<number, string>();
  /** customers that are to be judged, by operator */
  readonly #due = new Map<number, Set<number>>();
  /** how many of an operator are judged at once: fewer after it failed */
  readonly #atOnce = new Map<number, number>();
  /** when each operator's turn to be counted was */
  readonly #turnAt = new Map<number, number>();
  #countAt = -Infinity;
  #allAt = -Infinity;
  /** by the database's clock, text: up to when ends and begins of plans were seen */
  #seenAt: string | undefined;

  /** @param bytesBetween left out: there is no store of figures, and what was counted stays */
  constructor(services: Services, bytesBetween?: BytesBetween, options: TrafficWatchOptions = {}) {
    this.#services = services;
    this.#bytesBetween = bytesBetween;
    this.#newest = options.newest ?? (async () => Infinity);
    this.#countMs = options.countMs ?? countMs;
    this.#rounds = new Rounds({
      loop: 'traffic',
      everyMs: options.lookMs ?? lookMs,
      look: () => this.look(),
      failed: err => logger.warn({ err }, 'what customers used could not be counted'),
    });
  }

  start(): void {
    this.#rounds.start();
  }

  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  async look(): Promise<void> {
    const { db } = this.#services.database;
    await db.transaction().execute(async lead => {
      const mine = await row<{ ok: boolean }>(lead, sql`select pg_try_advisory_xact_lock(hashtextextended('traffic', 0)) as ok`);
      if (!mine!.ok) {
        // whoever leads knows what is due; a later turn begins anew
        this.#months.clear();
        return;
      }
      let lost: Error | undefined;
      const timer = setInterval(() => {
        sql`select 1`.execute(lead).catch((err: Error) => (lost = err));
      }, leadMs);
      try {
        await this.#lead(() => {
          if (lost) throw lost;
          return !this.#rounds.ending.aborted;
        });
      } finally {
        clearInterval(timer);
      }
    });
  }

  /** @param goesOn whether it may go on; throws when somebody else may lead by now */
  async #lead(goesOn: () => boolean): Promise<void> {
    const operators = await this.#turned();
    await this.#settleDue(goesOn);
    if (!this.#bytesBetween || performance.now() < this.#countAt) return;
    const startedAt = performance.now();
    const failed: unknown[] = [];
    try {
      // whoever waited longest is first: what broke off goes on with those it did not reach
      const waited = (id: number) => this.#turnAt.get(id) ?? -Infinity;
      for (const clientID of operators.toSorted((a, b) => waited(a) - waited(b) || a - b)) {
        if (!goesOn()) return;
        this.#turnAt.set(clientID, performance.now());
        // what cannot be told of one keeps nobody else from being counted
        const changed = await this.count(clientID).catch(error => void failed.push(error));
        if (changed?.length) this.#addDue(clientID, changed);
      }
      await this.#settleDue(goesOn);
    } finally {
      this.#countAt = performance.now() + Math.max(this.#countMs, waitTimes * (performance.now() - startedAt));
    }
    if (failed.length) throw failed[0];
  }

  #addDue(clientID: number, userIDs: Iterable<number>): void {
    const due = this.#due.get(clientID) ?? new Set();
    for (const userID of userIDs) due.add(userID);
    if (due.size) this.#due.set(clientID, due);
  }

  /** Operators there are; due are all customers of those whose month turned, and whose plan began or ended or whose site is sold as another product. */
  async #turned(): Promise<number[]> {
    const { db } = this.#services.database;
    const found = await rows<{ id: number; current: string }>(
      db,
      sql`select o.id, date_trunc('month', now() at time zone o.timezone)::text || o.timezone as current from account o
          where o.auth = 'client' and o."isRoot" and o."deletedAt" is null
            and (exists (select from site s where s."clientID" = o.id) or exists (select from "trafficMonth" t where t."clientID" = o.id)) order by o.id`,
    );
    if (performance.now() - this.#allAt > allMs) {
      this.#allAt = performance.now();
      this.#months.clear();
    }
    for (const { id, current } of found)
      if (this.#months.get(id) !== current) {
        this.#addDue(id, await customersOf(db, id, sql`s."deletedAt" is null`));
        this.#months.set(id, current);
      }
    const seenAt = sql`${this.#seenAt ?? 'infinity'}::timestamptz`;
    const { now } = (await row<{ now: string }>(db, sql`select now()::text as now`))!;
    const due = await rows<{ clientID: number; userID: number }>(
      db,
      sql`select "clientID", "userID" from "extraTrafficPlan" where "deletedAt" is null
            and ("endTime" > ${seenAt} and "endTime" <= ${now}::timestamptz or "startTime" > ${seenAt} and "startTime" <= ${now}::timestamptz)
          union select s."clientID", s."userID" from "siteProduct" x join site s on s.id = x."siteID" where x.since > ${seenAt}`,
    );
    for (const { clientID, userID } of due) this.#addDue(clientID, [userID]);
    this.#seenAt = now;
    return found.map(({ id }) => id);
  }

  async #settleDue(goesOn: () => boolean): Promise<void> {
    for (const [clientID, due] of [...this.#due]) {
      const until = performance.now() + judgingMs;
      let refused = 0;
      for (let left = due.size; left > 0 && refused < 2 && performance.now() < until;) {
        if (!goesOn()) return;
        const atOnce = this.#atOnce.get(clientID) ?? judgedAtOnce;
        const some = [...due.values().take(Math.min(left, atOnce))];
        left -= some.length;
        for (const userID of some) due.delete(userID);
        try {
          const missed = await this.#settle(clientID, some);
          refused = 0;
          this.#atOnce.set(clientID, Math.min(judgedAtOnce, atOnce * 2));
          for (const userID of missed) due.add(userID);
          if (missed.size) this.#warn(clientID, new Error('sites are held by somebody else'));
        } catch (err) {
          // somebody holds it: the next look tries again, fewer at once, these after the others
          refused++;
          this.#atOnce.set(clientID, Math.max(1, Math.floor(atOnce / 8)));
          for (const userID of some) due.add(userID);
          this.#warn(clientID, err as Error);
        }
        await turn();
      }
      if (!due.size) this.#due.delete(clientID);
    }
  }

  #warn(clientID: number, err: Error): void {
    if (troubles.isTime(`settle ${clientID}`)) logger.warn({ err, clientID }, 'what customers may use could not be judged');
  }

  /** In the operator's name: nobody acts, figures and the time do. Answers whose sites somebody else holds. */
  async #settle(clientID: number, userIDs: readonly number[]): Promise<ReadonlySet<number>> {
    const { database, sessions } = this.#services;
    return untangled(database.writes, async db => {
      const startedAt = performance.now();
      await sql`select set_config('lock_timeout', ${`${lockMs}ms`}, true)`.execute(db);
      const actor = await sessions.acting(db, clientID);
      if (!actor) return new Set<number>();
      const ctx = new Context({
        actor,
        db,
        language: actor.language,
        reqID: newRequestID(),
        ip: '',
        services: this.#services,
        holds: true,
      });
      await ctx.holdRoot();
      const { owners, missed } = await settleTraffic(ctx, clientID, { userIDs }, true);
      await publish(db, ctx.effects);
      for (const [userID, changes] of Map.groupBy(ctx.effects.changes, ({ id }) => owners.get(id)!))
        await audit(this.#services, db, {
          reqID: ctx.reqID,
          actor: { ...actor, accountID: null, email: theHouse },
          userID,
          method: 'TRAFFIC',
          url: 'site',
          permission: null,
          body: null,
          ip: '',
          changes,
          status: 200,
          durationMs: performance.now() - startedAt,
        });
      return missed;
    });
  }

  /** Counts one operator's months; answers the customers of whom anything is other than it was. */
  async count(clientID: number): Promise<number[]> {
    const { db } = this.#services.database;
    const { now: countedAt, seconds } = (await row<{ now: string; seconds: number }>(
      db,
      sql`select now()::text as now, extract(epoch from now())::float8 as seconds`,
    ))!;
    const countedTo = Math.min(seconds, await this.#newest());
    await keepCalendar(db, clientID, true);
    const months = await monthsToCount(db, clientID);
    const since = sql`(s."deletedAt" is null or s."deletedAt" > to_timestamp(${months[0]!.days[0]!}))`;
    const userIDs = await customersOf(db, clientID, since);
    const changed: number[] = [];
    for (let i = 0; i < userIDs.length; i += countedAtOnce) {
      if (this.#rounds.ending.aborted) return changed;
      changed.push(...(await this.#countSome(clientID, months, userIDs.slice(i, i + countedAtOnce), since)));
      await turn();
    }
    await sql`insert into "trafficCount" values (${clientID}, ${countedAt}::timestamptz)
      on conflict ("clientID") do update set "countedAt" = excluded."countedAt"`.execute(db);
    const of = sql.join(months.map(({ year, month }) => sql`(${year}::int, ${month}::int)`));
    await sql`update "trafficCalendar" set "countedTo" = greatest("countedTo", to_timestamp(${countedTo}))
      where "clientID" = ${clientID} and (year, month) in (${of})`.execute(db);
    return changed;
  }

  async #countSome(clientID: number, months: readonly Month[], userIDs: readonly number[], since: Sql): Promise<number[]> {
    const { db } = this.#services.database;
    const current = months.find(({ isCurrent }) => isCurrent)!;
    const days = [...new Set(months.flatMap(month => month.days))].sort((a, b) => a - b);
    const monthAt = (at: number) => months.findLast(({ from, to }) => from <= at && at < to);
    const sites = await rows<SoldSite>(
      db,
      sql`select s.id, s."userID", s."deletedAt" is null as "isThere", coalesce((select jsonb_agg(jsonb_build_object('productID', x."productID",
            'since', floor(extract(epoch from x.since) / ${stepSeconds}) * ${stepSeconds}) order by x.since) from "siteProduct" x where x."siteID" = s.id),
            jsonb_build_array(jsonb_build_object('productID', s."productID", 'since', 0))) as sold
          from site s where s."clientID" = ${clientID} and s."userID" = any(${userIDs}::bigint[]) and ${since}`,
    );
    const known = new Map<string, CountedLine>();
    const lineOf = (userID: number, productID: number, { year, month, days: all }: Month) => {
      const key = `${userID} ${productID} ${year} ${month}`;
      if (!known.has(key)) known.set(key, { userID, productID, year, month, bounds: all, days: all.slice(1).map(() => 0) });
      return known.get(key)!;
    };
    // whoever has a site has a line, and a line that is there is counted although its sites are gone
    for (const { userID, isThere, sold } of sites) if (isThere) lineOf(userID, sold.at(-1)!.productID, current);
    const stored = await storedOf(db, clientID, months, userIDs);
    for (const { userID, productID, year, month } of stored)
      lineOf(
        userID,
        productID,
        months.find(one => one.year === year && one.month === month)!,
      );

    const byID = new Map(sites.map(site => [site.id, site]));
    const isChanged = ({ sold }: SoldSite) => sold.some(({ since: at }, i) => i > 0 && at > days[0]!);
    const [changed, steady] = [sites.filter(isChanged), sites.filter(site => !isChanged(site))];
    const add = async (some: readonly SoldSite[], boundaries: readonly number[]) => {
      const ids = some.map(({ id }) => id);
      for (const [i, { siteID, from, bytes }] of (await this.#bytesBetween!(ids, boundaries)).entries()) {
        if (i % turnRows === turnRows - 1) await turn();
        const { userID, sold } = byID.get(siteID)!;
        const month = monthAt(from);
        if (!month) continue;
        const line = lineOf(userID, (sold.findLast(({ since: at }) => at <= from) ?? sold[0]!).productID, month);
        line.days[month.days.findLastIndex(day => day <= from)]! += bytes;
      }
    };
    if (steady.length) await add(steady, days);
    for (let i = 0; i < changed.length; i += changedAtOnce) {
      const some = changed.slice(i, i + changedAtOnce);
      const changes = some.flatMap(({ sold }) => sold.slice(1).map(({ since: at }) => at));
      const within = changes.filter(at => at > days[0]! && at < days.at(-1)!);
      await add(
        some,
        [...new Set([...days, ...within])].sort((a, b) => a - b),
      );
    }
    const moves = changed.flatMap(({ userID, sold }) => sold.slice(1).map(({ since: at }) => ({ userID, at })));
    return writeLines(db, clientID, kept([...known.values()], stored, moves));
  }
}
