/** The PostgreSQL connection: kysely as driver and SQL-template layer, nothing generated. */
import { DummyDriver, Kysely, PostgresDialect, sql, type RawBuilder, type Transaction } from 'kysely';
import pg from 'pg';
import { cut } from './mute.ts';
import { PreparingClient } from './statements.ts';

// deliberately untyped by table: row types come from the contract, tables are reached through the scoped store alone
// oxlint-disable-next-line typescript/no-explicit-any -- see above
export type Schema = any;
export type Db = Kysely<Schema> | Transaction<Schema>;
export type Sql = RawBuilder<unknown>;

// Numbers and times as the wire has them: bigint columns hold ids and bytes below 2^53, times are ISO 8601 UTC.
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);
const int8s = 1016; // bigint[], which has no name there
types.setTypeParser(int8s, value => JSON.parse(`[${value.slice(1, -1).replaceAll('NULL', 'null')}]`) as (number | null)[]);
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, value => isoTime(value));

/** `2026-01-02 03:04:05.123456+00` → `2026-01-02T03:04:05.123Z`; text to text where the session is in UTC, as ours are. */
function isoTime(value: string): string {
  if (!value.endsWith('+00') || value[10] !== ' ') return new Date(value).toISOString();
  const fraction = value.length > 22 ? value.slice(20, 23).replace('+', '').padEnd(3, '0').slice(0, 3) : '000';
  return `${value.slice(0, 10)}T${value.slice(11, 19)}.${fraction}Z`;
}

/** Three pools, so that whoever floods one takes nothing from the others. */
export interface Database {
  /** for whoever reads, and for work of our own */
  db: Kysely<Schema>;
  pool: pg.Pool;
  /** the same for a call that reads: `turn` is asked before each of its statements takes a connection */
  inTurn(turn: <T>(act: () => Promise<T>) => Promise<T>): Kysely<Schema>;
  /** for transactions of calls: as many as may be under way at once (kit/mount.ts lets no more in) */
  writes: Kysely<Schema>;
  /** for signing in and for who asks: these are short, and nothing else gets at them */
  doors: Kysely<Schema>;
  /** connections of each of the two pools above */
  max: number;
  /** by their names */
  pools: Readonly<Record<'reads' | 'writes' | 'doors', pg.Pool>>;
  url: string;
  close(): Promise<void>;
}

/**
 * `waitMs`: for a connection, also for a free one of the pool; `lockMs`: for somebody else's lock. Then the caller is told
 * (101005) rather than kept.
 */
export function openDatabase(url: string, max = 10, waitMs = 10_000, lockMs = 10_000): Database {
  const connected = new Set<pg.PoolClient>();
  const open = (size: number, lock: number, prepare?: (client: pg.PoolClient) => void) => {
    const pool = new pg.Pool({
      Client: PreparingClient,
      connectionString: url,
      max: size,
      types,
      application_name: 'breakwater',
      allowExitOnIdle: true,
      keepAlive: true,
      connectionTimeoutMillis: waitMs,
      // nobody waits for ever, neither for an answer nor for somebody else's lock
      statement_timeout: 60_000,
      lock_timeout: lock,
      idle_in_transaction_session_timeout: 60_000,
    });
    // a broken idle connection is replaced by the pool; without a listener it would end the process
    pool.on('error', () => {});
    pool.on('connect', client => {
      connected.add(client);
      prepare?.(client);
    });
    pool.on('remove', client => connected.delete(client));
    return pool;
  };
  const kysely = (pool: pg.Pool) => new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  const pool = open(max, lockMs);
  const pools = {
    reads: pool,
    // asked first of each connection; a failure shows in what is asked next
    writes: open(max, lockMs, client => void client.query(boundTransactions).catch(() => {})),
    doors: open(Math.min(max, doorsMax), Math.min(lockMs, doorLockMs)),
  };
  const writes = kysely(pools.writes);
  const doors = kysely(pools.doors);
  const db = kysely(pool);
  const reads = db.getExecutor();
  const dialect = new PostgresDialect({ pool });
  return {
    db,
    pool,
    inTurn(turn) {
      const executor = reads.withConnectionProvider({
        provideConnection: consumer => turn(() => reads.provideConnection(consumer)),
      });
      return new Kysely({ config: { dialect }, dialect, driver: notItsOwn, executor });
    },
    writes,
    doors,
    max,
    pools,
    url,
    async close() {
      // The pool waits for whoever still asks, for as long as a statement may take. Its connection is cut instead:
      // PostgreSQL undoes what was not committed.
      const timer = setTimeout(() => {
        for (const client of connected) cut(client);
      }, closeMs);
      await Promise.all([db.destroy(), writes.destroy(), doors.destroy()]);
      clearTimeout(timer);
    },
  };
}
/** Opening and closing is the business of the pool that it stands before. */
const notItsOwn = new DummyDriver();
const doorsMax = 4;
/** Whoever waits for somebody else's lock keeps a door from others. */
const doorLockMs = 2000;
/** What one call holds it holds no longer than this; servers before 17 do not know the bound. */
const boundTransactions = `select set_config('transaction_timeout', '30s', false) where current_setting('server_version_num')::int >= 170000`;
/** How long statements that are under way get at the end. */
const closeMs = 200;

