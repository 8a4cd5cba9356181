/** Hours of a week: as ranges, as they are kept, and as the cells of a grid. Pure. */
import { weekdays } from '#contract/limits.ts';

export type Weekday = (typeof weekdays)[number];
/** Hours of one day: from the first, before the last; 0 to 24. */
export interface HourRange {
  day: Weekday;
  from: number;
  to: number;
}

export const hoursOfDay = 24;
/** Seven days of 24 hours, Monday first. */
export type Cells = readonly (readonly boolean[])[];

export const cellsOf = (ranges: readonly HourRange[]): boolean[][] =>
  weekdays.map(day =>
    Array.from({ length: hoursOfDay }, (_, hour) =>
      ranges.some(range => range.day === day && range.from <= hour && hour < range.to),
    ),
  );

/** As few as there can be, in the order of the week. */
export const rangesOf = (cells: Cells): HourRange[] =>
  cells.flatMap((hours, at) => {
    const ranges: HourRange[] = [];
    hours.forEach((isOn, hour) => {
      const last = ranges.at(-1);
      if (!isOn) return;
      if (last?.to === hour) last.to = hour + 1;
      else ranges.push({ day: weekdays[at]!, from: hour, to: hour + 1 });
    });
    return ranges;
  });

export interface Place {
  day: number;
  hour: number;
}

/** With all cells between two corners on or off. */
export function painted(cells: Cells, from: Place, to: Place, isOn: boolean): boolean[][] {
  const isBetween = (a: number, b: number, value: number) => Math.min(a, b) <= value && value <= Math.max(a, b);
  return cells.map((hours, day) =>
    hours.map((before, hour) => (isBetween(from.day, to.day, day) && isBetween(from.hour, to.hour, hour) ? isOn : before)),
  );
}

/** Days with the same hours stand together: `[[0..4], [9–18]]`. Days without any are left out. */
export function together(cells: Cells): { days: number[]; ranges: HourRange[] }[] {
  const byHours = new Map<string, number[]>();
  cells.forEach((hours, day) => {
    if (!hours.includes(true)) return;
    const key = hours.map(Number).join('');
    byHours.set(key, [...(byHours.get(key) ?? []), day]);
  });
  return [...byHours.values()].map(days => ({
    days,
    ranges: rangesOf(cells).filter(range => range.day === weekdays[days[0]!]),
  }));
}

/** Days that follow each other, as first and last: Monday to Friday, Sunday. */
export const runsOf = (days: readonly number[]): [first: number, last: number][] =>
  days.reduce<[number, number][]>((runs, day) => {
    const last = runs.at(-1);
    if (last && last[1] === day - 1) last[1] = day;
    else runs.push([day, day]);
    return runs;
  }, []);

/** Where an arrow goes; undefined for another key, the same place at the edge. */
export function placeAfter(key: string, { day, hour }: Place, isTurned: boolean): Place | undefined {
  const [across, along] = [{ ArrowLeft: -1, ArrowRight: 1 }[key] ?? 0, { ArrowUp: -1, ArrowDown: 1 }[key] ?? 0];
  if (key === 'Home') return { day, hour: 0 };
  if (key === 'End') return { day, hour: hoursOfDay - 1 };
  if (!across && !along) return undefined;
  const [days, hours] = isTurned ? [across, along] : [along, across];
  return {
    day: Math.max(0, Math.min(weekdays.length - 1, day + days)),
    hour: Math.max(0, Math.min(hoursOfDay - 1, hour + hours)),
  };
}
