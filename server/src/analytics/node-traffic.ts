/** What nodes do now, by the lines they shipped: of the operator's own view, so of all sites that a node serves. */
import type { Analytics } from '../store/analytics/client.ts';

const minute = 60;
/** Traffic is of the whole minutes back to this long ago, shares of more: few requests tell little of a share. */
const trafficSeconds = 60;
const sharesSeconds = 300;

export interface NodeTraffic {
  bitsPerSecond: number;
  requestsPerSecond: number;
  /** 0 to 1; null: there were no requests */
  hitShare: number | null;
  errors: number;
  errorShare: number | null;
}

/** By node; one of which nothing was heard is not among them. @param now epoch milliseconds */
export async function nodeTraffic(db: Analytics, now: number): Promise<Map<number, NodeTraffic>> {
  const seconds = now / 1000;
  const since = (ago: number) => Math.floor((seconds - ago) / minute) * minute;
  const [from, wide] = [since(trafficSeconds), since(sharesSeconds)];
  const rows = await db.query<{ node: number; bytes: number; requests: number; all: number; hits: number; wrong: number }>(
    `SELECT n.node AS node, toFloat64(sumIf(n.bytes, n.t >= toDateTime({from:UInt32}, 'UTC'))) AS bytes, toFloat64(sumIf(n.req, n.t >= toDateTime({from:UInt32}, 'UTC'))) AS requests,
       toFloat64(sum(n.req)) AS all, toFloat64(sum(n.hit_req)) AS hits, toFloat64(sum(n.errors)) AS wrong
     FROM n1 AS n WHERE n.t >= toDateTime({wide:UInt32}, 'UTC') GROUP BY node`,
    { from, wide },
  );
  const span = seconds - from;
  const share = (part: number, all: number) => (all > 0 ? Math.min(1, part / all) : null);
  return new Map(
    rows.map(({ node, bytes, requests, all, hits, wrong }) => [
      node,
      {
        bitsPerSecond: Math.round((bytes * 8) / span),
        requestsPerSecond: Math.round((requests / span) * 100) / 100,
        hitShare: share(hits, all),
        errors: wrong,
        errorShare: share(wrong, all),
      },
    ]),
  );
}
