/** Bytes to visitors by site and by the days of a month: the figure of the charts (type 2), of the same table. */
import type { Analytics } from '../store/analytics/client.ts';
import { totalOf } from './types.ts';

export interface SiteBytes {
  siteID: number;
  /** the last of the boundaries that lies before */
  from: number;
  bytes: number;
}
/** Sites that one question names. */
const atOnce = 1000;

/** `boundaries`: epoch seconds, rising, on the grid of 5-minute steps; counted is from the first until before the last. Steps without traffic are left out. */
export async function bytesBetween(
  db: Analytics,
  siteIDs: readonly number[],
  boundaries: readonly number[],
): Promise<SiteBytes[]> {
  const found: SiteBytes[] = [];
  const [from, to] = [boundaries[0]!, boundaries.at(-1)!];
  for (let i = 0; i < siteIDs.length; i += atOnce)
    found.push(
      ...(await db.query<SiteBytes>(
        `SELECT site_id AS siteID, roundDown(toUnixTimestamp(t), {bounds:Array(UInt32)}) AS \`from\`, ${totalOf('bytes')} AS bytes FROM s5 ` +
          "WHERE site_id IN {sites:Array(UInt32)} AND t >= toDateTime({from:UInt32}, 'UTC') AND t < toDateTime({to:UInt32}, 'UTC') GROUP BY siteID, `from`",
        { sites: siteIDs.slice(i, i + atOnce), bounds: boundaries.slice(0, -1), from, to },
      )),
    );
  return found;
}

/** Begin of the newest step that there are figures of, of whomever: epoch seconds; 0: there are none. */
export async function newestStep(db: Analytics): Promise<number> {
  const [found] = await db.query<{ at: number }>('SELECT toUnixTimestamp(max(t)) AS at FROM s5');
  return found?.at ?? 0;
}
