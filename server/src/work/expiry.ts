/**
 * Rows that end: whatever table says `expires` (kit/table.ts) has its rows removed at their time, as a call would remove them: the site's
 * revision rises, its nodes follow, and a line of the audit says that it was the house. Asked every second, and at the very time of what
 * ends before that; once in the installation, however many processes ask: the row above is held. Nobody's ends wait for another's: turns
 * go round by operator, and each operator's by root account; a row above that somebody holds is left for a later look.
 */
import { sql } from 'kysely';
import { audit, Context, publish, theHouse } from '../kit/context.ts';
import { newRequestID } from '../kit/ids.ts';
import { eventOf, loopOf } from '../kit/metrics.ts';
import { Seldom } from '../kit/seldom.ts';
import type { Services } from '../kit/services.ts';
import { col, expiring, type Table } from '../kit/table.ts';
import { untangled } from '../kit/untangled.ts';
import { logger } from '../log.ts';
import { type Database, openDatabase, rows, type Sql } from '../store/db.ts';

const lookMs = 1000;
/** A database that is away is away for many looks. */
const troubles = new Seldom(300_000);
/** Rows above, of one look: what is found is ended from memory, until it is time to look again. */
const most = 1000;
/** Parents whose rows end side by side: many ends at one moment are ordinary. */
const atOnce = 4;
/** Of these, of one operator's and of one root account's: whoever has much that is held leaves a place for others. */
const ofOperator = 3;
const ofRoot = 2;
/** How long one that somebody holds is waited for, and how long it, or one that failed, is then left alone. */
const lockMs = 500;
const asideMs = 1000;
/** That time doubles while it fails, so that an owner's rows that are held leave its others their turns. */
const asideMostMs = 16_000;
/** PostgreSQL's word for a lock that did not come in time. */
const lockNotAvailable = '55P03';
const removed = eventOf('expiry', 'removed');

/** A row below which something ends. */
interface Due {
  table: string;
  /** what it hangs on; of a table without parents null: all of its owner's */
  parentID: number | null;
  /** whose line of the audit it is */
  clientID: number;
  userID: number | null;
  rootID: number;
  /** until the first of its ends; 0 or less: it is over */
  ms: number;
  /** until the next end of all that is not over */
  next: number | null;
}
const keyOf = ({ table, parentID, rootID }: Due) => `${table} ${parentID ?? `of ${rootID}`}`;

/** What of one table ends before the next look, by what it hangs on and its owners; deleted with what they hang on, rows end no more. */
function looked(target: Table): Sql {
  const parent = 'parent' in target.scope ? target.scope : undefined;
  const ms = sql`extract(epoch from ${col(target.expires!, 'e')} - clock_timestamp())::float8 * 1000`;
  const ending = sql`${sql.table(target.table)} e where ${col('deletedAt', 'e')} is null and ${col(target.expires!, 'e')} <= clock_timestamp() + ${lookMs} * interval '1 millisecond'`;
  // thousands of rows are one line before anything is joined to them
  const first = parent
    ? sql`select ${col(parent.column, 'e')}, min(${ms}) as ms, min(${ms}) filter (where ${ms} > 0) as later from ${ending} group by 1`
    : sql`select *, ${ms} as ms, case when ${ms} > 0 then ${ms} end as later from ${ending}`;
  const joins: Sql[] = [];
  let [top, alias] = [target, 't'];
  while ('parent' in top.scope) {
    const above = `p${joins.length}`;
    const { parent: next, column } = top.scope;
    joins.push(
      sql`join ${sql.table(next.table)} ${sql.raw(above)} on ${col('id', above)} = ${col(column, alias)} and ${col('deletedAt', above)} is null`,
    );
    [top, alias] = [next, above];
  }
  const owner = (name: string) => sql`(to_jsonb(${sql.raw(alias)}) ->> ${name})::bigint`;
  return sql`select ${target.table}::text as "table", ${parent ? col(parent.column) : sql`null::bigint`} as "parentID",
      ${owner('clientID')} as "clientID", ${owner('userID')} as "userID", t.ms, t.later from (${first}) t ${sql.join(joins, sql` `)}`;
}

export class Expiry {
  readonly #database: Database;
  readonly #services: Services;
  readonly #tables: ReadonlyMap<string, Table>;
  /** what is being ended, with whose it is */
  readonly #busy = new Map<Due, Promise<void>>();
  /** not looked at before */
  readonly #aside = new Map<string, { until: number; ms: number }>();
  #running: Promise<void> | undefined;
  #wake = () => {};
  #isStopping = false;
  /** so far */
  looks = 0;

  constructor(databaseUrl: string, services: Services, tables: readonly Table[] = expiring()) {
    this.#database = openDatabase(databaseUrl, atOnce);
    this.#services = services;
    this.#tables = new Map(tables.map(table => [table.table, table]));
  }

