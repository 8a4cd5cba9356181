/**
 * What nodes say they serve → rows: how far each node is, whether it lives, and from which revision on it serves each site.
 *
 * A node's identity is the subject it speaks on; its credentials let it use no other.
 */
import { EventEmitter } from 'node:events';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { streams, subjects } from '#contract/edge/subjects.ts';
import type { Queryable } from '../compile/load.ts';

/** Three missed heartbeats of 2 s, and some air. */
export const offlineAfterMs = 7000;
const sweepMs = 1000;
/** Heartbeats are written together: one statement for all nodes that spoke in this time. */
const beatBatchMs = 250;

export interface Refused {
  subject: string;
  seq: number;
  why: string;
}
export interface Ack {
  seq: number;
  epoch: string;
  /** documents the node could not accept; their sites are not served as wished */
  refused?: Refused[];
}
export interface Beat extends Ack {
  zoneID: number | null;
  version: string;
  /** ISO 8601 */
  startedAt: string;
  /** why the node does not serve as it should; null when it does */
  problem: string | null;
  [fact: string]: unknown;
}

export interface BusEvents {
  /** these sites are now served in a newer revision by some node */
  applied: [siteIDs: number[]];
  /** a node's status changed */
  node: [nodeID: number, status: string];
}
/** Events of this process alone; NOTIFY on the channels `applied` (site ids, comma-separated; empty: many) and `node` (`id status`) reaches all. */
export const busEvents = new EventEmitter<BusEvents>();

/**
 * Writes down which nodes serve which published revisions: all of them, or those of some sites, or of one node.
 * `ms` is the time from the commit to the acknowledgement; for a node that already served the same documents, to now.
 */
export async function settle(db: Queryable, only: { siteIDs?: number[]; nodeID?: number; afterSeq?: number }): Promise<number[]> {
  if (only.siteIDs?.length === 0) return [];
  const { rows } = await db.query({
    name: 'settle',
    text: `with settled as (
       insert into ack ("nodeID", "siteID", revision, ms)
       select n.id, p."siteID", p.revision, least(2147483647, greatest(0, round(1000 * extract(epoch from
         (case when n."appliedAt" > p."committedAt" then n."appliedAt" else clock_timestamp() end) - p."committedAt"))))::int
       from publication p
       join node n on n."zoneID" = p."zoneID" and n."deletedAt" is null and n."appliedSeq" >= p.seq
         and n."appliedEpoch" = (select epoch from "busStream" where name = $1)
       left join ack a on a."nodeID" = n.id and a."siteID" = p."siteID"
       where (a.revision is null or a.revision < p.revision)
         and ($2::bigint[] is null or p."siteID" = any($2)) and ($3::bigint is null or n.id = $3) and ($4::bigint is null or p.seq > $4)
         and (n.refused = '[]' or not exists (
           select from jsonb_array_elements(n.refused) r join published d on d.subject = r->>'subject' where d."siteID" = p."siteID"))
       on conflict ("nodeID", "siteID") do update set revision = excluded.revision, ms = excluded.ms where ack.revision < excluded.revision
       returning "siteID"
     ), sites as (select distinct "siteID" from settled),
     text as (select string_agg("siteID"::text, ',') as ids, count(*) as n from sites)
     select "siteID", (select pg_notify('applied', case when length(ids) < 7900 then ids else '' end)::text from text where n > 0) as told from sites`,
    values: [streams.config, only.siteIDs ?? null, only.nodeID ?? null, only.afterSeq ?? null],
  });
  const siteIDs = (rows as { siteID: string }[]).map(row => Number(row.siteID));
  if (siteIDs.length) busEvents.emit('applied', siteIDs);
  return siteIDs;
}

/** Takes a node's word for how far it is. Never lowers it within one life of the stream. */
export async function recordAck(db: Queryable, nodeID: number, ack: Ack): Promise<void> {
  const { rows } = await db.query({
    name: 'ack',
    text: `update node n set "appliedSeq" = case when o."appliedEpoch" = $3 then greatest(o."appliedSeq", $2) else $2 end, "appliedEpoch" = $3,
       "appliedAt" = case when o."appliedEpoch" = $3 and o."appliedSeq" >= $2 then o."appliedAt" else clock_timestamp() end,
       refused = $4::jsonb
     from (select * from node where id = $1 and "deletedAt" is null for update) o where n.id = o.id
     returning o."appliedSeq" as before, o."appliedEpoch" = $3 and o.refused = $4::jsonb as same`,
    values: [nodeID, ack.seq, ack.epoch, JSON.stringify(ack.refused ?? [])],
  });
  const row = rows[0] as { before: string; same: boolean } | undefined;
  if (!row) return;
  // Another epoch, or another list of refusals: anything may have changed for this node.
  await settle(db, { nodeID, afterSeq: row.same ? Number(row.before) : undefined });
}

