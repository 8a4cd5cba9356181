/** Jobs on PostgreSQL (graphile-worker): what happens by the clock, once in the installation however many processes run. */
import { run } from 'graphile-worker';
import { sql } from 'kysely';
import type { Services } from '../kit/services.ts';
import { logger } from '../log.ts';
import type { Settings } from '../settings.ts';

export async function startWork(settings: Settings, services: Services): Promise<{ stop(): Promise<void> }> {
  const { db } = services.database;
  const runner = await run({
    connectionString: settings.databaseUrl,
    concurrency: 2,
    noHandleSignals: true,
    pollInterval: 5000,
    // every quarter of an hour, and soon after a start that missed its turn
    crontab: '*/15 * * * * tidy ?fill=1h',
    taskList: {
      /** Sessions, logins and join tokens that ended long ago. */
      async tidy() {
        await sql`delete from session where coalesce("endedAt", "expiredAt") < now() - interval '7 days'`.execute(db);
        await sql`delete from login where "expiredAt" < now() - interval '1 day'`.execute(db);
        await sql`delete from "loginAttempt" where "startedAt" < now() - interval '1 day'`.execute(db);
        await sql`delete from "joinToken" where "expiredAt" < now() - interval '7 days'`.execute(db);
      },
    },
  });
  runner.promise.catch(error => logger.error({ err: error as Error }, 'the job runner ended'));
  return { stop: () => runner.stop() };
}