  start(): void {
    const round = loopOf('expiry');
    const go = async () => {
      while (!this.#isStopping) {
        const ms = await this.#look().catch(error => {
          if (troubles.isTime('look')) logger.warn({ err: error as Error }, 'what ends could not be looked at');
          return lookMs;
        });
        round();
        if (ms > 0 && !this.#isStopping) await this.#pause(ms);
      }
    };
    this.#running = go();
  }

  /** Until it is time to look again; what ends meanwhile shows nothing new. */
  async #pause(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>(resolve => {
      this.#wake = resolve;
      timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#wake();
    await this.#running;
    await Promise.all(this.#busy.values());
    await this.#database.close();
  }

  /** Removes all that is over and that nobody holds; in how many milliseconds it is to be asked again. */
  async sweep(): Promise<number> {
    for (;;) {
      const ms = await this.#look();
      await Promise.all(this.#busy.values());
      if (ms > 0 || this.#isStopping) return ms;
    }
  }

  /** One look: what it finds is begun, though it may not have ended yet. 0: there may be more. */
  async #look(): Promise<number> {
    if (!this.#tables.size) return lookMs;
    this.looks++;
    const now = performance.now();
    for (const [key, { until, ms }] of this.#aside) if (until + ms <= now) this.#aside.delete(key);
    const found = await rows<Due>(this.#database.db, this.#query());
    const due = found.filter(({ ms }) => ms <= 0);
    // from now on: a look may have taken longer than that itself
    const until = performance.now() + Math.max(20, Math.min(lookMs, found[0]?.next ?? lookMs));
    while (due.length && !this.#isStopping && performance.now() < until) {
      const index = this.#busy.size < atOnce ? due.findIndex(one => this.#hasRoom(one)) : -1;
      if (index >= 0) this.#begin(due.splice(index, 1)[0]!);
      // what is over meanwhile, of somebody else, may have a place
      else await this.#oneOf(until);
    }
    return found.some(({ ms }) => ms <= 0) ? 0 : Math.max(20, Math.ceil(Math.min(lookMs, found[0]?.next ?? lookMs)));
  }

  /** Until one of those under way has ended, or that time. */
  async #oneOf(until: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>(resolve => (timer = setTimeout(resolve, Math.max(1, until - performance.now()))));
    await Promise.race([...this.#busy.values(), late]);
    clearTimeout(timer);
  }

  #hasRoom({ clientID, rootID }: Due): boolean {
    const busy = [...this.#busy.keys()];
    return (
      busy.filter(one => one.clientID === clientID).length < ofOperator &&
      busy.filter(one => one.rootID === rootID).length < ofRoot
    );
  }

  /** Round by operator, and each operator's round by root account; none that are under way. */
  #query(): Sql {
    const now = performance.now();
    const left = [...this.#aside].filter(([, { until }]) => until > now).map(([key]) => key);
    const aside = [...left, ...[...this.#busy.keys()].map(keyOf)];
    return sql`select *, row_number() over (partition by "clientID" order by turn, ms) as round from (
        select *, row_number() over (partition by "rootID" order by ms) as turn, min(later) over () as next from (
          select "table", "parentID", "clientID", "userID", coalesce("userID", "clientID") as "rootID", min(ms) as ms, min(later) as later
            from (${sql.join([...this.#tables.values()].map(looked), sql` union all `)}) e group by 1, 2, 3, 4) d
        where not ("table" || ' ' || coalesce("parentID"::text, 'of ' || "rootID")) = any(${aside}::text[])) d
      order by round, ms limit ${most}`;
  }

  #begin(one: Due): void {
    const end = async () => {
      const key = keyOf(one);
      try {
        if (await this.#end(one)) this.#aside.delete(key);
        // somebody else was first, or it was given more time
        else this.#aside.set(key, { until: performance.now() + asideMs, ms: asideMs });
      } catch (error) {
        const what = { err: error as Error, table: one.table, parent: one.parentID };
        // what PostgreSQL refuses has its code
        if ((error as { code?: string }).code === lockNotAvailable)
          logger.debug(what, 'what is over is held, and left for a later look');
        else logger.warn(what, 'what is over could not be removed');
        const ms = Math.min(asideMostMs, 2 * (this.#aside.get(key)?.ms ?? asideMs / 2));
        this.#aside.set(key, { until: performance.now() + ms, ms });
      }
      this.#busy.delete(one);
    };
    this.#busy.set(one, end());
  }

  /** Everything of one table below one row that is over; whether there was any. */
  async #end({ table, parentID, clientID, userID }: Due): Promise<boolean> {
    const target = this.#tables.get(table)!;
    const { scope } = target;
    const { sessions } = this.#services;
    const startedAt = performance.now();
    return untangled(this.#database.writes, async db => {
      await sql`select set_config('lock_timeout', ${`${lockMs}ms`}, true)`.execute(db);
      // the operator's root sees all of it, paused or not: nobody acts, the time does
      const actor = await sessions.acting(db, clientID);
      if (!actor) return false;
      const ctx = new Context({
        actor,
        db,
        language: actor.language,
        reqID: newRequestID(),
        ip: '',
        services: this.#services,
        holds: true,
      });
      if ('parent' in scope && !(await ctx.store(scope.parent).find(parentID!))) return false;
      const store = ctx.store(target, 'parent' in scope ? { [scope.column]: parentID! } : {});
      // seen again now that nobody else writes it: it may have been given more time
      const over = await store.pick(['id'], [sql`${col(target.expires!)} <= clock_timestamp()`]);
      if (!over.length) return false;
      await store.remove(over.map(({ id }) => id as number));
      await publish(db, ctx.effects);
      await audit(this.#services, db, {
        reqID: ctx.reqID,
        actor: { ...actor, accountID: null, email: theHouse },
        userID,
        method: 'EXPIRE',
        url: table,
        permission: null,
        body: null,
        ip: '',
        changes: ctx.effects.changes,
        status: 200,
        durationMs: performance.now() - startedAt,
      });
      removed(over.length);
      return true;
    });
  }
}
