/** The first of each list: URLs, visitors, countries, referers, user agents. */
import { type StatisticNumber, type StatisticTop, type TopType, topTypes } from '#contract/analytics/shapes.ts';
import { statisticTypes as t, statistics } from '#contract/limits.ts';
import type { Analytics } from '../store/analytics/client.ts';
import type { TopDimension } from '../store/analytics/schema.ts';
import { totalOf } from './types.ts';
import { type Scope, day, floorTo, hour, isEmpty, snapped, within } from './scope.ts';

const dimensionOf: Partial<Record<TopType, TopDimension>> = {
  [t.topURLs]: 'uri',
  [t.topVisitorIPs]: 'ip',
  [t.topReferers]: 'ref',
  [t.topUserAgents]: 'ua',
};

type Row = StatisticTop['items'][number];

/** IPv4 addresses are stored as IPv6 ones. */
export const ipText = (column: string) => `replaceRegexpOne(toString(${column}), '^::ffff:', '')`;

/**
 * Per type asked (18–22, others are left out) the first `top` keys by requests. By whole hours of the range; whole past days of a range
 * over a day come from the daily lists, which hold the 500 first of each domain.
 */
export async function top(
  db: Analytics,
  query: Scope & { types: readonly StatisticNumber[]; top?: number | undefined },
): Promise<StatisticTop[]> {
  const types = topTypes.filter(type => query.types.includes(type));
  const limit = query.top ?? statistics.topDefault;
  if (isEmpty(query)) return types.map(type => ({ type, items: [] }));
  return Promise.all(types.map(async type => ({ type, items: await first(db, query, type, limit) })));
}

async function first(db: Analytics, query: Scope, type: TopType, limit: number): Promise<Row[]> {
  const range = snapped(query);
  const from = floorTo(range.from, hour);
  const to = floorTo(range.to + hour - 1, hour);
  const { where, values } = within(query, from, to);
  const order = 'ORDER BY requests DESC, bytes DESC, key LIMIT {limit:UInt32}';
  const dimension = dimensionOf[type];
  if (!dimension)
    return db.query<Row>(
      `SELECT c.country AS key, ${totalOf('c.req')} AS requests, ${totalOf('c.bytes')} AS bytes FROM c1h AS c WHERE ${where} GROUP BY key ${order}`,
      { ...values, limit },
    );
  const key = dimension === 'ip' ? ipText('k') : 'k';
  const hours = `top_${dimension}`;
  const daily = `topd_${dimension}`;
  let source = `SELECT k, req, bytes FROM ${hours} WHERE ${where}`;
  const firstDay = floorTo(from + day - 1, day);
  const endDay = floorTo(to, day);
  if (to - from > day && endDay > firstDay) {
    const done = await db.query<{ d: number }>(
      `SELECT DISTINCT toUnixTimestamp(t) AS d FROM ${daily} WHERE t >= toDateTime({a:UInt32}, 'UTC') AND t < toDateTime({b:UInt32}, 'UTC')`,
      { a: firstDay, b: endDay },
    );
    const days = done.map(row => row.d);
    if (days.length > 0) {
      Object.assign(values, { days });
      source =
        `SELECT k, req, bytes FROM ${hours} WHERE ${where} AND toUnixTimestamp(toStartOfDay(t)) NOT IN {days:Array(UInt32)} ` +
        `UNION ALL SELECT k, req, bytes FROM ${daily} WHERE ${where} AND toUnixTimestamp(t) IN {days:Array(UInt32)}`;
    }
  }
  return db.query<Row>(
    `SELECT ${key} AS key, ${totalOf('s.req')} AS requests, ${totalOf('s.bytes')} AS bytes FROM (${source}) AS s GROUP BY k ${order}`,
    { ...values, limit },
  );
}
