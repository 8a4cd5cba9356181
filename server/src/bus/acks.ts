/**
 * What nodes say they serve → rows: how far each node is, whether it lives, and from which revision on it serves each site.
 *
 * A node's identity is the subject it speaks on: the bus puts the id there, not the node.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { healthTimes } from '#contract/system/health.ts';
import type { Queryable } from '../compile/load.ts';
import { isDataFault, judged } from '../kit/judge.ts';
import { reachesUs } from './join.ts';
import { renewalWindowMs } from './join-token.ts';
import { type Ack, type Beat, type Refused, refusing } from './said.ts';
import { Twins } from './twins.ts';
import { offlineAfterMs } from '../kit/node-well.ts';
import { busEvents, settle } from './settle.ts';
import { followRelays } from './zone-relays.ts';

export { offlineAfterMs };

const firstWordMs = 30_000;
const sweepMs = 1000;
/** Heartbeats are written together: one statement for all nodes that spoke in this time. */
const beatBatchMs = 250;
/** A number is written down after its document went out: an acknowledgement may overtake that, by so much at most. */
const aheadMostMs = 10_000;
/** More numbers than are under way at once, given and not written down yet: who names one further off is not waited for because others' are being written down. */
const underWayMost = 1_000_000;
const retryMs = { first: 5, most: 1000 };

/**
 * Takes a node's word for how far it is in its zone. Never lowers it within one life of the stream.
 * @param msAgo when the node said so
 * @returns `ahead`: it names a number that was not given as far as the database knows, and nothing was written down. Either the relay is
 *   about to write it down, or the node knows more than a database that was restored, or it lies
 */
export async function recordAck(db: Queryable, nodeID: number, ack: Ack, msAgo = 0): Promise<'recorded' | 'ahead' | 'unknown'> {
  const { outcome } = await record(
    db,
    nodeID,
    ack,
    msAgo,
    async (id, afterSeq) => void (await settle(db, { nodeIDs: [id], afterSeq })),
  );
  return outcome;
}

/** Writes down what a node serves of what was published after a number; undefined: of all. */
type Settled = (nodeID: number, afterSeq: number | undefined) => Promise<void>;

/** @returns also the newest number that was given in the zone, as far as the database knows */
async function record(
  db: Queryable,
  nodeID: number,
  ack: Ack,
  msAgo: number,
  settled: Settled,
): Promise<{ outcome: 'recorded' | 'ahead' | 'unknown'; head: number }> {
  const { rows } = await db.query({
    name: 'ack',
    text: `with o as (
       select n.*, coalesce(h.n, 0) as head from node n left join "zoneHead" h on h."zoneID" = n."zoneID"
       where n.id = $1 and n."deletedAt" is null and n."zoneID" = $5 for update of n
     ), done as (
       update node n set "appliedSeq" = case when o."appliedEpoch" = $3 then greatest(o."appliedSeq", $2) else $2 end, "appliedEpoch" = $3,
         "appliedAt" = case when o."appliedEpoch" = $3 and o."appliedSeq" >= $2 then o."appliedAt" else clock_timestamp() - $6 * interval '1 ms' end,
         refused = $4::jsonb
       from o where n.id = o.id and $2 <= o.head
       returning o."appliedSeq" as before, o."appliedEpoch" = $3 and o.refused = $4::jsonb as same
     ) select o.head < $2 as ahead, o.head, done.* from o left join done on true`,
    values: [nodeID, ack.seq, ack.epoch, JSON.stringify(ack.refused ?? []), ack.zoneID, msAgo],
  });
  const row = rows[0] as { ahead: boolean; head: string; before: string; same: boolean } | undefined;
  const head = Number(row?.head ?? 0);
  if (!row) return { outcome: 'unknown', head };
  if (row.ahead) return { outcome: 'ahead', head };
  // Another epoch, or another list of refusals: anything may have changed for this node.
  await settled(nodeID, row.same ? Number(row.before) : undefined);
  return { outcome: 'recorded', head };
}

