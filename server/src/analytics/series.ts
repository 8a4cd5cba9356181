/** Figures step by step. */
import { type StatisticNumber, type StatisticStep, stepsMax } from '#contract/analytics/shapes.ts';
import { statisticTypes as t } from '#contract/limits.ts';
import type { Analytics } from '../store/analytics/client.ts';
import { type Scope, day, floorTo, hour, isEmpty, snapped, within } from './scope.ts';
import { isKeyed, isTop, mapColumn, named, sumColumn, totalOf } from './types.ts';

const liveHours = 6;
/** Visitors of steps shorter than an hour are counted from the raw lines, up to a range of this length. */
const rawVisitorsSeconds = day;

export interface SeriesQuery extends Scope {
  types: readonly StatisticNumber[];
  /** minutes per step: a multiple of 5, or 1 for a range of at most 6 hours; anything else is rounded up to a multiple of 5 */
  interval?: number | undefined;
  /** sums of the plain types from here to the end are told besides, read by the statement of the steps; then there are no 1-minute steps */
  totalsFrom?: Date | undefined;
}

export interface Series {
  steps: StatisticStep[];
  totals?: Record<string, number> | undefined;
}

/**
 * One row per step, oldest first, also where there was nothing; steps begin at the start of the range, which is widened to whole steps
 * of 5 minutes. At most 26,784 rows (§9): of a longer range the first ones. One-minute steps know types 2, 4, 5, 11–14.
 * Unique visitors of a step shorter than an hour, in a range over a day, are those of its hour.
 */
export const timeSeries = async (db: Analytics, query: SeriesQuery): Promise<StatisticStep[]> => (await series(db, query)).steps;

/** Steps, and totals that hold exactly the lines that the steps hold: lines that come in meanwhile are in both or in neither. */
export async function series(db: Analytics, query: SeriesQuery): Promise<Series> {
  const asked = query.interval ?? 5;
  const live = asked === 1 && !query.totalsFrom && query.endTime.getTime() - query.startTime.getTime() <= liveHours * hour * 1000;
  const step = (live ? 1 : Math.max(Math.ceil(asked / 5) * 5, 5)) * 60;
  const range = live ? snapped(query, 60_000) : snapped(query);
  const from = range.from;
  const count = Math.min(Math.ceil((range.to - from) / step), stepsMax);
  const to = Math.min(range.to, from + count * step);
  const types = [...new Set(query.types)].filter(type => !isTop(type));
  const steps: StatisticStep[] = Array.from({ length: count }, (_, i) => ({
    time: new Date((from + i * step) * 1000).toISOString(),
    values: Object.fromEntries(types.map(type => [type, isKeyed(type) ? {} : 0])),
  }));
  // Steps end where an answer is full; totals with them, or they would be of another time.
  const since = query.totalsFrom && snapped({ startTime: query.totalsFrom, endTime: query.totalsFrom }).from;
  const summed = since === undefined ? [] : types.filter(type => sumColumn[type]);
  const totals = since === undefined ? undefined : Object.fromEntries(summed.map(type => [type, 0]));
  if (isEmpty(query)) return { steps, totals };
  const put = (i: number, type: number, value: number | Record<string, number>) => {
    if (steps[i]) steps[i].values[type] = value;
  };
  const { where, values } = within(query, Math.min(from, since ?? from), to);
  const stepped = { ...values, start: from, step, ...(since === undefined ? {} : { since }) };

  const sums = async () => {
    const wanted = types.filter(
      type => type !== t.uniqueVisitors && !(live && (type === t.bandwidth || (isKeyed(type) && type !== t.statusCodes))),
    );
    const columns = wanted.map(type =>
      sumColumn[type]
        ? `${totalOf(sumColumn[type])} AS v${type}`
        : isKeyed(type)
          ? `sumMap(${mapColumn[type]}) AS v${type}`
          : `${totalOf('bytes')} AS v3`,
    );
    if (columns.length === 0) return;
    let sql = `SELECT t, ${columns.join(', ')} FROM ${live ? 's1' : 's5'} WHERE ${where} GROUP BY t`;
    const outer = wanted.map(
      type => `${type === t.bandwidth ? `max(v${type})` : isKeyed(type) ? `sumMap(v${type})` : totalOf(`v${type}`)} AS v${type}_`,
    );
    if (since !== undefined)
      outer.push(...summed.map(type => `${totalOf(`if(toUnixTimestamp(t) >= {since:UInt32}, v${type}, 0)`)} AS s${type}`));
    // The peak of a step is that of its 5-minute slots, so slots are summed first.
    if ((step === 300 && since === undefined) || live)
      sql = `SELECT intDiv(toUnixTimestamp(t) - {start:UInt32}, {step:UInt32}) AS i, ${wanted.map(type => `v${type} AS v${type}_`).join(', ')} FROM (${sql})`;
    // What is before the first step counts for totals alone.
    else
      sql = `SELECT if(toUnixTimestamp(t) < {start:UInt32}, -1, intDiv(toUnixTimestamp(t) - {start:UInt32}, {step:UInt32})) AS i, ${outer.join(', ')} FROM (${sql}) GROUP BY i`;
    const rows = await db.query<Record<string, number & Record<string, number>>>(sql, stepped);
    for (const row of rows) {
      for (const type of summed) totals![type] = Math.min(totals![type]! + row[`s${type}`]!, Number.MAX_SAFE_INTEGER);
      for (const type of wanted) {
        const value = row[`v${type}_`]!;
        put(row.i!, type, isKeyed(type) ? named(type, value) : type === t.bandwidth ? Math.round((value * 8) / 300) : value);
      }
    }
  };

  const visitors = async () => {
    if (!types.includes(t.uniqueVisitors)) return;
    if (step >= hour) {
      // A range that begins within an hour (or a day) begins with all of it.
      const [table, width, unit] =
        step % day === 0 && from % day === 0 ? (['u1d', 14, day] as const) : (['u1h', 12, hour] as const);
      const wide = within(query, floorTo(from, unit), to);
      const rows = await db.query<{ i: number; v: number }>(
        `SELECT intDiv(greatest(toUnixTimestamp(t), {start:UInt32}) - {start:UInt32}, {step:UInt32}) AS i, uniqCombinedMerge(${width})(visitors) AS v FROM ${table} WHERE ${wide.where} GROUP BY i`,
        { ...wide.values, start: from, step },
      );
      for (const row of rows) put(row.i, t.uniqueVisitors, row.v);
      return;
    }
    if (to - from <= rawVisitorsSeconds) {
      const raw = within(query, from, to, 'ts');
      const rows = await db.query<{ i: number; v: number }>(
        `SELECT intDiv(toUnixTimestamp(ts) - {from:UInt32}, {step:UInt32}) AS i, uniqCombined(12)(ip) AS v FROM access WHERE ${raw.where} GROUP BY i`,
        { ...raw.values, step },
      );
      for (const row of rows) put(row.i, t.uniqueVisitors, row.v);
      return;
    }
    const wide = within(query, floorTo(from, hour), to);
    const rows = await db.query<{ at: number; v: number }>(
      `SELECT toUnixTimestamp(t) AS at, uniqCombinedMerge(12)(visitors) AS v FROM u1h WHERE ${wide.where} GROUP BY at`,
      wide.values,
    );
    const byHour = new Map(rows.map(row => [row.at, row.v]));
    for (let i = 0; i < count; i++) put(i, t.uniqueVisitors, byHour.get(floorTo(from + i * step, hour)) ?? 0);
  };
  await Promise.all([sums(), visitors()]);
  return { steps, totals };
}
