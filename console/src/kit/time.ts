/** Times on the wire are ISO 8601 UTC; people see the browser's zone as YYYY/MM/DD HH:mm:ss (§1). */
import { statistics } from '#contract/limits.ts';

const two = (value: number) => String(value).padStart(2, '0');

export function dateTime(value: string | number | Date | null | undefined): string {
  if (value === null || value === undefined || value === '') return '–';
  const date = new Date(value);
  if (Number.isNaN(date.getTime())) return '–';
  return `${dateOnly(date)} ${clock(date)}`;
}
/** Without the seconds: a step of a chart begins at a full minute. */
export const dateMinute = (value: string | number | Date) => dateTime(value).slice(0, 16);
export const dateOnly = (date: Date) => `${date.getFullYear()}/${two(date.getMonth() + 1)}/${two(date.getDate())}`;
const clock = (date: Date) => `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;

/** For an axis: the hour within a day, the date at midnight. `stepSeconds` is the distance between two marks. */
export function axisTime(epochSeconds: number, stepSeconds: number): string {
  const date = new Date(epochSeconds * 1000);
  if (stepSeconds >= 86_400 || (date.getHours() === 0 && date.getMinutes() === 0))
    return `${two(date.getMonth() + 1)}/${two(date.getDate())}`;
  return stepSeconds < 60 ? clock(date) : `${two(date.getHours())}:${two(date.getMinutes())}`;
}

const minuteMs = 60_000;
/** Statistics ranges snap to 5-minute steps (§9): the end is the next one, the start the step of the chart that is `spanMinutes` before. */
export function snappedRange(now: Date, spanMinutes: number, stepMinutes: number): { startTime: string; endTime: string } {
  const end = Math.ceil(now.getTime() / (statistics.rangeStepMinutes * minuteMs)) * statistics.rangeStepMinutes * minuteMs;
  const start = Math.floor((end - spanMinutes * minuteMs) / (stepMinutes * minuteMs)) * stepMinutes * minuteMs;
  return { startTime: new Date(start).toISOString(), endTime: new Date(end).toISOString() };
}

/** An hour, a day, a month or a year after a time that is still to come, else after now; the last of a month stays the last of a shorter one. */
export function later(value: string | null | undefined, by: 'hour' | 'day' | 'month' | 'year', now: Date): string {
  const start = value && Date.parse(value) > now.getTime() ? new Date(value) : new Date(now.getTime() - (now.getTime() % 1000));
  const next = new Date(start);
  if (by === 'hour' || by === 'day') return new Date(start.getTime() + (by === 'day' ? 86_400_000 : 3_600_000)).toISOString();
  next.setMonth(next.getMonth() + (by === 'year' ? 12 : 1));
  if (next.getDate() !== start.getDate()) next.setDate(0);
  return next.toISOString();
}