export interface AckOptions {
  db: Queryable;
  /** since when everything nodes say reaches us; infinity while it does not */
  hearingSince(): number;
  /** a node is not where its row says: it must fetch what it was granted */
  renew?: (nodeID: number) => void;
  /** how long an acknowledgement may name a number that was not given yet */
  aheadMs?: number;
  log?: (message: string) => void;
}
export interface Acks {
  ack(nodeID: number, ack: Ack): void;
  /** @param cameMs when it came to the bus: by that the node's clock is judged */
  beat(nodeID: number, beat: Beat, cameMs?: number): void;
  stop(): Promise<void>;
}

export function startAcks({ db, hearingSince, renew = () => {}, aheadMs = aheadMostMs, log = () => {} }: AckOptions): Acks {
  const refuse = refusing(log);
  const waiting = new Map<number, Ack>();
  const busy = new Set<number>();
  /**
   * Nodes that are ahead of what was given: the first number they named so that still was not, how far the zone was when it last came
   * nearer to that, and when. Later words, with whatever numbers, change nothing about the first.
   */
  const aheadOf = new Map<number, { seq: number; head: number; since: number }>();
  /** Words in the order in which they came: a heartbeat says nothing new to whoever heard an acknowledgement after it. */
  let words = 0;
  const ackWord = new Map<number, number>();
  let stopped = false;
  const beats = new Map<number, { beat: Beat & { clockMs?: number; twin?: true; another?: true }; word: number }>();
  const twins = new Twins();
  /** Nodes in whose name two machines spoke, or may have spoken, when they were heard last. */
  const withTwin = new Set<number>();
  /** Those of them in whose name one speaks again: asked to renew once its row says so, or what it tells would not count. */
  const isLeft = new Set<number>();
  const settled = settledTogether(db);
  const work = new Set<Promise<void>>();
  let beatTimer: NodeJS.Timeout | undefined;

  const take = async (nodeID: number, ack: Ack) => {
    const heard = performance.now();
    for (let wait = retryMs.first; ; wait = Math.min(wait * 2, retryMs.most)) {
      const { outcome, head } = await record(db, nodeID, ack, performance.now() - heard, settled);
      if (outcome !== 'ahead') return void aheadOf.delete(nodeID);
      let before = aheadOf.get(nodeID);
      if (!before || before.seq <= head) aheadOf.set(nodeID, (before = { seq: ack.seq, head, since: performance.now() }));
      if (head > before.head && before.seq - head <= underWayMost) before.since = performance.now();
      before.head = head;
      const isLate = performance.now() - before.since > aheadMs;
      const name = () =>
        refuse(nodeID, 'ack', `it says it serves number ${ack.seq} of zone ${ack.zoneID}, which was never given`);
      // Said again, it may be right by now: nobody is named at the first look.
      if (isLate && wait > retryMs.first) return name();
      await sleep(wait);
      if (isLate && waiting.has(nodeID)) name(); // who always has another number would never be looked at twice
      if (stopped || waiting.has(nodeID)) return; // the newest counts
    }
  };

  /** One statement at a time per node; what arrives meanwhile is folded into the newest. */
  const takeAck = async (nodeID: number) => {
    if (busy.has(nodeID)) return;
    busy.add(nodeID);
    try {
      for (let ack; (ack = waiting.get(nodeID));) {
        waiting.delete(nodeID);
        await take(nodeID, ack);
      }
    } catch (error) {
      if (isDataFault(error)) refuse(nodeID, 'ack', (error as Error).message);
      else log(`acknowledgement of node ${nodeID}: ${(error as Error).message}`); // its next heartbeat says the same again
    } finally {
      busy.delete(nodeID);
    }
  };
  const track = (promise: Promise<void>) => {
    work.add(promise);
    void promise.finally(() => work.delete(promise));
  };

  const flushBeats = async () => {
    beatTimer = undefined;
    const batch = [...beats].map(([id, one]) => ({ id, ...one }));
    beats.clear();
    try {
      const told = await judged(batch, part => recordBeats(db, part), {
        isTheirFault: isDataFault,
        refuse: ({ id }, error) => refuse(id, 'beat', error.message),
      });
      const wordOf = new Map(batch.map(({ id, word }) => [id, word]));
      for (const { id, beat, zoneID, seq, epoch, refused } of told.flat()) {
        if ((!('twin' in beat || 'another' in beat) && isLeft.delete(id)) || zoneID !== beat.zoneID) renew(id);
        if (ackWord.get(id)! > wordOf.get(id)!) continue; // it has said more since
        if (beat.epoch === '' || zoneID !== beat.zoneID) continue; // it serves nothing yet, or not where it belongs
        // A lost acknowledgement is mended here.
        if (epoch !== beat.epoch || seq < beat.seq || names(refused) !== names(beat.refused ?? [])) {
          waiting.set(id, beat);
          track(takeAck(id));
        }
      }
    } catch (error) {
      log(`heartbeats: ${(error as Error).message}`);
    }
  };

  // While we hear nobody, because our own connection is gone or new, silence says nothing about nodes.
  const sweeper = setInterval(() => {
    if (performance.now() - hearingSince() < offlineAfterMs) return;
    track(sweep(db).catch(error => log(`offline nodes: ${(error as Error).message}`)));
    track(followRelays(db).catch(error => log(`relays of zones: ${String(error)}`)));
  }, sweepMs);

  return {
    ack: (nodeID, ack) => {
      ackWord.set(nodeID, ++words);
      waiting.set(nodeID, ack);
      track(takeAck(nodeID));
    },
    beat: (nodeID, beat, cameMs) => {
      const clockMs = cameMs === undefined || beat.at === undefined ? undefined : Math.round(beat.at - cameMs);
      const twin = twins.heard(nodeID, beat.startedAt, performance.now(), beat.boot)
        ? { twin: true as const }
        : twins.twoBoots(nodeID) && { another: true as const };
      // The row may have the addresses of the one that is gone, and the one that is left has told its own and tells them no more by itself.
      if (twin) withTwin.add(nodeID);
      else if (withTwin.delete(nodeID)) isLeft.add(nodeID);
      beats.set(nodeID, { beat: { ...beat, ...(clockMs !== undefined && { clockMs }), ...twin }, word: ++words });
      beatTimer ??= setTimeout(() => track(flushBeats()), beatBatchMs);
    },
    stop: async () => {
      stopped = true;
      clearInterval(sweeper);
      clearTimeout(beatTimer);
      await Promise.all(work);
    },
  };
}

