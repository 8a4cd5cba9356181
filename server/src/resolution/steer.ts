/**
 * Sees to it that names lead to nodes that are well. Once in the installation, however many processes look: whoever holds an advisory lock.
 *
 *   look     who should be answered on each line (choose.ts), against what is answered: `groupAnswer`, with a line in the log for each change
 *   push     what a zone answers (`cnameGroup`, `cnameSite`) against what it should: the difference is the queue. A zone that cannot be
 *            reached is tried again after 1, 2, 4 … 15 s, and keeps nobody else waiting
 *   compare  at the start, every ten minutes and when somebody asks: what really stands there, so that what was lost, or changed by hand, is mended
 *
 * Everything may be done twice: whole states are written, and a crash in between repeats them.
 */
import { sql } from 'kysely';
import type pg from 'pg';
import { resolutionLimits } from '#contract/limits.ts';
import { loopOf } from '../kit/metrics.ts';
import { Seldom } from '../kit/seldom.ts';
import { logger } from '../log.ts';
import { type Database, openDatabase, row } from '../store/db.ts';
import { WatchedClient } from '../store/mute.ts';
import { problemOf } from '../domain/dns/driver.ts';
import type { NameDriver } from './driver.ts';
import { compare } from './compare.ts';
import { HeldBacks } from './held-back.ts';
import { Lanes } from './lanes.ts';
import { tidy } from './tidy.ts';
import { noteLines, pushGroups, pushNames } from './push.ts';
import { driverOf, type DriverServices, type ServerSetting } from './drivers.ts';
import { noteCompared, noteFailed, Rests } from './failing.ts';
import { keepOnly, partsOf, Servers, split, whyOf } from './servers.ts';
import { Steadiness } from './steadiness.ts';
import { embedded, type HeldZone, KnownAnswers, steerKey, zonesOf } from './load.ts';
import { look } from './look.ts';

/** Shared: held by each process that has a name server. While one does, those without do not stand. */
const driverKey = 72_032;
const leaseSeconds = 8;
const lookMs = 1000;
/** Names are looked through this often without a notice. */
const namesMs = 60_000;
const tidyMs = 3_600_000;
/** Operators whose zones are pushed side by side, and how long one of them has a place. */
const atOnce = 4;
const operatorMs = 300;
/** How long a turn waits for all of them, and for a name server that is told its zones: who takes longer calls for the next. */
const turnMs = 1000;
/** How long whoever ends waits for what is under way. */
const patienceMs = 3000;
const leave = { tries: 240, seconds: 600 } as const;
const laneOf = ({ zone }: HeldZone) => `zone ${zone.id}`;
const troubles = new Seldom(60_000);

export interface SteerOptions {
  /** that a node has to be well before it comes back */
  steadySeconds?: number;
  /** another way to whoever answers (tests) */
  driver?: (setting: Pick<ServerSetting, 'driver'>) => NameDriver | undefined;
}

