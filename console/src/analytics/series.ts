/** Answers of the statistics calls as columns for charts, and the ranges that are asked. Pure. */
import { statistics, statisticTypes } from '#contract/limits.ts';

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

export const timesOf = (steps: readonly Step[]) => Float64Array.from(steps, step => Date.parse(step.time) / 1000);

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
