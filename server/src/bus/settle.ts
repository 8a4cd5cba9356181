/** Which nodes serve which published revisions, and who hears of it. */
import { EventEmitter } from 'node:events';
import type * as z from 'zod/mini';
import { refusedNamedMost } from '#contract/edge/signed.ts';
import { streams } from '#contract/edge/subjects.ts';
import type { Applied as AppliedShape } from '#contract/site/sites.ts';
import type { Queryable } from '../compile/load.ts';
import { offlineAfterMs } from '../kit/node-well.ts';

export interface BusEvents {
  /** these sites are now served in a newer revision by some node */
  applied: [siteIDs: number[]];
  /** a node's status changed */
  node: [nodeID: number, status: string];
  /** a node says what became of a command */
  answer: [nodeID: number, answer: { count: number; ok: boolean; why?: string | undefined }];
}
/** Events of this process alone; NOTIFY on the channels `applied` (site ids, comma-separated; empty: many) and `node` (`id status`) reaches all. */
export const busEvents = new EventEmitter<BusEvents>();

/** Documents that node `n` refuses, and whose they are; null: of more than one site, so none is served as wished. Of a node that names as many as it may nobody knows the rest. */
const refusedDocuments = `jsonb_array_elements(n.refused) r left join published d on d.subject = r->>'subject'`;
const refusedSite = `case when jsonb_array_length(n.refused) < ${refusedNamedMost} then d."siteID" end`;

/**
 * Writes down which nodes serve which published revisions: all of them, or those of some sites, or of some nodes.
 * `ms` is the time from the commit to the acknowledgement; for a node that already served the same documents, to now.
 */
export async function settle(
  db: Queryable,
  only: { siteIDs?: number[]; nodeIDs?: number[]; afterSeq?: number | undefined },
): Promise<number[]> {
  if (only.siteIDs?.length === 0) return [];
  const { rows } = await db.query({
    name: 'settle',
    // Which sites a node refuses is found once: a node may name a hundred documents, and change the list with every word.
    text: `with "refusedSite" as materialized (
       select distinct n.id as "nodeID", ${refusedSite} as "siteID" from node n, ${refusedDocuments}
       where n.refused <> '[]' and n."deletedAt" is null and ($3::bigint[] is null or n.id = any($3))
     ), settled as (
       insert into ack ("nodeID", "siteID", revision, ms)
       select n.id, p."siteID", p.revision, least(2147483647, greatest(0, round(1000 * extract(epoch from
         (case when n."appliedAt" > p."committedAt" then n."appliedAt" else clock_timestamp() end) - p."committedAt"))))::int
       from publication p
       join node n on n."zoneID" = p."zoneID" and n."deletedAt" is null and n."appliedSeq" >= p.seq
         and n."appliedEpoch" = (select epoch from "busStream" where name = $1)
       left join ack a on a."nodeID" = n.id and a."siteID" = p."siteID"
       where (a.revision is null or a.revision < p.revision)
         and ($2::bigint[] is null or p."siteID" = any($2)) and ($3::bigint[] is null or n.id = any($3)) and ($4::bigint is null or p.seq > $4)
         and not exists (select from "refusedSite" x where x."nodeID" = n.id and (x."siteID" = p."siteID" or x."siteID" is null))
       on conflict ("nodeID", "siteID") do update set revision = excluded.revision, ms = excluded.ms where ack.revision < excluded.revision
       returning "siteID"
     ), sites as (select distinct "siteID" from settled),
     text as (select string_agg("siteID"::text, ',') as ids, count(*) as n from sites)
     select "siteID", (select pg_notify('applied', case when length(ids) < 7900 then ids else '' end)::text from text where n > 0) as told from sites`,
    values: [streams.config, only.siteIDs ?? null, only.nodeIDs ?? null, only.afterSeq ?? null],
  });
  const siteIDs = (rows as { siteID: string }[]).map(row => Number(row.siteID));
  if (siteIDs.length) busEvents.emit('applied', siteIDs);
  return siteIDs;
}

type AppliedAnswer = z.output<typeof AppliedShape>;

export interface Applied {
  revision: number;
  nodes: number;
  applied: number;
  /** milliseconds from commit to the last node's acknowledgement; null while one is missing */
  ms: number | null;
  /** ISO 8601 */
  changedAt: string | null;
  /** refused: documents of this site, or of all sites, that the node does not take; unknownFields: fields of documents that it does not know */
  perNode: {
    nodeID: number;
    name: string;
    status: string;
    revision: number;
    ms: number | null;
    refused: number;
    unknownFields: number;
    lag: AppliedAnswer['perNode'][number]['lag'];
  }[];
  errors: AppliedAnswer['errors'];
}

/** What is known of a node that does not serve a change. */
interface LagFacts {
  silent: boolean;
  lastBeat: string | null;
  problem: string | null;
  isPublished: boolean;
  isOfStream: boolean;
  documents: string | null;
  behind: number;
  behindSince: string | null;
}
type Lag = NonNullable<Applied['perNode'][number]['lag']>;