/**
 * A change reaches all nodes of its zone in the same moment: of those that come while one statement runs the next one writes down all.
 * One that may serve anything, as it reads another epoch, is looked at by itself.
 */
function settledTogether(db: Queryable): Settled {
  type One = { nodeID: number; afterSeq: number; resolve(): void; reject(error: unknown): void };
  let waiting: One[] = [];
  let running = false;
  const alone = ({ nodeID, afterSeq, resolve, reject }: One) => settle(db, { nodeIDs: [nodeID], afterSeq }).then(resolve, reject);
  const run = async () => {
    running = true;
    while (waiting.length) {
      const batch = waiting;
      waiting = [];
      const nodeIDs = batch.map(one => one.nodeID);
      const afterSeq = Math.min(...batch.map(one => one.afterSeq));
      await settle(db, { nodeIDs, afterSeq }).then(
        () => batch.forEach(one => one.resolve()),
        // what one of them is to blame for is not the others'
        async (error: Error) => {
          if (batch.length === 1) batch[0]!.reject(error);
          else await Promise.all(batch.map(alone));
        },
      );
    }
    running = false;
  };
  return async (nodeID, afterSeq) => {
    if (afterSeq === undefined) return void (await settle(db, { nodeIDs: [nodeID] }));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.push({ nodeID, afterSeq, resolve, reject });
    if (!running) void run();
    return promise;
  };
}

const names = (refused: Refused[]) => refused.map(({ subject, seq }) => `${subject} ${seq}`).join();

interface BeatRow {
  id: number;
  beat: Beat;
  zoneID: number | null;
  seq: number;
  epoch: string;
  refused: Refused[];
}

/** Statuses that a heartbeat may end; the others (paused) are an operator's word. */
const heard = ['unknown', 'offline', 'natsError', 'reconnect', 'error', 'normal'];

/** A time PostgreSQL takes, or null. */
function startedMs(startedAt: string): number | null {
  const ms = Date.parse(startedAt);
  return ms > 0 && ms < 1e14 ? ms : null;
}

