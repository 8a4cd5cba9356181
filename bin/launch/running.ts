/** Where the engines of a running Breakwater are, for the commands that work beside it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from '#host/files.ts';
import { isPorts } from './parts.ts';
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

/** Parts whose port is kept under another name than their own. */
const portNames: Readonly<Record<string, string>> = { origin: 'demo-origin' };

/**
 * The parts that this start of Breakwater has started (`run/sessions`), each with its port if it has one of its own. What an earlier
 * start ran, a demo or an engine that an outside one has replaced since, keeps its port in `run/ports.json` and runs no more.
 */
export function startedParts(dataFolder: string): Map<string, number | undefined> {
  // cut or lost: chosen anew at the next start
  const ports = readJson(join(dataFolder, 'run/ports.json'), isPorts) ?? {};
  let sessions = '';
  try {
    sessions = readFileSync(join(dataFolder, 'run/sessions'), 'utf8');
  } catch (error) {
    // another user asks: what a demo leaves behind is told apart by its name alone
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      return new Map([['server', undefined], ...Object.entries(ports).filter(([name]) => name !== portNames['origin'])]);
  }
  const names = sessions.split('\n').flatMap(line => line.split(' ')[3] ?? []);
  return new Map(names.map(name => [portNames[name] ?? name, ports[portNames[name] ?? name]]));
}
