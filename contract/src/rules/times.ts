/** Rules about time ranges, paging and purge types (§5, decisions "Logs" and "Wire"). Times are ISO 8601, or epoch ms. */
import { logSpans, paging, purgeTypes, statistics } from '../limits.ts';
import { answer, broken, isEmpty } from './rule.ts';
import type { Problem, Rule } from './rule.ts';
import { wholeNumber } from './values.ts';

type Time = string | number;
export type TimeRange = { startTime?: Time | null; endTime?: Time | null };
/** `now` in epoch ms; left out: this machine's clock. */
type Now = { now?: number };

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const millisecondsOf = (time: Time) => (typeof time === 'number' ? time : Date.parse(time));

function rangeOf({ startTime, endTime }: TimeRange): { start: number; end: number } | Problem[] {
  const problems: Problem[] = [];
  const read = (field: 'startTime' | 'endTime', time: Time | null | undefined) => {
    if (isEmpty(time)) problems.push(...broken('required', undefined, [field]));
    const value = isEmpty(time) ? 0 : millisecondsOf(time!);
    if (!Number.isFinite(value)) problems.push(...broken('wrongFormat', undefined, [field]));
    return value;
  };
  const start = read('startTime', startTime);
  const end = read('endTime', endTime);
  if (problems.length === 0 && start > end) problems.push(...broken('startAfterEnd', undefined, ['startTime']));
  return problems.length > 0 ? problems : { start, end };
}

/** A log query: at most one day, ending now; five minutes in the future are forgiven, for clocks differ. */
export const logQuery: Rule<TimeRange, Now> = {
  name: 'logQuery',
  check(value, context) {
    const range = rangeOf(value);
    if (Array.isArray(range)) return range;
    if (range.end - range.start > logSpans.querySpanMaxDays * dayMs)
      return broken('spanTooLong', { days: logSpans.querySpanMaxDays }, ['startTime']);
    const latest = (context?.now ?? Date.now()) + logSpans.queryFutureMaxMinutes * minuteMs;
    return range.end > latest ? broken('endInFuture', { minutes: logSpans.queryFutureMaxMinutes }, ['endTime']) : true;
  },
};

/** An export: at most one day, its latest data an hour old. */
export const logExport: Rule<TimeRange, Now> = {
  name: 'logExport',
  check(value, context) {
    const range = rangeOf(value);
    if (Array.isArray(range)) return range;
    if (range.end - range.start > logSpans.exportSpanMaxDays * dayMs)
      return broken('spanTooLong', { days: logSpans.exportSpanMaxDays }, ['startTime']);
    const latest = (context?.now ?? Date.now()) - logSpans.exportAgeMinHours * hourMs;
    return range.end > latest ? broken('endTooRecent', { hours: logSpans.exportAgeMinHours }, ['endTime']) : true;
  },
};

/** When a row is to end by itself, in this field: not before now. None: it does not. */
export const endIn = (field: string): Rule<Record<string, unknown>, Now> => ({
  name: 'endIn',
  check(value, context) {
    const end = value[field] as Time | null | undefined;
    return isEmpty(end) || millisecondsOf(end!) > (context?.now ?? Date.now()) ? true : broken('isOver', undefined, [field]);
  },
});

/** Any range of statistics: both ends there, in order, a year at most; totals as far back. */
export const timeRange: Rule<TimeRange & { totalsFrom?: Time | undefined }> = {
  name: 'timeRange',
  check(value) {
    const range = rangeOf(value);
    if (Array.isArray(range)) return range;
    const isTooLong = (start: number) => range.end - start > statistics.spanMaxDays * dayMs;
    if (isTooLong(range.start)) return broken('spanTooLong', { days: statistics.spanMaxDays }, ['startTime']);
    if (isEmpty(value.totalsFrom)) return true;
    const from = millisecondsOf(value.totalsFrom!);
    if (!Number.isFinite(from)) return broken('wrongFormat', undefined, ['totalsFrom']);
    if (from > range.end) return broken('startAfterEnd', undefined, ['totalsFrom']);
    return isTooLong(from) ? broken('spanTooLong', { days: statistics.spanMaxDays }, ['totalsFrom']) : true;
  },
};

/** A range of the audit: either end may be left open; both are in order, and a year apart at most. */
export const auditRange: Rule<{ startTime?: Time | undefined; endTime?: Time | undefined }> = {
  name: 'auditRange',
  check: ({ startTime, endTime }) =>
    startTime === undefined || endTime === undefined ? true : timeRange.check({ startTime, endTime }),
};

/** Ranges in which rows were made or changed: either end may be left open, both are in order. */
export const dateRanges: Rule<{ [K in 'createdStart' | 'createdEnd' | 'updatedStart' | 'updatedEnd']?: Time }> = {
  name: 'dateRanges',
  check: value =>
    answer(
      (['created', 'updated'] as const).flatMap(what => {
        const [start, end] = [value[`${what}Start`], value[`${what}End`]];
        return start !== undefined && end !== undefined && millisecondsOf(start) > millisecondsOf(end)
          ? broken('startAfterEnd', undefined, [`${what}Start`])
          : [];
      }),
    ),
};

/** The range of a statistic, widened to whole 5-minute steps. */
export function snapRange(range: { startTime: Time; endTime: Time }): { startTime: string; endTime: string } {
  const stepMs = statistics.rangeStepMinutes * minuteMs;
  return {
    startTime: new Date(Math.floor(millisecondsOf(range.startTime) / stepMs) * stepMs).toISOString(),
    endTime: new Date(Math.ceil(millisecondsOf(range.endTime) / stepMs) * stepMs).toISOString(),
  };
}

/** The page a list answers when the query does not say. */
export function pageOf(query: { page?: number; pageSize?: number } = {}): { page: number; pageSize: number } {
  return { page: query.page ?? paging.pageFirst, pageSize: query.pageSize ?? paging.pageSizeDefault };
}

export type PurgeType = (typeof purgeTypes)[keyof typeof purgeTypes];
/** A form's select holds text, the wire wants a number: `'2'` → 2; undefined when it is none of the four. */
export function purgeTypeOf(value: unknown): PurgeType | undefined {
  const number = wholeNumber(value);
  return Object.values(purgeTypes).find(type => type === number);
}

export const purgeType: Rule<unknown> = {
  name: 'purgeType',
  check: value => (isEmpty(value) ? broken('required') : purgeTypeOf(value) === undefined ? broken('invalidChoice') : true),
};
