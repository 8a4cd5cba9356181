/**
 * Looks whether a backup is due, by the clock or because somebody asked, and starts the keeper for it (bin/backup/keeper.ts): a program of
 * its own, so that neither the supervisor nor the server holds an archive in its hands. It runs as whoever started Breakwater.
 */
import { join } from 'node:path';
import pg from 'pg';
import { backupLimits } from '#contract/limits.ts';
import { type Engine, spawnEngine } from '#server/store/engine-process.ts';
import { listen } from '#server/store/db.ts';
import { projectFolder } from './settings.ts';
import type { Supervised } from './supervise.ts';

const lookMs = 20_000;
const name = 'backup';

interface Options {
  databaseUrl: string;
  dataFolder: string;
  say: (line: string) => void;
}

export function watchBackups({ databaseUrl, dataFolder, say }: Options): Supervised {
  let keeper: Engine | undefined;
  let isStopping = false;
  let looking: Promise<void> | undefined;
  let again = false;

  async function look(): Promise<void> {
    if (!(await isDue(databaseUrl)) || isStopping) return;
    keeper = await spawnEngine({
      command: process.execPath,
      args: [join(projectFolder, 'bin/backup/keeper.ts')],
      cwd: projectFolder,
      env: { ...process.env, BREAKWATER_DATA: dataFolder },
      onLine: say,
    });
    // asked to end while it was being started: nobody else would tell it
    if (isStopping) void keeper.stop();
    const { code } = await keeper.exited;
    keeper = undefined;
    if (code !== 0 && !isStopping) say(`ended with code ${code}`);
  }
  const ask = () => {
    again = true;
    if (isStopping) return;
    looking ??= (async () => {
      while (again && !isStopping) {
        again = false;
        await look().catch((error: Error) => say(error.message));
      }
    })().finally(() => (looking = undefined));
  };
  const timer = setInterval(ask, lookMs);
  // also once when it begins to hear
  const listener = listen(databaseUrl, ['backup'], ask);
  return {
    name,
    pid: () => keeper?.pid,
    restarts: () => 0,
    async stop() {
      isStopping = true;
      clearInterval(timer);
      await keeper?.stop();
      await listener.stop();
      await looking;
    },
  };
}

/** A database that is away, or not yet of this release, has nothing due. */
export async function isDue(connectionString: string): Promise<boolean> {
  const client = new pg.Client({
    connectionString,
    application_name: 'breakwater-backup',
    connectionTimeoutMillis: 5000,
    query_timeout: 5000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ due: boolean }>(
      `select exists (select 1 from "backupRun" r where (state = 'asked' and exists (select 1 from "databaseBackup" b
            where b.id = r."backupID" and b."clientID" = (select id from account where "isOwner")))
          or (state = 'running' and "beatAt" < now() - ${backupLimits.beatSeconds} * interval '1 second'))
        or exists (select 1 from "databaseBackup" where enabled and "deletedAt" is null and "nextAt" <= now()
          and "clientID" = (select id from account where "isOwner")) as due`,
    );
    return rows[0]!.due;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
