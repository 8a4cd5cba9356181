/**
 * Counts what customers used of each product, by months of their operator, and sees to it that what follows from it is so. Once in the
 * installation, however many processes look: whoever holds an advisory lock. The month that is and the one before are counted anew each
 * time, as lines may come late; what was a month before these stays as it was, however long the store of figures keeps them.
 */
import { sql } from 'kysely';
import { audit, Context, publish, theHouse } from '../kit/context.ts';
import { newRequestID } from '../kit/ids.ts';
import { monthsOfClient, settleTraffic } from '../kit/traffic.ts';
import { Rounds } from '../kit/rounds.ts';
import { Seldom } from '../kit/seldom.ts';
import type { Services } from '../kit/services.ts';
import { untangled } from '../kit/untangled.ts';
import { logger } from '../log.ts';
import { type Db, row, rows } from '../store/db.ts';

const lookMs = 2000;
const countMs = 15_000;
/** Counting takes at most this share of the store's time: it waits so many times as long as it took. */
const waitTimes = 20;
/** Everybody is judged this often, whatever changed. */
const allMs = 600_000;
const lockMs = 500;
/** Sites that were sold as something else meanwhile, of one question: each brings boundaries of its own. */
const changedAtOnce = 100;
const stepSeconds = 300;
const troubles = new Seldom(300_000);

/** Bytes of sites between boundaries (epoch seconds): analytics/usage.ts. */
export type BytesBetween = (
  siteIDs: readonly number[],
  boundaries: readonly number[],
) => Promise<readonly { siteID: number; from: number; bytes: number }[]>;

interface Month {
  year: number;
  month: number;
  isCurrent: boolean;
  /** begins of its days, and of the month after */
  days: number[];
}
interface SoldSite {
  id: number;
  userID: number;
  isThere: boolean;
  /** the first one first; since: epoch seconds, on the grid of steps */
  sold: { productID: number; since: number }[];
}
interface Counted {
  userID: number;
  productID: number;
  year: number;
  month: number;
  days: number[];
}

export interface TrafficWatchOptions {
  lookMs?: number;
  countMs?: number;
}

export class TrafficWatch {
  readonly #services: Services;
  readonly #bytesBetween: BytesBetween | undefined;
  readonly #countMs: number;
  readonly #rounds: Rounds;
  /** begin of the month that each operator was judged in */
  readonly #months = new Map<number, string>();
  /** operators that are to be judged */
  readonly #due = new Set<number>();
  #countAt = -Infinity;
  #allAt = -Infinity;
  /** by the database's clock, text: up to when ends and begins of plans were seen */
  #seenAt: string | undefined;

  /** @param bytesBetween left out: there is no store of figures, and what was counted stays */
  constructor(services: Services, bytesBetween?: BytesBetween, options: TrafficWatchOptions = {}) {
    this.#services = services;
    this.#bytesBetween = bytesBetween;
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
      const held = () => sql`select 1`.execute(lead);
      const operators = await this.#turned();
      await this.#settleDue(held);
      if (!this.#bytesBetween || performance.now() < this.#countAt) return;
      const startedAt = performance.now();
      const failed: unknown[] = [];
      for (const clientID of operators) {
        if (this.#rounds.ending.aborted) return;
        await held();
        // what cannot be told of one keeps nobody else from being counted
        const isOther = await this.count(clientID).catch(error => void failed.push(error));
        if (isOther) this.#due.add(clientID);
      }
      this.#countAt = performance.now() + Math.max(this.#countMs, waitTimes * (performance.now() - startedAt));
      await this.#settleDue(held);
      if (failed.length) throw failed[0];
    });
  }

