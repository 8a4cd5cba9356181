/** The owner's source of data of places, where it has brought nothing for long: what counts grows old without anybody seeing it. */
import { sql } from 'kysely';
import { healthTimes, warns, well } from '#contract/system/health.ts';
import type { Health } from '../kit/health.ts';
import { type Db, row } from '../store/db.ts';
import { readSetting } from './settings.ts';

const dayMs = 86_400_000;

/** One that is asked by hand alone is nobody's trouble: whoever asks sees what came of it. */
export function addFailingSourceCheck(health: Health, db: Db): void {
  health.add(
    'geoSource',
    async () => {
      const seen = await readSetting(db, null, 'geoFetched');
      const failedSince = seen?.problem ? seen.failedSince : null;
      const days = failedSince === null ? 0 : Math.floor((Date.now() - Date.parse(failedSince)) / dayMs);
      if (days < healthTimes.geoFailingDays) return well('geoSource', days);
      const source = await row<{ url: string }>(
        db,
        sql`select url from "geoSource" where "deletedAt" is null and every <> 'off' and url <> '' limit 1`,
      );
      if (!source) return well('geoSource');
      return warns('geoSource.failing', { days, host: new URL(source.url).host }, { value: days });
    },
    { away: 'database.away', everyMs: 15_000 },
  );
}
