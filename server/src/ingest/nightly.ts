/** Once a day, some time after midnight UTC, the lists of the past days are made (analytics/compact.ts). */
import { compactTops } from '../analytics/compact.ts';
import type { Analytics } from '../store/analytics/client.ts';
import { topDimensions } from '../store/analytics/schema.ts';

/** Nodes have this long to deliver the last lines of a day; later ones are counted in the following nights. */
const afterMidnightHours = 2;
const lookEveryMs = 10 * 60_000;

/** Makes the lists unless yesterday's are there or it is too early; says whether it did. Safe to repeat. */
export async function compactIfDue(db: Analytics, now = new Date()): Promise<boolean> {
  if (now.getUTCHours() < afterMidnightHours) return false;
  const yesterday = Math.floor(now.getTime() / 86_400_000) * 86_400 - 86_400;
  // The dimensions are made in this order: when the last has yesterday, all have.
  const [row] = await db.query<{ done: number }>(
    `SELECT count() AS done FROM topd_${topDimensions.at(-1)} WHERE t = toDateTime({t:UInt32}, 'UTC')`,
    { t: yesterday },
  );
  if ((row?.done ?? 0) > 0) return false;
  await compactTops(db, now);
  return true;
}

export function startNightly(db: Analytics, log: (event: string, facts?: Record<string, unknown>) => void): { stop(): void } {
  let busy = false;
  const look = async () => {
    if (busy) return;
    busy = true;
    try {
      if (await compactIfDue(db)) log('the daily lists are made');
    } catch (error) {
      log('the daily lists could not be made, trying again later', { error: (error as Error).message.slice(0, 300) });
    } finally {
      busy = false;
    }
  };
  const timer = setInterval(() => void look(), lookEveryMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
