/** The arithmetic of charts. Pure; NaN is a gap. */
import { chartPalette } from '#contract/limits.ts';

/** What is folded is grey; no line of its own is, where there are many. */
export const othersColor = chartPalette[10];
export const lineColors: readonly string[] = chartPalette.filter(color => color !== othersColor);

/** What uPlot draws: a typed array as it is, or null where a gap is. */
export function withGaps(values: Float64Array): Float64Array | (number | null)[] {
  return values.some(Number.isNaN) ? Array.from(values, value => (Number.isNaN(value) ? null : value)) : values;
}

export const lastOf = (values: Float64Array): number => values.findLast(value => !Number.isNaN(value)) ?? Number.NaN;

/** The value to name as the current one: of the last step that is over, since one half over looks like a fall. */
export const lastFull = (values: Float64Array, isRunning: boolean): number =>
  lastOf(isRunning && values.length > 1 ? values.subarray(0, -1) : values);

/** A line in two: what is over, and the way to the step that still runs. Each lacks what the other draws. */
export function inTwo(values: Float64Array): { over: Float64Array; running: Float64Array } {
  const last = values.length - 1;
  return {
    over: values.map((value, index) => (index < last ? value : Number.NaN)),
    running: values.map((value, index) => (index >= last - 1 ? value : Number.NaN)),
  };
}

/** The highest value, NaN when there is none. */
export function peakOf(values: Float64Array): number {
  let peak = Number.NaN;
  for (const value of values) if (!(value <= peak) && !Number.isNaN(value)) peak = value;
  return peak;
}

export const sumOf = (values: Float64Array): number =>
  values.reduce((sum, value) => (Number.isNaN(value) ? sum : sum + value), 0);

/** Lines that a legend beside a chart holds in a glance; with more it is one to search in (many-legend.tsx). */
export const plainLegendMost = 8;
/** Lines of one chart: as many as there are colours (§9). What is more is folded into the last. */
export const seriesMost = 21;
/** Lines that are drawn from the beginning where there are many: more are told apart by nobody at once. */
export const shownMost = 8;

interface Line {
  label: string;
  values: Float64Array;
}
/** The largest lines first; those beyond `most` as one, their sum. `others` names it by how many it holds. */
export function folded<T extends Line>(
  series: readonly T[],
  others: (count: number) => Omit<T, 'values'>,
  most = seriesMost,
): T[] {
  const sums = new Map(series.map(one => [one, sumOf(one.values)]));
  const sorted = series.toSorted((a, b) => sums.get(b)! - sums.get(a)!);
  if (sorted.length <= most) return sorted;
  const rest = sorted.slice(most - 1);
  const values = rest[0]!.values.map((_, index) => {
    const there = rest.map(one => one.values[index]!).filter(value => !Number.isNaN(value));
    return there.length ? there.reduce((sum, value) => sum + value, 0) : Number.NaN;
  });
  // what makes a T of it, but for its values, is what `others` gives
  return [...sorted.slice(0, most - 1), { ...others(rest.length), values } as T];
}

/** How much more than in the period before: 0.06 is 6 % more. Undefined where there was nothing before. */
export function growth(now: Float64Array, before: Float64Array): number | undefined {
  const was = sumOf(before);
  return was > 0 ? sumOf(now) / was - 1 : undefined;
}

const roundSteps = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12];

/** The top of an axis that begins at 0: a round number a little above the highest value. */
export function niceMax(max: number | null | undefined): number {
  if (!max || !(max > 0)) return 1;
  const unit = 10 ** Math.floor(Math.log10(max));
  return roundSteps.find(step => step * unit >= max * 1.02)! * unit;
}

/** Longest rows of a table view; the newest are kept. */
export const tableRowsMax = 500;

/** Indexes of a table view, newest first. */
export function tableRows(length: number): number[] {
  return Array.from({ length: Math.min(length, tableRowsMax) }, (_, back) => length - 1 - back);
}

const two = (value: number) => String(value).padStart(2, '0');
const daySeconds = 86_400;

/**
 * Words under the axis: as much of YYYY/MM/DD HH:mm as tells two marks apart. The year stands where it begins, the date at midnight and
 * on marks a day or more apart, else the hour.
 */
export function axisWords(marks: readonly number[]): string[] {
  const step = marks.length > 1 ? marks[1]! - marks[0]! : daySeconds;
  return marks.map((mark, index) => {
    const date = new Date(mark * 1000);
    const day = `${two(date.getMonth() + 1)}/${two(date.getDate())}`;
    const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
    if (step < daySeconds && !isMidnight) {
      const clock = `${two(date.getHours())}:${two(date.getMinutes())}`;
      return step < 60 ? `${clock}:${two(date.getSeconds())}` : clock;
    }
    const before = index > 0 ? new Date(marks[index - 1]! * 1000) : date;
    return before.getFullYear() === date.getFullYear() ? day : `${date.getFullYear()}/${day}`;
  });
}

export function toggled(set: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(name)) next.add(name);
  return next;
}
