/** The nightly lists: of each past day, the 500 first keys of each domain. May be repeated at any time; a crash leaves either the old list of a day or the new one. */
import type { Analytics } from '../store/analytics/client.ts';
import { stageTable, topDimensions } from '../store/analytics/schema.ts';
import { day, floorTo } from './scope.ts';

const keysPerDomain = 500;

/** Writes the lists of the UTC day that begins at `start` (epoch seconds) anew. */
export async function compactDay(db: Analytics, start: number): Promise<void> {
  const on = db.cluster ? ` ON CLUSTER '${db.cluster}'` : '';
  const date = new Date(start * 1000).toISOString().slice(0, 10);
  for (const dimension of topDimensions) {
    const stage = stageTable(dimension, date);
    // A partition changes places in one step, so nobody ever sees half a day, or a day twice.
    await db.command(`DROP TABLE IF EXISTS ${stage}${on} SYNC`);
    await db.command(`CREATE TABLE ${stage}${on} AS topd_${dimension}`);
    await db.command(
      `INSERT INTO ${stage} (site_id, domain_id, t, k, req, bytes) SELECT site_id, domain_id, toDateTime({from:UInt32}, 'UTC') AS t, k, sum(s.req) AS req, sum(s.bytes) AS bytes ` +
        `FROM top_${dimension} AS s WHERE s.t >= toDateTime({from:UInt32}, 'UTC') AND s.t < toDateTime({to:UInt32}, 'UTC') GROUP BY site_id, domain_id, k ` +
        `ORDER BY req DESC LIMIT ${keysPerDomain} BY site_id, domain_id`,
      { from: start, to: start + day },
      { async_insert: 0 },
    );
    const [made] = await db.query<{ n: number }>(`SELECT count() AS n FROM ${stage}`);
    if ((made?.n ?? 0) > 0) await db.command(`ALTER TABLE topd_${dimension}${on} REPLACE PARTITION '${date}' FROM ${stage}`);
    await db.command(`DROP TABLE ${stage}${on} SYNC`);
  }
}

/** How far back late lines may still change a day. */
const daysOpen = 3;

/** Compacts the last past days; for a nightly job. */
export async function compactTops(db: Analytics, now = new Date()): Promise<void> {
  const today = floorTo(now.getTime() / 1000, day);
  for (let back = daysOpen; back >= 1; back--) await compactDay(db, today - back * day);
}
