/**
 * That a document is gone is kept as an empty text, so that a node that was away hears of it. After some days it is forgotten: the message
 * leaves the stream, the row goes, and the zone's head notes up to which number something is missing; a node that has not come so far
 * is given everything anew (answers.ts). Done by the active relay alone, over the connection that holds its lock.
 */
import type { NatsConnection } from '@nats-io/transport-node';
import { retentionDefaults } from '#contract/limits.ts';
import type { Queryable } from '../compile/load.ts';
import { eventOf } from '../kit/metrics.ts';
import { removeConfigMessage } from './streams.ts';

/** Few, so that the next change does not wait. */
const batchRows = 200;
const removed = eventOf('relay', 'tombstoneRemoved');

/** @returns how many were forgotten; fewer than a batch: there are no more */
export async function forgetGone(db: Queryable, nats: NatsConnection, limit = batchRows): Promise<number> {
  const { rows } = await db.query({
    name: 'tombstones',
    text: `select kind, "entityID", "zoneID", seq, n from published where hash = '' and "publishedAt" < now() - make_interval(days => coalesce(
       (select (value->>'tombstones')::int from setting where key = 'retention' and "clientID" is null), ${retentionDefaults.tombstones}))
     order by "publishedAt" limit $1`,
    values: [limit],
  });
  if (!rows.length) return 0;
  // The message first: what a crash leaves is found again by its row.
  for (const { seq } of rows as { seq: string }[]) await removeConfigMessage(nats, Number(seq)).catch(gone);
  await db.query({
    name: 'tombstones-gone',
    text: `with gone as (
       delete from published p using jsonb_to_recordset($1::jsonb) as g(kind text, "entityID" bigint, "zoneID" bigint, n bigint)
       where p.kind = g.kind and p."entityID" = g."entityID" and p."zoneID" = g."zoneID" and p.n = g.n and p.hash = ''
       returning p."zoneID", p.n
     )
     update "zoneHead" h set forgotten = greatest(h.forgotten, m.n) from (select "zoneID", max(n) as n from gone group by 1) m
     where h."zoneID" = m."zoneID"`,
    values: [JSON.stringify(rows)],
  });
  removed(rows.length);
  return rows.length;
}

/** There is no such message: somebody, or an earlier run, has removed it. */
function gone(error: unknown): void {
  const { code } = error as { code?: number };
  if (code !== 10_037 && code !== 10_043 && code !== 10_057) throw error;
}
