/** Totals of a range, per statistic type. */
import type { StatisticNumber, StatisticTotal } from '#contract/analytics/shapes.ts';
import { statisticTypes as t } from '#contract/limits.ts';
import type { Analytics } from '../store/analytics/client.ts';
import { type Scope, day, floorTo, hour, isEmpty, snapped, within } from './scope.ts';
import { isKeyed, isTop, mapColumn, named, sumColumn, sumOf, totalOf } from './types.ts';

/** Seconds of one slot of the bandwidth formula. */
const slot = 300;

/**
 * One total per type asked, in the order asked; top types (18–22) are left out. The range is widened to whole 5-minute steps.
 * Unique visitors of more than three days are counted by whole UTC days.
 * Bandwidth is of the time since `since`, before which there was nobody to serve: as 0 it would halve what is billed.
 */
export async function info(
  db: Analytics,
  query: Scope & { types: readonly StatisticNumber[]; since?: Date },
): Promise<StatisticTotal[]> {
  const types = [...new Set(query.types)].filter(type => !isTop(type));
  const { from, to } = snapped(query);
  const totals = new Map<number, StatisticTotal>();
  if (isEmpty(query)) return types.map(type => empty(type));
  const { where, values } = within(query, from, to);

  const columns = types.flatMap(type =>
    sumColumn[type]
      ? [`${totalOf(sumColumn[type])} AS v${type}`]
      : isKeyed(type)
        ? [`sumMap(${mapColumn[type]}) AS v${type}`]
        : [],
  );
  const sums = async () => {
    if (columns.length === 0) return;
    const [row] = await db.query<Record<string, number & Record<string, number>>>(
      `SELECT ${columns.join(', ')} FROM s5 WHERE ${where}`,
      values,
    );
    for (const type of types) {
      const found = row?.[`v${type}`];
      if (found === undefined) continue;
      totals.set(type, isKeyed(type) ? { type, total: sumOf(found), parts: named(type, found) } : { type, total: found });
    }
  };
  const bandwidth = async () => {
    if (!types.includes(t.bandwidth)) return;
    const since = Math.max(from, Math.min(floorTo((query.since?.getTime() ?? 0) / 1000, slot), to - slot));
    const slots = (to - since) / slot;
    const nth = Math.ceil(slots * 0.05);
    const busiest = await db.query<{ b: number }>(
      `SELECT ${totalOf('bytes')} AS b FROM s5 WHERE ${where} GROUP BY t ORDER BY b DESC LIMIT {nth:UInt32}`,
      { ...values, nth },
    );
    const [all] = await db.query<{ b: number }>(`SELECT ${totalOf('bytes')} AS b FROM s5 WHERE ${where}`, values);
    const rate = (bytes: number, seconds: number) => Math.round((bytes * 8) / seconds);
    totals.set(t.bandwidth, {
      type: t.bandwidth,
      total: rate(all?.b ?? 0, to - since),
      peak: rate(busiest[0]?.b ?? 0, slot),
      p95: rate(busiest[nth - 1]?.b ?? 0, slot),
    });
  };
  const visitors = async () => {
    if (!types.includes(t.uniqueVisitors)) return;
    const [table, width, unit] = to - from > 3 * day ? (['u1d', 14, day] as const) : (['u1h', 12, hour] as const);
    const range = within(query, floorTo(from, unit), to);
    const [row] = await db.query<{ v: number }>(
      `SELECT uniqCombinedMerge(${width})(visitors) AS v FROM ${table} WHERE ${range.where}`,
      range.values,
    );
    totals.set(t.uniqueVisitors, { type: t.uniqueVisitors, total: row?.v ?? 0 });
  };
  await Promise.all([sums(), bandwidth(), visitors()]);
  return types.map(type => totals.get(type) ?? empty(type));
}

const empty = (type: StatisticNumber): StatisticTotal => ({
  type,
  total: 0,
  ...(type === t.bandwidth ? { peak: 0, p95: 0 } : {}),
  ...(isKeyed(type) ? { parts: {} } : {}),
});

/** Traffic of all the sites together in [from, to): the figure of the charts (type 2), over the same steps. */
export async function trafficOf(db: Analytics, siteIDs: readonly number[], from: Date, to: Date): Promise<number> {
  const [total] = await info(db, { siteIDs, startTime: from, endTime: to, types: [t.traffic] });
  return total!.total;
}