export class Steering {
  readonly #database: Database;
  readonly #steady: Steadiness;
  readonly #rests = new Rests();
  #isStopping = false;
  #running: Promise<void> | undefined;
  #wake = () => {};
  #hasNews = false;
  #namesAt = -Infinity;
  #tidyAt = -Infinity;
  readonly #servers: Servers;
  readonly #answers = new KnownAnswers();
  /** whose zones had a turn last */
  #lastOperator = 0;
  /** zones that a name server has taken, and how they were */
  readonly #prepared = new Map<number, { server: string; told: string }>();
  /** how often each has begun anew: what was compared before that says nothing */
  readonly #begun = new Map<number, number>();
  /** What is under way with a name server, or with a zone. */
  readonly #lanes = new Lanes(
    () => this.#call(),
    err => {
      if (troubles.isTime('lane')) logger.warn({ err }, 'names could not be looked after');
    },
  );
  readonly #backs = new HeldBacks();
  /** Zones that failed, and until when they wait: a clock that is set back lets nobody wait for longer. */
  readonly #waits = new Map<number, number>();
  /** another one: somebody else may have steered since */
  #term = 0;
  /** zones whose names are looked through in their next turn */
  readonly #namesDue = new Set<number>();

  constructor(
    databaseUrl: string,
    services: DriverServices,
    { steadySeconds = resolutionLimits.steadySeconds, driver }: SteerOptions = {},
  ) {
    this.#servers = new Servers(driver ?? (setting => driverOf(services, setting)));
    this.#database = openDatabase(databaseUrl, 3);
    this.#steady = new Steadiness(steadySeconds);
  }

  start(): void {
    const round = loopOf('resolution');
    const go = async () => {
      while (!this.#isStopping) {
        await this.#hold(round).catch((err: Error) => {
          if (troubles.isTime('hold')) logger.warn({ err }, 'names could not be looked after');
        });
        round();
        if (!this.#isStopping) await this.#pause(lookMs);
      }
    };
    this.#running = go();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#wake();
    await this.#running;
    // everything may be done twice: nobody's name server keeps the installation from ending
    await this.#lanes.wait([this.#lanes.end()], patienceMs);
    await this.#database.close();
  }

  #call(): void {
    this.#hasNews = true;
    this.#wake();
  }

  async #pause(ms: number): Promise<void> {
    if (this.#hasNews || this.#isStopping) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>(resolve => {
      this.#wake = resolve;
      timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
  }

  /** Steers while it holds the lock. */
  async #hold(round: () => void): Promise<void> {
    // what was told to somebody else, or before, is no reason to hurry: everything is looked at when it holds the lock
    this.#hasNews = false;
    const client = new WatchedClient({
      connectionString: this.#database.url,
      application_name: 'breakwater-resolution',
      keepAlive: true,
      connectionTimeoutMillis: 10_000,
    });
    let broken: Error | undefined;
    const lost = (error?: Error) => {
      this.#term++;
      broken ??= error ?? new Error('the connection to the database was closed');
      this.#wake();
    };
    client.on('error', lost);
    client.on('end', () => lost());
    client.on('notification', ({ payload }: pg.Notification) => {
      if (payload === 'names') this.#namesAt = -Infinity;
      this.#hasNews = true;
      this.#wake();
    });
    try {
      await client.connect();
      await client.query(`set idle_session_timeout = '${leaseSeconds}s'`);
      const canDrive = this.#servers.embedded() !== undefined;
      if (canDrive) await client.query(`select pg_advisory_lock_shared(${driverKey})`);
      const ask = async (condition: string) => {
        const said: { rows: { ok: boolean }[] } = await client.query(`select ${condition} as ok`);
        return said.rows[0]?.ok ?? false;
      };
      // with nobody who has a name server it is known at least who should be answered
      const mayStand = canDrive
        ? 'true'
        : `not exists (select from pg_locks where locktype = 'advisory' and classid = 0 and objid = ${driverKey} and database = (select oid from pg_database where datname = current_database()))`;
      for (;;) {
        if ((await ask(mayStand)) && (await ask(`pg_try_advisory_lock(${steerKey})`))) break;
        round();
        await this.#pause(lookMs);
        if (this.#isStopping) return;
        if (broken) throw broken;
      }
      await client.query('listen resolution');
      // somebody else may have steered: what stands where is found out anew
      this.#prepared.clear();
      this.#waits.clear();
      this.#servers.forget();
      this.#namesAt = -Infinity;
      while (!this.#isStopping) {
        if (broken) throw broken;
        if (!(await ask(mayStand))) return;
        this.#hasNews = false;
        const soonMs = await this.turn();
        round();
        await this.#pause(Math.min(lookMs, soonMs));
      }
    } finally {
      this.#term++;
      await client.end().catch(() => {});
    }
  }

  /** One turn. @returns milliseconds until something may change by itself */
  async turn(): Promise<number> {
    const soonMs = await look(this.#database.db, this.#steady, lookMs);
    const until = performance.now() + turnMs;
    const left = () => Math.max(0, until - performance.now());
    const zones = await this.#zones();
    this.#backs.keep(zones);
    // kind by kind: a name server that is slow keeps its own zones waiting, nobody else's
    const prepare = (one: string) => this.#lanes.enter(`prepare ${one}`, () => this.#prepare(one, zones));
    const [ours, others] = split(this.#rests.kept(this.#servers.all(zones)), one => one === embedded);
    // for an operator's own nobody else waits
    for (const one of others) void prepare(one);
    const preparing = ours.map(prepare);
    if (performance.now() - this.#namesAt >= namesMs) {
      this.#namesAt = performance.now();
      for (const { zone } of zones) this.#namesDue.add(zone.id);
    }
    // who has his zone is not kept waiting by one that comes, or goes
    const pushed = await this.#pushAll(zones, new Set(), left);
    if ((await this.#lanes.wait(preparing, left())).includes(true)) await this.#pushAll(await this.#zones(), pushed, left);
    // what is left at somebody else's of a zone that is no more goes, too, as far as he answers before it is forgotten (tidy.ts)
    const leaving = await this.#zones(true);
    for (const one of leaving) if (one.isDue) void this.#lanes.enter(laneOf(one), () => this.#leave(one));
    const ids = [...zones, ...leaving].map(one => one.zone.id);
    for (const known of [this.#prepared, this.#waits, this.#begun, this.#namesDue]) keepOnly(known, ids);
    if (performance.now() - this.#tidyAt >= tidyMs) {
      this.#tidyAt = performance.now();
      await tidy(this.#database.db);
    }
    return soonMs;
  }

  async #zones(isGone = false): Promise<HeldZone[]> {
    const zones = await zonesOf(this.#database.db, sql`true`, isGone);
    for (const one of zones) one.isDue ||= performance.now() >= (this.#waits.get(one.zone.id) ?? Infinity);
    return zones;
  }

  /** Each name server has its zones, and none that are gone; one it does not take keeps no other from it. @returns whether some are to be compared */
  async #prepare(server: string, zones: readonly HeldZone[]): Promise<boolean> {
    const { db } = this.#database;
    const held = zones.filter(one => one.server === server);
    let driver: NameDriver | undefined;
    try {
      driver = held[0] ? this.#servers.of(held[0]) : this.#servers.embedded();
    } catch (error) {
      for (const one of held) if (one.isDue) await this.#failed(one, whyOf(error));
    }
    if (!driver) return false;
    const told = new Map(held.map(({ zone }) => [zone.id, JSON.stringify(zone)]));
    const isTold = (id: number) => {
      const known = this.#prepared.get(id);
      return known?.server === server && known.told === told.get(id);
    };
    const notes = this.#servers.notesOf(server);
    if (performance.now() - notes.lookedAt >= driver.watchMs) {
      notes.lookedAt = performance.now();
      const known = held.filter(({ zone }) => isTold(zone.id)).map(one => one.zone);
      const there = known.length ? await driver.test(known).catch(() => undefined) : undefined;
      if (there) for (const { id } of known) if (!there.has(id)) this.#prepared.delete(id);
    }
    // one that rests keeps its list: whose zone stands in it is looked after, what comes, goes or is another waits, and is as it was meanwhile
    const last = driver.isResting?.() ? notes.list : undefined;
    const list = last ?? new Map(held.map(({ zone }) => [zone.id, { zone, told: told.get(zone.id)! }]));
    const due = held
      .filter(({ zone: { id }, isDue }) => isDue && !isTold(id) && list.get(id)?.told === told.get(id))
      .map(one => one.zone);
    const gone = (notes.taken ?? []).filter(id => !list.has(id));
    if (!due.length && (this.#rests.isResting(server) || (notes.taken && !gone.length))) return false;
    const ids = due.map(one => one.id);
    for (const id of ids) {
      this.#prepared.delete(id);
      this.#begun.set(id, (this.#begun.get(id) ?? 0) + 1);
    }
    try {
      // before, so that an end in between forgets nothing: it may stand there empty afterwards
      if (ids.length) await sql`update cname set "comparedAt" = null where id = any(${ids})`.execute(db);
      const clients = new Map(held.map(({ zone, clientID }) => [zone.id, clientID]));
      const answers = async () => {
        const stored = Map.groupBy(await this.#answers.all(db), one => one.clientID);
        return ({ id }: HeldZone['zone']) => (stored.get(clients.get(id)!) ?? []).map(one => one.answer);
      };
      [notes.list, notes.taken] = [list, undefined]; // it may have a part of them, and is told again what goes meanwhile
      const all = [...list.values()].map(one => one.zone);
      const { failed } = await driver.prepare(all, due, answers);
      notes.taken = [...list.keys()];
      this.#rests.done(server);
      for (const id of gone) if (this.#prepared.get(id)?.server === server) this.#prepared.delete(id);
      for (const id of ids) if (!failed.has(id)) this.#prepared.set(id, { server, told: told.get(id)! });
      for (const one of held) if (failed.has(one.zone.id) && one.isDue) await this.#failed(one, whyOf(failed.get(one.zone.id)));
    } catch (error) {
      this.#rests.failed(server);
      // at once: one that is due at its end as well would be told its zones again, and nothing else would come about
      for (const one of held) if (ids.includes(one.zone.id)) await this.#failed(one, whyOf(error));
      if (troubles.isTime('prepare')) logger.warn({ why: whyOf(error).why }, 'the name server does not take its zones');
    }
    return ids.length > 0;
  }

  /** @returns zones that were begun with, beside `without` */
  async #pushAll(zones: readonly HeldZone[], without: ReadonlySet<number>, left: () => number): Promise<Set<number>> {
    // one that is being told its zones takes none of its changes until it has
    const isTaken = (one: HeldZone) =>
      this.#prepared.get(one.zone.id)?.server === one.server || (one.server === embedded && !this.#servers.embedded());
    const due = zones.filter(one => one.isDue && !without.has(one.zone.id) && !this.#lanes.isBusy(laneOf(one)) && isTaken(one));
    const begun = new Set(without);
    // a name server is told them in their own order: in another one it would read all of them anew
    const [embeddeds, foreign] = split(this.#backs.inTurn(due), one => one.server === embedded);
    for (const [server, held] of Map.groupBy(foreign, one => one.server))
      void this.#lanes.enter(`push ${server}`, async () => {
        const isOver = this.#backs.turnOf(held);
        for (const one of held) if (!this.#isStopping) await this.#lanes.enter(laneOf(one), () => this.#push(one, isOver));
      });
    // operator by operator: one whose zones take long goes on by itself, zone by zone; who has no turn in this one is among the first in the next
    const operators = [...Map.groupBy(embeddeds, one => one.clientID)].toSorted(([one], [other]) => one - other);
    const [earlier, later] = split(operators, ([clientID]) => clientID <= this.#lastOperator);
    const all = [...later, ...earlier];
    let at = 0;
    const next = async () => {
      for (let one = all[at++]; one && left() > 0 && !this.#isStopping; one = all[at++]) {
        const [clientID, own] = one;
        this.#lastOperator = clientID;
        const each = async () => {
          for (const held of own) {
            if (this.#isStopping || left() === 0) return;
            begun.add(held.zone.id);
            await this.#lanes.enter(laneOf(held), () => this.#push(held));
          }
        };
        await this.#lanes.wait([this.#lanes.enter(`operator ${clientID}`, each)], Math.min(operatorMs, left()));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, next));
    return begun;
  }

  /** Brings a zone to what it should answer; `isOver`: names of sites have their turn in the next. */
  async #push(held: HeldZone, isOver = () => false): Promise<void> {
    const { db } = this.#database;
    const { zone, clientID, isOld } = held;
    let driver: NameDriver | undefined;
    try {
      driver = this.#servers.of(held);
    } catch {
      return; // it is told already
    }
    if (!driver) return this.#failed(held, whyOf(problemOf('refused', { code: 'noServer' })));
    // one that came meanwhile, or is another's now, is taken in the next turn
    if (this.#prepared.get(zone.id)?.server !== held.server) return;
    const begun = this.#begun.get(zone.id);
    const term = this.#term;
    try {
      const all = (await this.#answers.all(db)).filter(one => one.clientID === clientID).map(one => one.answer);
      const { apart, anyway, wrong } = partsOf();
      const back = this.#backs.of(held, isOld);
      if (isOld) back.setStrange((await apart(compare(db, driver, held))) ?? []);
      // everybody's answer first: lines may take their time, and what becomes of them keeps no name from coming
      const refresh = () => isOld && anyway(driver.refresh(zone, all));
      const hasPushed = await apart(pushGroups(db, driver, held, all, back)).finally(refresh);
      await noteLines(db, driver, held);
      const isNamesDue = [this.#namesDue.delete(zone.id), back.areSitesDue, isOld, held.tries > 0].includes(true);
      const isMore = isNamesDue && (isOver() || (await pushNames(db, driver, held, back, () => this.#isStopping)));
      if (wrong[0]) throw wrong[0];
      if (isOld && this.#begun.get(zone.id) === begun) await noteCompared(db, held);
      await back.note(db, held, hasPushed === true || isOld || held.isFailing, () => driver.lacks?.(zone) ?? '');
      if (isMore && this.#namesDue.add(zone.id)) this.#call();
    } catch (error) {
      await this.#failed(held, whyOf(error));
    } finally {
      // Whoever was frozen in its midst has gone on with what was true before: what stands there now, whoever steers finds out.
      if (term !== this.#term) await sql`update cname set "comparedAt" = null where id = ${zone.id}`.execute(db);
    }
  }

  /** Names of ours go from a zone that is no more. */
  async #leave(held: HeldZone): Promise<void> {
    const { db } = this.#database;
    try {
      // one of the same name is its heir
      const isHeld = await row(db, sql`select 1 from cname where "domainName" = ${held.zone.name} and "deletedAt" is null`);
      if (!isHeld) await this.#servers.of(held)?.leave?.(held.zone);
      for (const table of ['cnameGroup', 'cnameSite'])
        await sql`delete from ${sql.table(table)} where "cnameID" = ${held.zone.id}`.execute(db);
    } catch (error) {
      const told = whyOf(error);
      // for an hour as any; whoever is away longer is asked now and then, for as long as there is a key for it
      if (held.tries > leave.tries) told.retrySeconds = Math.max(told.retrySeconds ?? 0, leave.seconds);
      await this.#failed(held, told);
    }
  }

  async #failed(held: HeldZone, told: ReturnType<typeof whyOf>): Promise<void> {
    const { zone } = held;
    this.#waits.set(zone.id, performance.now() + (await noteFailed(this.#database.db, held, told)) * 1000);
    // whatever it lost meanwhile is found when it is back; other zones are as they were
    this.#prepared.delete(zone.id);
    if (troubles.isTime(zone.name)) logger.warn({ zone: zone.name, why: told.why }, 'changes of names wait');
  }
}
