/**
 * What a node missed, from the table of what stands on the bus: in chunks, each asked for by the node when it has taken the one before in.
 * Any server process answers, and what it sends is signed as a whole, for this node and this question.
 */
import zlib from 'node:zlib';
import { type NatsConnection, headers } from '@nats-io/transport-node';
import { type Chunk, type SyncRequest, chunkHeadBytes, chunkLimits, signed } from '#contract/edge/signed.ts';
import { streams, subjects } from '#contract/edge/subjects.ts';
import type { Queryable } from '../compile/load.ts';
import type { Signer } from './credentials.ts';

export interface AnswerOptions {
  db: Queryable;
  nats: NatsConnection;
  signer: Signer;
  log?: (message: string) => void;
}
export interface Answers {
  ask(nodeID: number, request: SyncRequest): void;
  stop(): Promise<void>;
}

/** Questions worked on at once: a whole fleet that asks must not take every connection of the database. */
const workers = 2;
const packing = { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } };

/** Full chunks are the same for all nodes of a zone; after a restart of the bus they all ask at once. */
const keptMs = 5000;
const keptMost = 64;
interface Packed {
  bytes: Buffer;
  until: number;
}

export function startAnswers({ db, nats, signer, log = () => {} }: AnswerOptions): Answers {
  /** The newest question of each node, which has given up an older one. Who asks again keeps its place in the row. */
  const waiting = new Map<number, SyncRequest>();
  const kept = new Map<string, Packed>();
  const running = new Set<Promise<void>>();
  let stopped = false;

  async function work(): Promise<void> {
    for (let next; !stopped && (next = waiting.entries().next().value);) {
      const [nodeID, request] = next;
      waiting.delete(nodeID);
      try {
        await answer(nodeID, request);
      } catch (error) {
        log(`answer to node ${nodeID}: ${(error as Error).message}`); // it asks again
      }
    }
  }

  async function answer(nodeID: number, request: SyncRequest): Promise<void> {
    const key = `${request.zoneID} ${request.epoch} ${request.after} ${request.whole}`;
    let payload = kept.get(key);
    // What was packed for others is this node's only when its row says it is in that zone.
    if (payload && (payload.until < performance.now() || !(await isIn(db, nodeID, request.zoneID)))) payload = undefined;
    if (!payload) {
      const chunk = await chunkFor(db, nodeID, request);
      if (!chunk) return;
      payload = { bytes: zlib.zstdCompressSync(JSON.stringify(chunk), packing), until: performance.now() + keptMs };
      if (chunk.more && chunk.zoneID === request.zoneID) {
        kept.delete(key);
        kept.set(key, payload);
        if (kept.size > keptMost) kept.delete(kept.keys().next().value!);
      }
    }
    const head = headers();
    head.set(signed.request, request.id);
    head.set(signed.signature, signer.chunk(nodeID, request.id, payload.bytes));
    if (!nats.isClosed()) nats.publish(subjects.delivery(nodeID), payload.bytes, { headers: head });
  }

  return {
    ask: (nodeID, request) => {
      waiting.set(nodeID, request);
      if (running.size >= workers || stopped) return;
      const one = work();
      running.add(one);
      void one.finally(() => running.delete(one));
    },
    stop: async () => {
      stopped = true;
      await Promise.all(running);
    },
  };
}

async function isIn(db: Queryable, nodeID: number, zoneID: number | null): Promise<boolean> {
  const { rows } = await db.query({
    name: 'node-zone',
    text: `select 1 from node where id = $1 and "deletedAt" is null and "zoneID" = $2`,
    values: [nodeID, zoneID],
  });
  return rows.length > 0;
}

interface Row {
  zoneID: string | null;
  epoch: string | null;
  head: string;
  start: string;
  n: string | null;
  subject: string;
  body: string;
  found: string;
}

/**
 * One statement, so one moment: documents and "how far this is" belong together. Who is ahead of the head that is written
 * down reads everything: nobody can tell a number under way from one that a database of another day gave, and a node that is told
 * "nothing new" then would stay deaf to what is published below its place.
 * @returns undefined when there is nothing to be said now: the node is unknown, or the stream is being filled
 */
export async function chunkFor(db: Queryable, nodeID: number, request: SyncRequest): Promise<Chunk | undefined> {
  const { rows } = await db.query({
    name: 'chunk',
    text: `with place as (
       select n."zoneID", b.epoch, coalesce(h.n, 0) as head,
         case when b.epoch = $2 and n."zoneID" = $3 and $4 <= coalesce(h.n, 0) and ($5 or $4 >= coalesce(h.forgotten, 0)) then $4 else 0 end as start
       from node n left join "busStream" b on b.name = $6 left join "zoneHead" h on h."zoneID" = n."zoneID"
       where n.id = $1 and n."deletedAt" is null
     ), found as (
       select p.* from place cross join lateral (
         select subject, n, body from published where "zoneID" = place."zoneID" and n > place.start
         order by n limit ${chunkLimits.documents + 1}) p
     ), weighed as (
       select *, sum(octet_length(body) + ${chunkHeadBytes}) over (order by n rows between unbounded preceding and current row)
           - octet_length(body) - ${chunkHeadBytes} as before, row_number() over (order by n) as place_ from found
     )
     select place.*, w.n, w.subject, w.body, (select count(*) from found) as found
     from place left join weighed w on w.before < ${chunkLimits.bytes} and w.place_ <= ${chunkLimits.documents} order by w.n`,
    values: [nodeID, request.epoch, request.zoneID, request.after, request.whole, streams.config],
  });
  const [first] = rows as Row[];
  if (!first || first.epoch === null) return undefined;
  const documents = (rows as Row[]).flatMap(row =>
    row.n === null ? [] : [[row.subject, Number(row.n), row.body] satisfies Chunk['documents'][number]],
  );
  const start = Number(first.start);
  const zoneID = first.zoneID === null ? null : Number(first.zoneID);
  const more = documents.length < Number(first.found);
  return {
    zoneID,
    epoch: first.epoch,
    whole: request.whole || start !== request.after || request.epoch !== first.epoch || zoneID !== request.zoneID,
    after: start,
    n: more ? documents.at(-1)![1] : Math.max(Number(first.head), documents.at(-1)?.[1] ?? 0),
    more,
    documents,
  };
}
