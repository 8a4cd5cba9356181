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
import type { Tick } from '#contract/edge/signed.ts';
import type { DocumentKind } from '#contract/edge/kinds/index.ts';
import { streams, subjects } from '#contract/edge/subjects.ts';
import type { Queryable } from '../compile/load.ts';
import { working } from '../kit/metrics.ts';
import { WatchedClient } from '../store/mute.ts';
import type { Signer } from './credentials.ts';
import { advanceCanaries, beginCanaries } from './canary.ts';
import { forgetGone } from './forget.ts';
import { type Bounds, type Press, boundsDefault } from './publish.ts';
import type { Entity, Round, SiteChange } from './round.ts';
import { publishRounds, roundMost } from './rounds.ts';
import { settle } from './settle.ts';
import { raiseCopies } from './streams.ts';
import { type Outward, outward as outwardWith } from './zone-keys.ts';
import { trustStream } from './trust.ts';

export interface RelayOptions {
  databaseUrl: string;
  /** a connection with all rights on CFG */
  nats: NatsConnection;
  signer: Signer;
  /** left out: no document holds a private key */
  outward?: Outward;
  log?: (message: string) => void;
  /** called each time the loop goes round, also when it goes round in vain */
  turn?: (() => void) | undefined;
  bounds?: Bounds;
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
const connectMs = 10_000;
const retryMs = 300;
/**
 * PostgreSQL ends the session of a leader that says nothing for so long: the lock of one that was frozen (a stopped process, a machine
 * that sleeps) goes to another. It says something every two seconds, also while it publishes.
 */
const leaseSeconds = 8;
/** Without a notice the outbox and the stream are looked at this often. */
const checkMs = 5000;
const tickMs = 2000;
/** While a zone's change is tried on one node. */
const canaryMs = 500;
/** How often it is looked for what may be forgotten. */
const tidyMs = 10 * 60_000;
/**
 * Numbers left out when a relay begins. One that died may have given numbers that nobody wrote down, and the bus may have lost them since;
 * a number must never mean two documents.
 */
const numbersLeftOut = 1_000_000;
/** More than a relay publishes; what comes of it in this century has 14 digits, which every part of a node writes in full. */
const numbersPerSecond = 10_000;

export function startRelay({
  databaseUrl,
  nats,
  signer,
  outward = outwardWith('', undefined),
  log = () => {},
  turn = () => {},
  bounds = boundsDefault,
}: RelayOptions): Relay {
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
    const client = new WatchedClient({
      connectionString: databaseUrl,
      application_name: 'breakwater-relay',
      keepAlive: true,
      connectionTimeoutMillis: connectMs,
    });
    // Settling needs no lock, and the next change should not wait for it.
    const aside = new pg.Pool({
      Client: WatchedClient,
      connectionString: databaseUrl,
      application_name: 'breakwater-relay-settle',
      max: 1,
      connectionTimeoutMillis: connectMs,
    });
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
      await client.query(
        `set idle_session_timeout = '${leaseSeconds}s'; set idle_in_transaction_session_timeout = '${leaseSeconds}s'`,
      );
      await client.query('listen outbox');
      const press: Press = {
        nats,
        signer,
        outward,
        epoch: '',
        numbers: await firstNumbers(client),
        bounds,
        ledger: streams.config,
        atOnce: roundMost,
        turn: () => {
          turn();
          if (stopped || broken) throw broken ?? new Error('the relay is being stopped');
        },
      };
      const by = randomBytes(9).toString('base64url');
      // One whose lock is gone has nothing to say any more.
      const say = () => broken || tick(press, by);
      let isHolding = false;
      const keepHold = () => {
        // pg has it, its types have not; what is under way holds the session by itself
        const { readyForQuery } = client as unknown as { readyForQuery: boolean };
        if (broken || isHolding || !readyForQuery) return;
        isHolding = true;
        client.query('select 1').then(
          () => (isHolding = false),
          () => {}, // it is lost, and says so itself
        );
      };
      ticking = setInterval(() => (say(), keepHold()), tickMs);
      await trustStream(client, press, log, fenced > 1);
      say();
      await settle(client, {});
      if (fenced > 1) fenced = 0;
      active = true;
      problem = undefined;
      told = '';
      let checked = performance.now();
      let tidied = -Infinity;
      // one before us may have begun it
      let isTried = true;
      while (!stopped) {
        if (broken) throw broken;
        turn();
        noticed = false;
        if (distrust || performance.now() - checked >= checkMs) {
          distrust = false;
          checked = performance.now();
          const { epoch } = press;
          await trustStream(client, press, log, false);
          await raiseCopies(nats);
          if (epoch !== press.epoch) say();
        }
        // what ends here goes out with what follows
        if (isTried) isTried = (await advanceCanaries(client)) > 0;
        const { done, zones } = await drain(client, press, siteIDs => settleLater(aside, siteIDs));
        isTried ||= zones > 0;
        if (done > 0) fenced = 0;
        // only while there is nothing else to do
        else if (performance.now() - tidied > tidyMs) {
          if ((await forgetGone(client, nats)) === 0) tidied = performance.now();
        } else if (!noticed && !stopped && !distrust) await sleep(isTried ? canaryMs : checkMs);
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

/** Publishes what the outbox holds. @returns how many rows were done, and how many of them are of zones */
async function drain(client: pg.Client, press: Press, settleLater: (siteIDs: number[]) => void) {
  const { rows } = await client.query<OutboxRow>({
    name: 'outbox',
    text: `select id, kind, "entityID", "siteID", revision, to_json("committedAt") #>> '{}' as "committedAt" from outbox order by id limit ${roundMost}`,
  });
  if (!rows.length) return { done: 0, zones: 0 };
  const rounds = roundsOf(rows);
  const zones = rows.filter(({ kind }) => kind === 'zone').map(({ entityID }) => Number(entityID));
  if (zones.length) await beginCanaries(client, zones);
  await working('relay', () => publishRounds(client, press, [...rounds.values()]));
  // Nodes may have acknowledged before the publication was recorded, or serve the same documents already.
  settleLater([...rounds.values()].flatMap(({ changes }) => changes.map(({ siteID }) => siteID)));
  return { done: rows.length, zones: zones.length };
}

/** Site by site in the order in which they changed first: a site is recorded whole, at its newest revision, however many go out together. */
export function roundsOf(rows: readonly OutboxRow[]): Map<string, Round & { entities: Entity[]; changes: SiteChange[] }> {
  const rounds = new Map<string, Round & { entities: Entity[]; changes: SiteChange[] }>();
  const seen = new Set<string>();
  for (const row of rows) {
    const name = row.siteID === null ? `${row.kind} ${row.entityID}` : row.siteID;
    const round = rounds.get(name) ?? { entities: [], changes: [], outboxIDs: [] };
    rounds.set(name, round);
    round.outboxIDs.push(row.id);
    const entity = `${row.kind} ${row.entityID}`;
    if (!seen.has(entity)) round.entities.push({ kind: row.kind, id: Number(row.entityID) });
    seen.add(entity);
    if (row.siteID === null) continue;
    const change = { siteID: Number(row.siteID), revision: Number(row.revision), committedAt: row.committedAt };
    if (change.revision >= (round.changes[0]?.revision ?? 0)) round.changes[0] = change;
  }
  return rounds;
}