const validAck = (ack: Partial<Ack> | null): ack is Ack =>
  typeof ack === 'object' &&
  ack !== null &&
  Number.isSafeInteger(ack.seq) &&
  typeof ack.epoch === 'string' &&
  refusedOK(ack.refused);
const refusedOK = (list: unknown) => list === undefined || (Array.isArray(list) && list.length <= 100);

export interface AckOptions {
  db: Queryable;
  nats: NatsConnection;
  /** a node's credentials name another zone than its row: it must fetch new ones */
  renew?: (nodeID: number) => void;
  log?: (message: string) => void;
}

/** Listens to acknowledgements and heartbeats. Several processes may: each message is taken by one of them. */
export function startAcks({ db, nats, renew = () => {}, log = () => {} }: AckOptions): { stop(): Promise<void> } {
  const waiting = new Map<number, Ack>();
  const busy = new Set<number>();
  const beats = new Map<number, Beat>();
  const work = new Set<Promise<void>>();
  let upSince = Date.now();
  let beatTimer: NodeJS.Timeout | undefined;

  /** One statement at a time per node; what arrives meanwhile is folded into the newest. */
  const takeAck = async (nodeID: number) => {
    if (busy.has(nodeID)) return;
    busy.add(nodeID);
    try {
      for (let ack; (ack = waiting.get(nodeID));) {
        waiting.delete(nodeID);
        await recordAck(db, nodeID, ack);
      }
    } catch (error) {
      log(`acknowledgement of node ${nodeID}: ${(error as Error).message}`); // its next heartbeat says the same again
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
    const batch = [...beats].map(([id, beat]) => ({ id, beat }));
    beats.clear();
    try {
      for (const { id, beat, zoneID, seq, epoch, refused } of await recordBeats(db, batch)) {
        if (zoneID !== (beat.zoneID ?? null)) renew(id);
        if (beat.epoch === '') continue; // it serves nothing yet
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

  const parse = (msg: Msg): { nodeID: number; body: Partial<Beat> } | undefined => {
    try {
      return { nodeID: Number(msg.subject.split('.')[1]), body: msg.json<Partial<Beat>>() };
    } catch {
      return undefined;
    }
  };
  const subscriptions = [
    nats.subscribe(subjects.ackAll, {
      queue: 'server',
      callback: (error, msg) => {
        const said = error ? undefined : parse(msg);
        if (!said || !validAck(said.body)) return;
        waiting.set(said.nodeID, said.body);
        track(takeAck(said.nodeID));
      },
    }),
    nats.subscribe(subjects.beatAll, {
      queue: 'server',
      callback: (error, msg) => {
        const said = error ? undefined : parse(msg);
        if (!said || !validAck(said.body) || typeof said.body.version !== 'string') return;
        beats.set(said.nodeID, said.body as Beat);
        beatTimer ??= setTimeout(() => track(flushBeats()), beatBatchMs);
      },
    }),
  ];

  // While we hear nobody, because our own connection is gone or new, silence says nothing about nodes.
  const sweeper = setInterval(() => {
    if (nats.isClosed() || Date.now() - upSince < offlineAfterMs) return;
    track(sweep(db).catch(error => log(`offline nodes: ${(error as Error).message}`)));
  }, sweepMs);
  void (async () => {
    for await (const status of nats.status()) {
      if (status.type === 'disconnect') upSince = Number.POSITIVE_INFINITY;
      else if (status.type === 'reconnect') upSince = Date.now();
    }
  })();

  return {
    stop: async () => {
      clearInterval(sweeper);
      clearTimeout(beatTimer);
      for (const subscription of subscriptions) subscription.unsubscribe();
      await Promise.all(work);
    },
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

async function recordBeats(db: Queryable, batch: { id: number; beat: Beat }[]): Promise<BeatRow[]> {
  const { rows } = await db.query({
    name: 'beats',
    text: `with said as (select id, beat from jsonb_to_recordset($1::jsonb) as r(id bigint, beat jsonb)),
     old as (select n.id, n.status from node n join said on said.id = n.id where n."deletedAt" is null order by n.id for update of n),
     now_ as (
       update node n set "lastBeat" = clock_timestamp(), version = left(said.beat->>'version', 64), beat = said.beat,
         "startedAt" = coalesce(to_timestamp((said.beat->>'startedMs')::float8 / 1000), n."startedAt"),
         status = case when old.status <> all($2::text[]) then old.status when said.beat->>'problem' is null then 'normal' else 'error' end
       from said join old on old.id = said.id where n.id = said.id
       returning n.id, n.status, n."zoneID", n."appliedSeq", n."appliedEpoch", n.refused
     )
     select now_.*, case when now_.status <> old.status then pg_notify('node', now_.id || ' ' || now_.status)::text end as told,
       now_.status <> old.status as changed
     from now_ join old using (id)`,
    values: [
      JSON.stringify(batch.map(({ id, beat }) => ({ id, beat: { ...beat, startedMs: Date.parse(beat.startedAt) || null } }))),
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

/** Nodes that have been silent too long are offline. */
async function sweep(db: Queryable): Promise<void> {
  const { rows } = await db.query({
    name: 'offline',
    text: `with gone as (
       update node set status = 'offline' where "deletedAt" is null and status in ('normal', 'error', 'reconnect', 'natsError')
         and "lastBeat" < clock_timestamp() - $1 * interval '1 ms' returning id
     ) select id, pg_notify('node', id || ' offline')::text as told from gone`,
    values: [offlineAfterMs],
  });
  for (const row of rows as { id: string }[]) busEvents.emit('node', Number(row.id), 'offline');
}

export interface Applied {
  revision: number;
  nodes: number;
  applied: number;
  /** milliseconds from commit to the last node's acknowledgement; null while one is missing */
  ms: number | null;
  /** ISO 8601 */
  changedAt: string | null;
  perNode: { nodeID: number; name: string; status: string; revision: number; ms: number | null }[];
  errors: { kind: string; id: number; message: string }[];
}

/**
 * How far a site's last change is: the answer of `GET …/applied`. A change that waits in the outbox counts: its revision is the
 * site's, and no node serves it.
 * @returns undefined when there is no such site
 */
export async function siteApplied(db: Queryable, siteID: number): Promise<Applied | undefined> {
  const { rows } = await db.query({
    name: 'applied',
    text: `select jsonb_build_object(
       'revision', s.revision, 'changedAt', s."changedAt",
       'perNode', coalesce((select jsonb_agg(jsonb_build_object('nodeID', n.id, 'name', n.name, 'status', n.status,
           'revision', coalesce(a.revision, 0), 'ms', case when a.revision >= s.revision then a.ms end) order by n.id)
         from node n left join ack a on a."nodeID" = n.id and a."siteID" = s.id
         where n."zoneID" = g."zoneID" and n."deletedAt" is null), '[]'),
       'errors', coalesce((select jsonb_agg(jsonb_build_object('kind', e.kind, 'id', e."entityID", 'message', e.message) order by e.kind, e."entityID")
         from "compileError" e where e."siteID" = s.id), '[]')) as answer
     from site s left join (product p join "group" g on g.id = p."groupID") on p.id = s."productID"
     where s.id = $1 and s."deletedAt" is null`,
    values: [siteID],
  });
  const row = rows[0] as { answer: Pick<Applied, 'revision' | 'changedAt' | 'perNode' | 'errors'> } | undefined;
  if (!row) return undefined;
  const { revision, changedAt, perNode, errors } = row.answer;
  const done = perNode.filter(node => node.revision >= revision);
  return {
    revision,
    nodes: perNode.length,
    applied: done.length,
    ms: perNode.length > 0 && done.length === perNode.length ? Math.max(...done.map(node => node.ms ?? 0)) : null,
    changedAt: changedAt && new Date(changedAt).toISOString(),
    perNode,
    errors: errors.slice(0, 100).map(error => ({ ...error, message: error.message.slice(0, 500) })),
  };
}