async function recordBeats(db: Queryable, batch: readonly { id: number; beat: Beat }[]): Promise<BeatRow[]> {
  const { rows } = await db.query({
    name: 'beats',
    text: `with said as (select id, beat from jsonb_to_recordset($1::jsonb) as r(id bigint, beat jsonb)),
     old as (select n.id, n.status from node n join said on said.id = n.id where n."deletedAt" is null order by n.id for update of n),
     now_ as (
       update node n set "lastBeat" = clock_timestamp(), "silentSince" = null, version = left(said.beat->>'version', 64), beat = said.beat,
         "startedAt" = coalesce(to_timestamp((said.beat->>'startedMs')::float8 / 1000), n."startedAt"),
         -- one that is online and does not serve what was published is no normal node, whatever it says
         status = case when old.status <> all($2::text[]) then old.status
           when said.beat->>'problem' is not null or said.beat ? 'twin' or abs((said.beat->>'clockMs')::float8) > ${renewalWindowMs} or exists (select from publication p where p."zoneID" = n."zoneID" and p.seq > n."appliedSeq"
             and greatest(p."committedAt", n."updatedAt") < clock_timestamp() - ${healthTimes.unservedSeconds} * interval '1 second') then 'error' else 'normal' end
       from said join old on old.id = said.id where n.id = said.id
       returning n.id, n.status, n."zoneID", n."appliedSeq", n."appliedEpoch", n.refused
     )
     select now_.*, case when now_.status <> old.status then pg_notify('node', now_.id || ' ' || now_.status)::text end as told,
       now_.status <> old.status as changed
     from now_ join old using (id)`,
    values: [
      JSON.stringify(batch.map(({ id, beat }) => ({ id, beat: { ...beat, startedMs: startedMs(beat.startedAt) } }))),
      heard,
    ],
  });
  const said = new Map(batch.map(({ id, beat }) => [id, beat]));
  type Row = {
    id: string;
    status: string;
    zoneID: string | null;
    appliedSeq: string;
    appliedEpoch: string;
    refused: Refused[];
    changed: boolean;
  };
  return (rows as Row[]).map(row => {
    const id = Number(row.id);
    if (row.changed) busEvents.emit('node', id, row.status);
    return {
      id,
      beat: said.get(id)!,
      zoneID: row.zoneID === null ? null : Number(row.zoneID),
      seq: Number(row.appliedSeq),
      epoch: row.appliedEpoch,
      refused: row.refused,
    };
  });
}

/**
 * Nodes that have been silent too long are offline; those that reach our API all the same are on their way back to the bus. A paused one
 * stays paused, and it is written down beside that.
 */
async function sweep(db: Queryable): Promise<void> {
  const { rows } = await db.query({
    name: 'offline',
    text: `with judged as (
       -- 'reconnect': it has asked for credentials since it spoke last
       select n.id, case when a.asks then 'reconnect' else 'offline' end as status
       from node n cross join lateral (select ${reachesUs('n')} and n."lastBeat" < n."credentialsAt" as asks) a
       where n."deletedAt" is null and (n.status in ('normal', 'error', 'reconnect', 'natsError')
           and n."lastBeat" < clock_timestamp() - $1 * interval '1 ms'
           -- one that was cut off is silent for that reason, and whoever looks is to read it
           and not (n.status = 'natsError' and n."cutUntil" is not null and n."cutUntil" > clock_timestamp())
         -- one that has just joined, or was just resumed, has a while for its first word; greatest passes over null
         or n.status = 'unknown' and greatest(n."lastBeat", n."updatedAt") < clock_timestamp() - $2 * interval '1 ms'
         or n.status = 'offline' and a.asks)
     ), silent as (
       update node set "silentSince" = coalesce("lastBeat", clock_timestamp()) where "deletedAt" is null and status = 'paused' and "silentSince" is null
         and coalesce("lastBeat" < clock_timestamp() - $1 * interval '1 ms', "createdAt" < clock_timestamp() - $2 * interval '1 ms')
     ), gone as (
       update node n set status = j.status from judged j where n.id = j.id and n.status <> j.status returning n.id, n.status
     ) select id, status, pg_notify('node', id || ' ' || status)::text as told from gone`,
    values: [offlineAfterMs, firstWordMs],
  });
  for (const row of rows as { id: string; status: string }[]) busEvents.emit('node', Number(row.id), row.status);
}
