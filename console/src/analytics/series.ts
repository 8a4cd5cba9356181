/** Answers of the statistics calls as columns for charts, and the ranges that are asked. Pure. */
import { logSpans, statistics, statisticTypes } from '#contract/limits.ts';

export type Values = Record<string, number | Record<string, number>>;
export interface Step {
  time: string;
  values: Values;
}

const hour = 60;
const day = 24 * hour;
/** Minutes. `alignMinutes`: steps begin at multiples of this, so that a refresh moves the window and not the steps' edges at random. */
export const dashboardRanges = {
  hours: {
    spanMinutes: statistics.dashboardHours * hour,
    stepMinutes: statistics.dashboardIntervalsMinutes.traffic,
    alignMinutes: statistics.rangeStepMinutes,
  },
  days: { spanMinutes: statistics.dashboardDays * day, stepMinutes: 3 * hour, alignMinutes: hour },
} as const;
export type RangeName = keyof typeof dashboardRanges;

const minuteMs = 60_000;

/** The period before a range, of the same length and as far along: what is half over is compared with half of what was. */
export function periodBefore({ startTime, endTime, reportInterval }: AskedRange, name: RangeName): AskedRange {
  const before = (time: string) => new Date(Date.parse(time) - dashboardRanges[name].spanMinutes * minuteMs).toISOString();
  return { startTime: before(startTime), endTime: before(endTime), reportInterval };
}

/** The times of a range: up to `now`, like the cards beside it. Its last step may still run; a chart shows that (`isRunning`). */
export function rangeAt(name: RangeName, now: number) {
  const { spanMinutes, stepMinutes, alignMinutes } = dashboardRanges[name];
  const align = alignMinutes * minuteMs;
  const lastStepEnd = Math.ceil(now / align) * align;
  return {
    startTime: new Date(lastStepEnd - spanMinutes * minuteMs).toISOString(),
    endTime: new Date(now).toISOString(),
    reportInterval: stepMinutes,
  };
}
export type AskedRange = ReturnType<typeof rangeAt>;

/** Whether the last of these steps is not over at the end of the range: it will still grow. */
export function isRunning(steps: readonly Step[], { endTime, reportInterval }: AskedRange): boolean {
  const last = steps.at(-1);
  return last !== undefined && Date.parse(last.time) + reportInterval * minuteMs > Date.parse(endTime);
}

/**
 * How many steps lie before there was anything to count: they are over at `since` (ISO 8601), and hold nothing. What was counted is
 * always shown, wherever it comes from.
 */
export function unbornSteps(
  steps: readonly Step[],
  since: string,
  { reportInterval }: Pick<AskedRange, 'reportInterval'>,
): number {
  const born = Date.parse(since);
  const isEmpty = ({ values }: Step) =>
    Object.values(values).every(value => (typeof value === 'number' ? value === 0 : Object.keys(value).length === 0));
  const first = steps.findIndex(step => Date.parse(step.time) + reportInterval * minuteMs > born || !isEmpty(step));
  return first < 0 ? steps.length : first;
}

/** A column without what lies before there was anything to count: a gap is no 0. */
export const bornAfter = (values: Float64Array, unborn: number) =>
  values.map((value, index) => (index < unborn ? Number.NaN : value));

export const timesOf = (steps: readonly Step[]) => Float64Array.from(steps, step => Date.parse(step.time) / 1000);

/**
 * The address of the log for the requests behind what a chart shows: whole steps, those alone that are in sight.
 * @param sight epoch seconds; undefined: all of it
 * @param until epoch ms: the figures run to here
 * @returns undefined where the log does not show so much at once
 */
export function requestsOf(
  name: RangeName,
  times: Float64Array,
  sight: readonly [from: number, to: number] | undefined,
  until: number,
): { range: string; startTime?: string; endTime?: string } | undefined {
  if (!sight) return name === 'hours' ? { range: 'last24h' } : undefined;
  const step = dashboardRanges[name].stepMinutes * 60;
  const [from, to] = sight;
  const shown = times.filter(time => time >= from && time <= to);
  if (!shown.length) return undefined;
  const start = shown[0]! * 1000;
  const end = Math.min((shown.at(-1)! + step) * 1000, until);
  if (end - start > logSpans.querySpanMaxDays * day * minuteMs) return undefined;
  return { range: 'custom', startTime: new Date(start).toISOString(), endTime: new Date(end).toISOString() };
}

/** One type as a column; what a step lacks is 0, for every step of the range is answered. */
export function column(steps: readonly Step[], type: number): Float64Array {
  return Float64Array.from(steps, step => {
    const value = step.values[type];
    return typeof value === 'number' ? value : 0;
  });
}

/** One column as a share of another; a step in which nothing was asked has none, and is a gap. */
export function shareColumn(part: Float64Array, whole: Float64Array): Float64Array {
  return part.map((value, index) => (whole[index]! > 0 ? Math.min(1, value / whole[index]!) : Number.NaN));
}

/** Sums of whole columns: what a chart says of its range is the sum of what it draws. */
export const totalsOf = (steps: readonly Step[], types: readonly number[]): ReadonlyMap<number, number> =>
  new Map(types.map(type => [type, column(steps, type).reduce((sum, value) => sum + value, 0)]));

/** Share of the first in the second; 0 when there is nothing. */
export const share = (part: number, whole: number) => (whole > 0 ? part / whole : 0);

export const statusClasses = ['2xx', '3xx', '4xx', '5xx', 'other'] as const;
export type StatusClass = (typeof statusClasses)[number];

/** 903 and the like are ours and belong to no class of HTTP. */
export function statusClassOf(code: string | number): StatusClass {
  const text = String(code);
  return /^[2345]\d\d$/.test(text) ? (`${text[0]}xx` as StatusClass) : 'other';
}

/** Status codes summed by class, a column each. */
export function statusColumns(steps: readonly Step[]): Record<StatusClass, Float64Array> {
  const columns = Object.fromEntries(statusClasses.map(name => [name, new Float64Array(steps.length)])) as Record<
    StatusClass,
    Float64Array
  >;
  steps.forEach((step, index) => {
    const parts = step.values[statisticTypes.statusCodes];
    if (typeof parts !== 'object') return;
    for (const [code, count] of Object.entries(parts)) columns[statusClassOf(code)][index]! += count;
  });
  return columns;
}

/** Sums by class of a whole range. */
export const statusTotals = (columns: Record<StatusClass, Float64Array>) =>
  Object.fromEntries(statusClasses.map(name => [name, columns[name].reduce((sum, count) => sum + count, 0)])) as Record<
    StatusClass,
    number
  >;

/** How much of a month has to be over before its pace says anything. */
const paceFromShare = 1 / 31;

/** This month (the operator's) at its pace so far against the last one: 0.061 is 6.1 % more. Undefined where that says nothing yet. */
export function monthPace(
  { currentMonthTraffic: current, lastMonthTraffic: last, monthStart, monthEnd }: MonthFigures,
  now = Date.now(),
): number | undefined {
  const begin = Date.parse(monthStart);
  const over = Math.min((now - begin) / (Date.parse(monthEnd) - begin), 1);
  return last > 0 && over >= paceFromShare ? current / over / last - 1 : undefined;
}
interface MonthFigures {
  currentMonthTraffic: number;
  lastMonthTraffic: number;
  monthStart: string;
  monthEnd: string;
}
