/** How far from now a time lies, "in 3 hours", with the exact time for whoever points at it. */
import { languageTag } from './text.ts';
import { dateTime } from './time.ts';

const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;
const formatter = new Intl.RelativeTimeFormat(languageTag, { numeric: 'auto' });

/** Whole units, never more than there are; `seconds` below 0 lie behind. */
export function relative(seconds: number): string {
  const [unit, length] = units.find(([, one]) => Math.abs(seconds) >= one) ?? units[3];
  return formatter.format(Math.trunc(seconds / length), unit);
}

const until = (time: string, now = Date.now()) => relative(Math.round((Date.parse(time) - now) / 1000));

export const Until = ({ time }: { time: string }) => (
  <time dateTime={time} title={dateTime(time)}>
    {until(time)}
  </time>
);
