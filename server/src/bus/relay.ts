/**
 * Outbox → JetStream. What was committed reaches the bus, also after a crash between the two: the outbox row goes only in the
 * statement that records the publication, and publishing twice is harmless because documents are whole states.
 *
 * Several server processes may run; one is active, the holder of an advisory lock. The lock, the reading and the recording share
 * one connection, so a relay that lost its lock cannot record anything; and each message says which sequence it replaces, so it
 * cannot overwrite its successor's either.
 *
 * Trust in the bus is checked at each start, reconnection and every few seconds:
 *   another epoch, or fewer messages than we know we wrote   the stream is made anew and everything published again
 *   more messages than we know we wrote   a crash in between, or a database restored from a backup: those entities are compiled again
 */
import { randomBytes } from 'node:crypto';
import { JetStreamApiError } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import pg from 'pg';
import { type Tick, signed } from '#contract/edge/signed.ts';
import { type DocumentKind, isKind, kindNames, kinds } from '#contract/edge/kinds/index.ts';
import { parseConfigSubject, streams, subjects } from '#contract/edge/subjects.ts';
import type { Queryable } from '../compile/load.ts';
import type { Signer } from './credentials.ts';
import { compilerMark } from '../compile/mark.ts';
import { noteForeign } from './foreign.ts';
import { forgetGone } from './forget.ts';
import { type Entity, type Press, type SiteChange, publishRound } from './publish.ts';
import { numbersSkipped } from '../store/dump.ts';
import { settle } from './settle.ts';
import { type StreamFacts, configAfter, ensureConfigStream, removeConfigMessage, renewConfigStream } from './streams.ts';

export interface RelayOptions {
  databaseUrl: string;
  /** a connection with all rights on CFG */
  nats: NatsConnection;
  signer: Signer;
  log?: (message: string) => void;
  /** called each time the loop goes round, also when it goes round in vain */
  turn?: (() => void) | undefined;
}
export interface Relay {
  /** this process holds the lock and trusts the stream */
  active(): boolean;
  /** why it does not run, as last seen; undefined while it does */
  problem(): string | undefined;
  stop(): Promise<void>;
}

/** Any number; it names "the relay" among PostgreSQL's advisory locks. */
const lockKey = 72_011;
const standbyMs = 500;
const retryMs = 300;
/** Without a notice the outbox and the stream are looked at this often. */
const checkMs = 5000;
const outboxRows = 2000;
const chunk = 500;
const tickMs = 2000;
/** How often it is looked for what may be forgotten. */
const tidyMs = 10 * 60_000;
/**
 * Numbers left out when a relay begins. One that died may have given numbers that nobody wrote down, and the bus may have lost them since;
 * a number must never mean two documents.
 */
const numbersLeftOut = 1_000_000;
/** More than a relay publishes; what comes of it in this century has 14 digits, which every part of a node writes in full. */
const numbersPerSecond = 10_000;