  /** Operators there are; due are those whose month turned, of whom a plan began or ended, or a site is sold as another product. */
  async #turned(): Promise<number[]> {
    const { db } = this.#services.database;
    const found = await rows<{ id: number; current: string }>(
      db,
      sql`select o.id, date_trunc('month', now() at time zone o.timezone)::text as current from account o
          where o.auth = 'client' and o."isRoot" and o."deletedAt" is null
            and (exists (select from site s where s."clientID" = o.id) or exists (select from "trafficMonth" t where t."clientID" = o.id)) order by o.id`,
    );
    if (performance.now() - this.#allAt > allMs) {
      this.#allAt = performance.now();
      this.#months.clear();
    }
    for (const { id, current } of found)
      if (this.#months.get(id) !== current) {
        this.#months.set(id, current);
        this.#due.add(id);
      }
    const { now, ids } = (await row<{ now: string; ids: number[] | null }>(
      db,
      sql`select now()::text as now, (select array_agg(distinct "clientID") from "extraTrafficPlan" where "deletedAt" is null and "endTime" > ${this.#seenAt ?? 'infinity'}::timestamptz and "endTime" <= now()
            or "deletedAt" is null and "startTime" > ${this.#seenAt ?? 'infinity'}::timestamptz and "startTime" <= now()) as ids`,
    ))!;
    const sold = await rows<{ clientID: number }>(
      db,
      sql`select distinct s."clientID" from "siteProduct" x join site s on s.id = x."siteID" where x.since > ${this.#seenAt ?? 'infinity'}::timestamptz`,
    );
    for (const { clientID } of sold) this.#due.add(clientID);
    this.#seenAt = now;
    for (const id of ids ?? []) this.#due.add(id);
    return found.map(({ id }) => id);
  }

  async #settleDue(held: () => Promise<unknown>): Promise<void> {
    for (const clientID of [...this.#due]) {
      if (this.#rounds.ending.aborted) return;
      await held();
      try {
        await this.#settle(clientID);
        this.#due.delete(clientID);
      } catch (err) {
        // somebody holds it: the next look tries again
        if (troubles.isTime('settle')) logger.warn({ err: err as Error, clientID }, 'what customers may use could not be judged');
      }
    }
  }

  /** In the operator's name: nobody acts, figures and the time do. */
  async #settle(clientID: number): Promise<void> {
    const { database, sessions } = this.#services;
    await untangled(database.writes, async db => {
      const startedAt = performance.now();
      await sql`select set_config('lock_timeout', ${`${lockMs}ms`}, true)`.execute(db);
      const actor = await sessions.acting(db, clientID);
      if (!actor) return;
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
      const owners = await settleTraffic(ctx, clientID);
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
    });
  }

  /** Counts one operator's months; whether anything is other than it was. */
  async count(clientID: number): Promise<boolean> {
    const { db } = this.#services.database;
    const { now: countedAt } = (await row<{ now: string }>(db, sql`select now()::text as now`))!;
    const months = await rows<Month>(
      db,
      sql`select m.year, m.month, m."isCurrent", (select array_agg(extract(epoch from d at time zone m.timezone)::bigint order by d)
            from generate_series(m."startTime" at time zone m.timezone, m."endTime" at time zone m.timezone, interval '1 day') d) as days
          from ${monthsOfClient(clientID)} m order by m.year, m.month`,
    );
    const [last, current] = [months[0]!, months[1]!];
    const days = [...last.days, ...current.days.slice(1)];
    const sites = await rows<SoldSite>(
      db,
      sql`select s.id, s."userID", s."deletedAt" is null as "isThere", coalesce((select jsonb_agg(jsonb_build_object('productID', x."productID",
            'since', floor(extract(epoch from x.since) / ${stepSeconds}) * ${stepSeconds}) order by x.since) from "siteProduct" x where x."siteID" = s.id),
            jsonb_build_array(jsonb_build_object('productID', s."productID", 'since', 0))) as sold
          from site s where s."clientID" = ${clientID} and (s."deletedAt" is null or s."deletedAt" > to_timestamp(${days[0]!}))`,
    );
    const known = new Map<string, Counted>();
    const lineOf = (userID: number, productID: number, { year, month, days: all }: Month) => {
      const key = `${userID} ${productID} ${year} ${month}`;
      if (!known.has(key)) known.set(key, { userID, productID, year, month, days: all.slice(1).map(() => 0) });
      return known.get(key)!;
    };
    // whoever has a site has a line, and a line that is there is counted although its sites are gone
    for (const { userID, isThere, sold } of sites) if (isThere) lineOf(userID, sold.at(-1)!.productID, current);
    for (const { userID, productID, year, month } of await this.#stored(clientID, months))
      lineOf(userID, productID, year === last.year && month === last.month ? last : current);

    const byID = new Map(sites.map(site => [site.id, site]));
    const isChanged = ({ sold }: SoldSite) => sold.some(({ since }, i) => i > 0 && since > days[0]!);
    const [changed, steady] = [sites.filter(isChanged), sites.filter(site => !isChanged(site))];
    const add = async (some: readonly SoldSite[], boundaries: readonly number[]) => {
      const ids = some.map(({ id }) => id);
      for (const { siteID, from, bytes } of await this.#bytesBetween!(ids, boundaries)) {
        const { userID, sold } = byID.get(siteID)!;
        const month = from < current.days[0]! ? last : current;
        const line = lineOf(userID, (sold.findLast(({ since }) => since <= from) ?? sold[0]!).productID, month);
        line.days[month.days.findLastIndex(day => day <= from)]! += bytes;
      }
    };
    if (steady.length) await add(steady, days);
    for (let i = 0; i < changed.length; i += changedAtOnce) {
      const some = changed.slice(i, i + changedAtOnce);
      const changes = some.flatMap(({ sold }) => sold.slice(1).map(({ since }) => since));
      const within = changes.filter(since => since > days[0]! && since < days.at(-1)!);
      await add(
        some,
        [...new Set([...days, ...within])].sort((a, b) => a - b),
      );
    }
    return this.#write(clientID, [...known.values()], countedAt);
  }

  #stored(clientID: number, months: readonly Month[]): Promise<Counted[]> {
    const of = months.map(({ year, month }) => sql`(${year}::int, ${month}::int)`);
    return rows<Counted>(
      this.#services.database.db,
      sql`select "userID", "productID", year, month, days from "trafficMonth" where "clientID" = ${clientID} and (year, month) in (${sql.join(of)})`,
    );
  }

  #write(clientID: number, lines: readonly Counted[], countedAt: string): Promise<boolean> {
    return this.#services.database.db.transaction().execute(async db => {
      // no forged figure makes an answer of numbers that JSON does not hold
      const bounded = (n: number) => Math.min(Number.MAX_SAFE_INTEGER, n);
      const values = lines.map(one => ({
        ...one,
        days: one.days.map(bounded),
        bytes: bounded(one.days.reduce((a, b) => a + b, 0)),
      }));
      const changed = await writeLines(db, clientID, values);
      await sql`insert into "trafficCount" values (${clientID}, ${countedAt}::timestamptz)
        on conflict ("clientID") do update set "countedAt" = excluded."countedAt"`.execute(db);
      return changed;
    });
  }
}

async function writeLines(db: Db, clientID: number, lines: readonly (Counted & { bytes: number })[]): Promise<boolean> {
  if (!lines.length) return false;
  const found = await rows(
    db,
    sql`insert into "trafficMonth" as t ("clientID", "userID", "productID", year, month, "startTime", "endTime", days, bytes, "baseBytes", action, "sellType", "trafficPrice")
        select ${clientID}::bigint, c."userID", c."productID", c.year, c.month, m."startTime", m."endTime",
          (select array_agg(v::bigint order by o) from jsonb_array_elements_text(c.days) with ordinality d(v, o)), c.bytes,
          p."trafficLimit", p."trafficAction", p."sellType", p."trafficPrice"
        from jsonb_to_recordset(${JSON.stringify(lines)}::jsonb) c("userID" bigint, "productID" bigint, year int, month int, days jsonb, bytes bigint)
        join product p on p.id = c."productID" join ${monthsOfClient(clientID)} m on m.year = c.year and m.month = c.month
        order by c."userID", c."productID", c.year, c.month
        on conflict ("userID", "productID", year, month) do update set days = excluded.days, bytes = excluded.bytes
          where t.bytes <> excluded.bytes or t.days <> excluded.days
        returning 1`,
  );
  return found.length > 0;
}