/** Rows of a statement, as the given type. */
export async function rows<T>(db: Db, query: RawBuilder<unknown>): Promise<T[]> {
  return (await query.execute(db)).rows as T[];
}
export async function row<T>(db: Db, query: RawBuilder<unknown>): Promise<T | undefined> {
  return (await rows<T>(db, query))[0];
}

/** `and`-joins conditions. */
export const and = (conditions: Sql[]): Sql => (conditions.length ? sql`(${sql.join(conditions, sql` and `)})` : sql`true`);

export interface Listener {
  /** whether notices arrive at the moment */
  isUp(): boolean;
  stop(): Promise<void>;
}

/** So long a word of the database may take where nothing else tells whether the connection still leads anywhere. */
const wordMs = 15_000;
const askMs = 5000;
/** Between two tries: the first, each further one twice as long, at most */
const againMs = 250;
const againMostMs = 5000;

/** Who listens in this process, and since when it hears nothing. */
const listeners = new Map<Listener, { channels: readonly string[]; deafSince: number | undefined }>();
/** Channels of which nothing has been heard for so long. */
export function deafFor(ms: number): string[] {
  const before = performance.now() - ms;
  return [...listeners.values()].flatMap(({ channels, deafSince }) =>
    deafSince !== undefined && deafSince < before ? channels : [],
  );
}

/**
 * Runs `heard` for every NOTIFY on the channels, over a connection of its own that is opened again after a loss.
 * `heard` is also called once after each (re)connection, because a notice may have been missed meanwhile.
 * Who listens asks nothing, and would never learn that nobody is there any more: so it asks now and then.
 */
export function listen(url: string, channels: string[], heard: (channel: string, payload: string) => void): Listener {
  let client: pg.Client | undefined;
  let isUp = false;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let wait = againMs;
  const state: { channels: readonly string[]; deafSince: number | undefined } = { channels, deafSince: performance.now() };
  const open = async () => {
    const mine = new pg.Client({
      connectionString: url,
      application_name: 'breakwater-listen',
      keepAlive: true,
      connectionTimeoutMillis: 10_000,
    });
    client = mine;
    let watching: NodeJS.Timeout | undefined;
    // a client says several times that it is lost; each is followed by one successor
    const lost = () => {
      if (client !== mine) return;
      client = undefined;
      isUp = false;
      state.deafSince ??= performance.now();
      clearTimeout(watching);
      // no word of farewell: nobody may be there to take it
      cut(mine);
      if (stopped) return;
      timer = setTimeout(() => void open(), wait);
      wait = Math.min(2 * wait, againMostMs);
    };
    const ask = async (text: string) => {
      const late = setTimeout(lost, wordMs);
      try {
        await mine.query(text);
      } finally {
        clearTimeout(late);
      }
    };
    const watch = () => {
      watching = setTimeout(() => void ask('select 1').then(() => client === mine && watch(), lost), askMs);
    };
    mine.on('error', lost);
    mine.on('end', lost);
    mine.on('notification', message => heard(message.channel, message.payload ?? ''));
    try {
      await mine.connect();
      for (const channel of channels) await ask(`listen ${pg.escapeIdentifier(channel)}`);
      if (client !== mine) return;
      isUp = true;
      state.deafSince = undefined;
      wait = againMs;
      watch();
      for (const channel of channels) heard(channel, '');
    } catch {
      lost();
    }
  };
  const listener: Listener = {
    isUp: () => isUp,
    async stop() {
      stopped = true;
      listeners.delete(listener);
      clearTimeout(timer);
      isUp = false;
      const mine = client;
      if (!mine) return;
      const late = setTimeout(() => cut(mine), closeMs);
      await mine.end().catch(() => {});
      clearTimeout(late);
    },
  };
  listeners.set(listener, state);
  void open();
  return listener;
}