export function startRelay({ databaseUrl, nats, signer, log = () => {}, turn = () => {} }: RelayOptions): Relay {
  let stopped = false;
  let active = false;
  let problem: string | undefined = 'starting';
  let told = '';
  let distrust = false;
  let fenced = 0;
  let wake: () => void = () => {};

  const sleep = (ms: number) =>
    new Promise<void>(done => {
      const timer = setTimeout(done, ms);
      wake = () => (clearTimeout(timer), done());
    });

  const settling = new Set<Promise<unknown>>();
  const settleLater = (db: Queryable, siteIDs: number[]) => {
    // What fails here is settled by the nodes' next acknowledgements, or by the next start.
    const done: Promise<unknown> = settle(db, { siteIDs }).catch(error => log(`relay: ${(error as Error).message}`));
    settling.add(done);
    void done.finally(() => settling.delete(done));
  };

  async function hold(): Promise<void> {
    const client = new pg.Client({ connectionString: databaseUrl, application_name: 'breakwater-relay', keepAlive: true });
    // Settling needs no lock, and the next change should not wait for it.
    const aside = new pg.Pool({ connectionString: databaseUrl, application_name: 'breakwater-relay-settle', max: 1 });
    aside.on('error', () => {});
    let noticed = false;
    let ticking: NodeJS.Timeout | undefined;
    let broken: Error | undefined;
    const lost = (error?: Error) => {
      broken ??= error ?? new Error('the connection to the database was closed');
      wake();
    };
    client.on('error', lost);
    client.on('end', () => lost());
    client.on('notification', () => ((noticed = true), wake()));
    try {
      await client.connect();
      while (!(await tryLock(client))) {
        turn();
        problem = 'another process is the active relay';
        await sleep(standbyMs);
        if (stopped) return;
        if (broken) throw broken;
      }
      await client.query('listen outbox');
      const press: Press = { nats, signer, epoch: '', numbers: await firstNumbers(client) };
      const by = randomBytes(9).toString('base64url');
      // One whose lock is gone has nothing to say any more.
      const say = () => broken || tick(press, by);
      ticking = setInterval(say, tickMs);
      await trustStream(client, press, log, fenced > 1);
      say();
      await settle(client, {});
      if (fenced > 1) fenced = 0;
      active = true;
      problem = undefined;
      told = '';
      let checked = performance.now();
      let tidied = -Infinity;
      while (!stopped) {
        if (broken) throw broken;
        turn();
        noticed = false;
        if (distrust || performance.now() - checked >= checkMs) {
          distrust = false;
          checked = performance.now();
          const { epoch } = press;
          await trustStream(client, press, log, false);
          if (epoch !== press.epoch) say();
        }
        const done = await drain(client, press, siteIDs => settleLater(aside, siteIDs));
        if (done > 0) fenced = 0;
        // only while there is nothing else to do
        else if (performance.now() - tidied > tidyMs) {
          if ((await forgetGone(client, nats)) === 0) tidied = performance.now();
        } else if (!noticed && !stopped && !distrust) await sleep(checkMs);
      }
    } finally {
      active = false;
      clearInterval(ticking);
      await Promise.all(settling);
      await aside.end().catch(() => {});
      await client.end().catch(() => {});
    }
  }

  const running = (async () => {
    while (!stopped) {
      turn();
      try {
        await hold();
      } catch (error) {
        if (stopped) return;
        // Somebody else wrote to a subject of ours. Reading what the stream holds mends it; if that does not help, start over.
        if (error instanceof JetStreamApiError && error.code === 10071) fenced++;
        const message = (error as Error).message;
        if (message !== told) log(`relay: ${message}`);
        problem = told = message;
        await sleep(retryMs);
      }
    }
  })();

  void (async () => {
    for await (const status of nats.status()) {
      if (status.type !== 'reconnect') continue;
      distrust = true;
      wake();
    }
  })();

  return {
    active: () => active,
    problem: () => problem,
    stop: async () => {
      stopped = true;
      wake();
      await running;
    },
  };
}

/** Says in each zone how far it is. A node that is behind has missed something: live copies are not repeated. */
function tick({ nats, epoch, numbers }: Press, by: string): void {
  if (!epoch || nats.isClosed()) return;
  for (const [zoneID, n] of numbers) nats.publish(subjects.tick(zoneID), JSON.stringify({ n, epoch, by } satisfies Tick));
}

/**
 * Where numbers begin. By the clock, so that they are above all that were given before even when the database is a restored one and knows
 * less of them than nodes do; and what nodes are said to serve is not more than was given.
 */
async function firstNumbers(client: Queryable): Promise<Map<number, number>> {
  await client.query(
    `update node n set "appliedSeq" = 0, "appliedEpoch" = '' from "zoneHead" h where h."zoneID" = n."zoneID" and n."appliedSeq" > h.n`,
  );
  const { rows } = await client.query(
    `update "zoneHead" set n = greatest(n + $1, (extract(epoch from clock_timestamp()) * $2)::bigint) returning "zoneID", n`,
    [numbersLeftOut, numbersPerSecond],
  );
  return new Map((rows as { zoneID: string; n: string }[]).map(row => [Number(row.zoneID), Number(row.n)]));
}

