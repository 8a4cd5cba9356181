/** Where the engines of a running Breakwater are, for the commands that work beside it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from './settings.ts';

/** DATABASE_URL, or the embedded PostgreSQL while `npm start` runs. */
export function runningDatabase({ databaseUrl, dataFolder }: Settings): string {
  if (databaseUrl) return databaseUrl;
  const password = secretIn(dataFolder, 'postgres.password').toString('utf8').trim();
  return `postgres://breakwater:${password}@127.0.0.1:${portIn(dataFolder, 'postgres')}/breakwater`;
}

/** The embedded analytics store and its password; undefined where CLICKHOUSE_URL names another. */
export function runningStore({ clickhouseUrl, dataFolder }: Settings): { origin: string; password: string } | undefined {
  if (clickhouseUrl) return undefined;
  const password = secretIn(dataFolder, 'store.password').toString('base64url');
  return { origin: `http://127.0.0.1:${portIn(dataFolder, 'store')}`, password };
}

const noData = (dataFolder: string) => new Error(`There is no data in ${dataFolder}: set BREAKWATER_DATA or DATABASE_URL.`);

function secretIn(dataFolder: string, name: string): Buffer {
  const file = join(dataFolder, name);
  if (!existsSync(file)) throw noData(dataFolder);
  return readFileSync(file);
}

function portIn(dataFolder: string, name: string): number {
  const file = join(dataFolder, 'run/ports.json');
  if (!existsSync(file)) throw noData(dataFolder);
  const port = (JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>)[name];
  if (!port) throw noData(dataFolder);
  return port;
}