/** What keeps it, the cause before what follows from it. */
function lagOf(status: string, refused: number, facts: LagFacts): Lag {
  const iso = (time: string | null) => time && new Date(time).toISOString();
  const lag = (why: Lag['why'], since: string | null = null, detail = '', count: number | null = null): Lag => ({
    ...{ why, since: iso(since), count, detail },
  });
  if (refused > 0) return lag('refused', null, facts.documents ?? '');
  if (status === 'natsError' || status === 'reconnect') return lag('bus', facts.lastBeat);
  if (facts.silent) return lag('offline', facts.lastBeat);
  if (facts.problem !== null) return lag('ill', facts.behindSince, facts.problem.slice(0, 900));
  if (!facts.isPublished) return lag('unpublished');
  if (!facts.isOfStream) return lag('reading');
  return lag('behind', facts.behindSince, '', facts.behind);
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
           'revision', coalesce(a.revision, 0), 'ms', case when a.revision >= s.revision then a.ms end, 'refused', f.refused,
           'unknownFields', case jsonb_typeof(n.beat->'unknownFields') when 'number' then (n.beat->>'unknownFields')::float8::bigint else 0 end,
           'lag', case when a.revision >= s.revision and f.refused = 0 then null else jsonb_build_object(
             'silent', coalesce(n."lastBeat" < clock_timestamp() - interval '${offlineAfterMs} ms', true), 'lastBeat', n."lastBeat",
             'problem', n.beat->>'problem', 'isPublished', coalesce(u.revision >= s.revision, false), 'isOfStream', n."appliedEpoch" = b.epoch,
             'documents', f.documents,
             'behind', (select count(*) from publication p where p."zoneID" = n."zoneID" and p.seq > n."appliedSeq" and p.seq <= u.seq),
             'behindSince', (select min(p."committedAt") from publication p where p."zoneID" = n."zoneID" and p.seq > n."appliedSeq")) end) order by n.id)
         from node n left join ack a on a."nodeID" = n.id and a."siteID" = s.id left join publication u on u."siteID" = s.id
         left join "busStream" b on b.name = $2
         cross join lateral (select count(*) as refused,
             left(string_agg(concat(r->>'subject', ': ', r->>'why'), '; '), 900) as documents from ${refusedDocuments} where coalesce(${refusedSite}, s.id) = s.id) f
         where n."zoneID" = g."zoneID" and n."deletedAt" is null), '[]'),
       'errors', coalesce((select jsonb_agg(jsonb_build_object('kind', e.kind, 'id', e.id, 'message', e.message, 'rule', e.rule, 'params', e.params) order by e.kind, e.id, e.message)
         from (select kind, "entityID" as id, message, null as rule, null::jsonb as params from "compileError" where "siteID" = s.id
           -- documents that a node does not take
           union select d.kind, d."entityID", concat(n.name, ': ', r->>'why'), 'nodeRefused',
             jsonb_build_object('node', n.name, 'why', left(r->>'why', 500)) from node n, ${refusedDocuments}
           where n."zoneID" = g."zoneID" and n."deletedAt" is null and d."siteID" = s.id
           -- origins that a node does not connect to, as its last heartbeat says: it knows a name alone, which is the served domain's
           union select 'origin', d.id, concat(d."domainName", ': ', r->>'address', ' port ', r->>'port', ' is refused (', r->>'kind', ')'),
             'originRefused', jsonb_build_object('domain', d."domainName", 'address', left(r->>'address', 100), 'port', r->>'port')
           from node n, jsonb_array_elements(case jsonb_typeof(n.beat->'refusedOrigins') when 'array' then n.beat->'refusedOrigins' else '[]' end) r
           join domain d on d."domainName" = r->>'host' and d.status = 1
           where n."zoneID" = g."zoneID" and n."deletedAt" is null and d."siteID" = s.id and d."deletedAt" is null
           union select 'origin', o.id, concat(s."siteName", ':', o.port, ': ', r->>'address', ' port ', r->>'port', ' is refused (', r->>'kind', ')'),
             'originRefused', jsonb_build_object('domain', concat(s."siteName", ':', o.port), 'address', left(r->>'address', 100), 'port', r->>'port')
           from node n, jsonb_array_elements(case jsonb_typeof(n.beat->'refusedOrigins') when 'array' then n.beat->'refusedOrigins' else '[]' end) r
           join port o on concat(o."siteID", ':', o.port) = r->>'host'
           where n."zoneID" = g."zoneID" and n."deletedAt" is null and o."siteID" = s.id and o."deletedAt" is null) e), '[]')) as answer
     from site s left join (product p join "group" g on g.id = p."groupID") on p.id = s."productID"
     where s.id = $1 and s."deletedAt" is null`,
    values: [siteID, streams.config],
  });
  type Told = Omit<Applied['perNode'][number], 'lag'> & { lag: LagFacts | null };
  type Answer = Pick<Applied, 'revision' | 'changedAt' | 'errors'> & { perNode: Told[] };
  const row = rows[0] as { answer: Answer } | undefined;
  if (!row) return undefined;
  const { revision, changedAt, errors } = row.answer;
  const perNode = row.answer.perNode.map(node => ({ ...node, lag: node.lag && lagOf(node.status, node.refused, node.lag) }));
  const done = perNode.filter(node => node.revision >= revision && node.refused === 0);
  return {
    revision,
    nodes: perNode.length,
    applied: done.length,
    ms: perNode.length > 0 && done.length === perNode.length ? Math.max(...done.map(node => node.ms ?? 0)) : null,
    changedAt: changedAt && new Date(changedAt).toISOString(),
    perNode,
    // some of them are told to nobody who asks
    errors: errors.slice(0, 1000).map(error => ({ ...error, message: error.message.slice(0, 500) })),
  };
}