async function tryLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query('select pg_try_advisory_lock($1) as held', [lockKey]);
  return rows[0].held;
}

interface OutboxRow {
  id: string;
  kind: DocumentKind;
  entityID: string;
  siteID: string | null;
  revision: string;
  committedAt: string;
}

/** Publishes what the outbox holds. @returns how many rows were done */
async function drain(client: pg.Client, press: Press, settleLater: (siteIDs: number[]) => void): Promise<number> {
  const { rows } = await client.query<OutboxRow>({
    name: 'outbox',
    text: `select id, kind, "entityID", "siteID", revision, to_json("committedAt") #>> '{}' as "committedAt" from outbox order by id limit ${outboxRows}`,
  });
  if (!rows.length) return 0;
  const entities = new Map<string, Entity>();
  const changes = new Map<number, SiteChange>();
  for (const row of rows) {
    entities.set(`${row.kind} ${row.entityID}`, { kind: row.kind, id: Number(row.entityID) });
    if (row.siteID === null) continue;
    const siteID = Number(row.siteID);
    const revision = Number(row.revision);
    if (revision >= (changes.get(siteID)?.revision ?? 0)) changes.set(siteID, { siteID, revision, committedAt: row.committedAt });
  }
  await publishRound(client, press, {
    entities: [...entities.values()],
    changes: [...changes.values()],
    outboxIDs: rows.map(row => row.id),
  });
  // Nodes may have acknowledged before the publication was recorded, or serve the same documents already.
  settleLater([...changes.keys()]);
  return rows.length;
}

async function trustStream(client: Queryable, press: Press, log: (message: string) => void, anew: boolean): Promise<void> {
  const stream = await ensureConfigStream(press.nats);
  const { rows } = await client.query('select epoch, "lastSeq", compiler from "busStream" where name = $1', [streams.config]);
  const known = rows[0] as { epoch: string; lastSeq: string; compiler: string } | undefined;
  const lastSeq = Number(known?.lastSeq ?? 0);
  if (anew || known?.epoch !== stream.epoch || stream.lastSeq < lastSeq) {
    log('relay: the stream is new to us; everything is published again');
    press.epoch = '';
    await publishEverything(client, press, stream);
  } else {
    press.epoch = stream.epoch;
    if (stream.lastSeq > lastSeq) await compileAgain(client, press, lastSeq, log);
    if (known.compiler !== compilerMark) await compileEverything(client, press, log);
  }
}

/** Fills a new stream. While its row is missing, nobody is told what stands in it: half of it would be taken for all. */
async function publishEverything(client: Queryable, press: Press, found: StreamFacts): Promise<void> {
  const stream = found.lastSeq === 0 ? found : await renewConfigStream(press.nats);
  const filling: Press = { ...press, epoch: stream.epoch };
  await client.query(`with gone as (delete from published) delete from "busStream" where name = $1`, [streams.config]);
  await publishAllKinds(client, filling, { compiledAnew: false });
  const { lastSeq } = await ensureConfigStream(press.nats);
  await client.query(
    `with stream as (insert into "busStream" (name, epoch, "lastSeq", compiler) values ($1, $2, $3, $4)),
     newest as (select "siteID", "zoneID", max(n) as seq from published where "siteID" is not null group by 1, 2),
     site_ as (
       select s.id, s.revision, g."zoneID", coalesce(s."changedAt", s."updatedAt") as "committedAt", coalesce(n.seq, 0) as seq
       from site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID"
       left join newest n on n."siteID" = s.id and n."zoneID" = g."zoneID" where s."deletedAt" is null
     ), gone as (delete from publication where not exists (select from site_ where site_.id = publication."siteID"))
     insert into publication as p ("siteID", revision, "zoneID", seq, "committedAt")
     select id, revision, "zoneID", seq, "committedAt" from site_
     on conflict ("siteID") do update set seq = excluded.seq, "zoneID" = excluded."zoneID"`,
    [streams.config, stream.epoch, lastSeq, compilerMark],
  );
  press.epoch = stream.epoch;
  await settle(client, {});
}

