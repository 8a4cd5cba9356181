/** "3 seconds ago", with the exact time for whoever points at it. */
import { dateTime } from '../kit/time.ts';
import { relative } from '../kit/until.tsx';

/** Clocks of server and browser may differ: what seems to lie ahead is now. */
export function ago(time: string, now = Date.now()): string {
  return relative(-Math.max(0, Math.round((now - new Date(time).getTime()) / 1000)));
}

export function Ago({ time }: { time: string | null }) {
  if (time === null) return <span className="ink-3">–</span>;
  return (
    <time dateTime={time} title={dateTime(time)}>
      {ago(time)}
    </time>
  );
}
