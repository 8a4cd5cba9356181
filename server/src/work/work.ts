/** Jobs on PostgreSQL (graphile-worker): what happens by the clock, once in the installation however many processes run. */
import { Logger, run } from 'graphile-worker';
import pg from 'pg';
import type { Services } from '../kit/services.ts';
import { working } from '../kit/metrics.ts';
import { logger } from '../log.ts';
import type { Settings } from '../settings.ts';
import type { Db } from '../store/db.ts';
import { PreparingClient } from '../store/statements.ts';
import { retain } from './retention.ts';
import type { Tasks } from './tasks.ts';

/** What the library says, among the other lines of the log; its every completed job is a detail. */
const workLog = {
  error: (message: string) => logger.warn(`work: ${message}`),
  warning: (message: string) => logger.warn(`work: ${message}`),
  info: (message: string) => logger.debug(`work: ${message}`),
  debug: (message: string) => logger.trace(`work: ${message}`),
};

export async function startWork(
  settings: Pick<Settings, 'databaseUrl'>,
  services: Pick<Services, 'database'>,
  tasks?: Tasks,
  /** begins what is to be fetched by the clock */
  due?: (db: Db) => Promise<void>,
): Promise<{ stop(): Promise<void> }> {
  const { db } = services.database;
  // A pool of its own, whose listeners outlive the runner: the library takes its own away before the last connection has
  // ended, and a server that goes at that moment would end this process. With pg's own types, which the library expects.
  const pgPool = new pg.Pool({ Client: PreparingClient, connectionString: settings.databaseUrl, max: 5, keepAlive: true });
  pgPool.on('error', () => {});
  pgPool.on('connect', () => {});
  const runner = await run({
    pgPool,
    logger: new Logger(() => (level, message) => workLog[level](message)),
    concurrency: 3,
    noHandleSignals: true,
    pollInterval: 5000,
    // every quarter of an hour, and soon after a start that missed its turn
    crontab: '*/15 * * * * tidy ?fill=1h\n*/10 * * * * due ?fill=1h',
    taskList: {
      /** One turn of a task (kit/task.ts). */
      task: payload => tasks?.turn((payload as { id: number }).id),
      due: () => due?.(db),
      /** Removes what nobody needs any more. */
      async tidy() {
        const { removed, more, problem } = await working(
          'tidy',
          () => retain(db),
          result => !result.problem,
        );
        const total = Object.values(removed).reduce((sum, n) => sum + n, 0);
        if (total || problem) logger[problem ? 'warn' : 'info']({ removed, more, problem }, 'what is no longer kept was removed');
      },
    },
  });
  tasks?.start();
  runner.promise.catch(error => logger.error({ err: error as Error }, 'the job runner ended'));
  return {
    async stop() {
      tasks?.end();
      await runner.stop();
      await tasks?.stop();
      await pgPool.end();
    },
  };
}