/** Kind after kind in the order in which they are sent: a site's parts stand there before the site that names them. */
async function publishAllKinds(client: Queryable, press: Press, { compiledAnew }: { compiledAnew: boolean }): Promise<void> {
  for (const kind of kindNames) {
    for (let after = 0; ;) {
      const { rows } = await client.query(
        `select id from ${kinds[kind].on} where id > $1 and "deletedAt" is null order by id limit ${chunk}`,
        [after],
      );
      const ids = (rows as { id: string }[]).map(row => Number(row.id));
      if (!ids.length) break;
      after = ids.at(-1)!;
      await publishRound(client, press, {
        entities: ids.map(id => ({ kind, id })),
        changes: [],
        outboxIDs: [],
        dependents: false,
        compiledAnew,
      });
    }
  }
}

/** Documents stand there that another release of us made: what reads otherwise now is published, the rest stays. */
async function compileEverything(client: Queryable, press: Press, log: (message: string) => void): Promise<void> {
  log('relay: documents are made otherwise now; those that differ are published');
  await publishAllKinds(client, press, { compiledAnew: true });
  await client.query(`update "busStream" set compiler = $2 where name = $1`, [streams.config, compilerMark]);
}

/**
 * A number that our bus has seen and this database has not given yet: it went back. What it gives next must not be called as what was lost,
 * whose log lines and figures are still there.
 */
async function neverAgain(client: Queryable, table: string, id: number): Promise<void> {
  await client.query(
    `select setval(pg_get_serial_sequence($1, 'id'), $2::bigint + $3) from pg_sequences
     where schemaname = 'public' and sequencename = split_part(pg_get_serial_sequence($1, 'id'), '.', 2) and coalesce(last_value, 0) < $2`,
    [table, id, numbersSkipped],
  );
}

/**
 * The stream holds messages that the database knows nothing of: their entities are compiled from what the rows say now. Ours (a crash came
 * in between, or the database is older than the stream) bear our signature; any other was written by somebody who may not.
 */
async function compileAgain(client: Queryable, press: Press, after: number, log: (message: string) => void): Promise<void> {
  const entities = new Map<string, Entity>();
  const newest = new Map<string, number>();
  let last = after;
  for await (const { subject, seq, header, data } of configAfter(press.nats, after)) {
    last = seq;
    const found = parseConfigSubject(subject);
    const parsed = found && isKind(found.kind) ? { ...found, kind: found.kind } : null;
    const n = Number(header(signed.number));
    const epoch = header(signed.epoch);
    const ours =
      parsed !== null &&
      Number.isSafeInteger(n) &&
      press.signer.isDocument({ zoneID: parsed.zoneID, epoch, n, subject }, data, header(signed.signature));
    if (!ours) {
      noteForeign(streams.config, subject);
      log(`relay: somebody else wrote to ${subject.slice(0, 100)}; it is ${parsed ? 'overwritten' : 'removed'}`);
    }
    if (!parsed) {
      await removeConfigMessage(press.nats, seq);
      continue;
    }
    const { kind, id, zoneID } = parsed;
    if (ours) newest.set(kinds[kind].on, Math.max(id, newest.get(kinds[kind].on) ?? 0));
    if (ours) press.numbers.set(zoneID, Math.max(n, press.numbers.get(zoneID) ?? 0));
    entities.set(`${kind} ${id}`, { kind, id });
    // Its text is not ours to hand out: whoever asks meanwhile gets what stood there before.
    await client.query(
      `insert into published (kind, "entityID", "zoneID", subject, hash, seq) values ($1, $2, $3, $4, 'unknown', $5)
       on conflict (kind, "entityID", "zoneID") do update set hash = excluded.hash, seq = excluded.seq`,
      [kind, id, zoneID, subject, seq],
    );
  }
  for (const [table, id] of newest) await neverAgain(client, table, id);
  const all = [...entities.values()];
  for (let i = 0; i < all.length; i += chunk)
    await publishRound(client, press, { entities: all.slice(i, i + chunk), changes: [], outboxIDs: [] });
  await client.query(`update "busStream" set "lastSeq" = greatest("lastSeq", $2) where name = $1`, [streams.config, last]);
}
