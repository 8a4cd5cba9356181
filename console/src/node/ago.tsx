/** "3 seconds ago", with the exact time for whoever points at it. */
import { languageTag } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';

const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;
const formatter = new Intl.RelativeTimeFormat(languageTag, { numeric: 'auto' });

/** Clocks of server and browser may differ: what seems to lie ahead is now. */
export function ago(time: string, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - new Date(time).getTime()) / 1000));
  const [unit, length] = units.find(([, one]) => seconds >= one) ?? units[3];
  return formatter.format(-Math.floor(seconds / length), unit);
}

export function Ago({ time }: { time: string | null }) {
  if (time === null) return <span className="ink-3">–</span>;
  return (
    <time dateTime={time} title={dateTime(time)}>
      {ago(time)}
    </time>
  );
}
