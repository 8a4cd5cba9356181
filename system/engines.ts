/**
 * Real engines for tests. `npm test` starts one set for the whole run and passes it on by environment; a test file that is run alone
 * starts what it asks for, when it asks. Whatever a process started ends with it, also after a kill -9.
 */
import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { type NatsEngine, startNats } from '#server/bus/nats-launcher.ts';
import {
  type Engine,
  StartError,
  accepts,
  freePort,
  poll,
  processFacts,
  signalGroup,
  spawnEngine,
} from '#server/store/engine-process.ts';
import { migrate, migrationFolder, migrationNames } from '#server/store/migrate.ts';
import { startPostgres } from '#server/store/postgres-launcher.ts';

const started: Engine[] = [];
const folders: string[] = [];
const prefix = 'breakwater-test-';

process.once('exit', () => {
  for (const engine of started) signalGroup(engine.pid, 'SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
});

/** A temporary folder that goes with this process; every user may pass through it (engines run unprivileged), nobody may list it. */
export function testFolder(name = 'data'): string {
  if (folders.length === 0) sweep();
  const folder = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-${name}-`));
  chmodSync(folder, 0o711);
  folders.push(folder);
  return folder;
}

/** Removes folders of test processes that were killed. */
function sweep(): void {
  for (const name of readdirSync(tmpdir())) {
    const owner = name.startsWith(prefix) ? Number(/^\d+/.exec(name.slice(prefix.length))?.[0]) : Number.NaN;
    if (owner > 0 && !processFacts(owner)) removeTree(join(tmpdir(), name));
  }
}

/** Also where a test that was killed has left a small disk mounted. What cannot be removed is no reason to fail another test. */
function removeTree(folder: string): void {
  const mounted = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map(line => line.split(' ')[1] ?? '')
    .filter(path => path.startsWith(`${folder}/`));
  for (const path of mounted.reverse()) spawnSync('umount', ['-l', path], { stdio: 'ignore' });
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // still in use by somebody
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

const trace = process.env.TEST_ENGINE_LOG
  ? (name: string) => (line: string) => console.error(`${name}: ${line}`)
  : () => undefined;

const postgresUrl = once(async () => {
  if (process.env.TEST_DATABASE_URL) return process.env.TEST_DATABASE_URL;
  const engine = await startPostgres({
    dir: join(testFolder('pg'), 'pg'),
    durable: false,
    // several files at a time, each with servers and pools of its own
    maxConnections: 400,
    ref: false,
    onLine: trace('postgres'),
  });
  started.push(engine);
  return engine.urlOf('postgres');
});

/** Runs on the cluster's own database, where others are made. */
async function onCluster<T>(run: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: await postgresUrl() });
  await client.connect();
  try {
    return await run(client);
  } finally {
    await client.end();
  }
}

async function copyOf(template: string): Promise<string> {
  const name = `t_${randomBytes(8).toString('hex')}`;
  await onCluster(client => client.query(`create database ${name} template ${template}`));
  return databaseUrl(name);
}

async function databaseUrl(name: string): Promise<string> {
  const url = new URL(await postgresUrl());
  url.pathname = `/${name}`;
  return url.href;
}

/** The URL of a new, empty PostgreSQL database (18.4, UTF-8). About 40 ms. It goes with the engine; nothing is to be cleaned up. */
export const freshDatabase = (): Promise<string> => copyOf('template0');

/** The same with every migration run: a copy of a database that is migrated once on each engine, by whoever asks first. */
export const migratedDatabase = async (): Promise<string> => copyOf(await migratedTemplate());

/** Its name says which migrations it holds: an engine that outlives a change of them makes another. */
const migratedTemplate = once(async () => {
  const name = `migrated_${await migrationsHash()}`;
  await onCluster(async client => {
    // other test processes wait for the one that makes it; the lock goes with the connection
    await client.query('select pg_advisory_lock(72012)');
    if ((await client.query('select from pg_database where datname = $1', [name])).rowCount) return;
    // it gets its name when it is whole, so that nobody copies what a killed process left behind
    const half = `half_${randomBytes(8).toString('hex')}`;
    await client.query(`create database ${half} template template0`);
    await migrate(await databaseUrl(half));
    await client.query(`alter database ${half} rename to ${name}`);
  });
  return name;
});

async function migrationsHash(): Promise<string> {
  const hash = createHash('sha256');
  for (const name of await migrationNames())
    hash
      .update(name)
      .update('\0')
      .update(readFileSync(new URL(name, migrationFolder)));
  return hash.digest('hex').slice(0, 24);
}

/** A NATS server of your own with JetStream, empty, on a port of its own, in operator mode. About 150 ms; `stop()` it or let it go with the process. */
export async function nats(port?: number): Promise<NatsEngine> {
  const engine = await startNats({ dir: join(testFolder('nats'), 'nats'), port, ref: false, onLine: trace('nats') });
  started.push(engine);
  return engine;
}

const storeProgram = new URL('../server/src/store/analytics/store.ts', import.meta.url);

export interface ClickhouseTarget {
  /** `http://user:password@127.0.0.1:port`, what CLICKHOUSE_URL takes. */
  url: string;
  /** A database nobody else uses; it is not made yet. */
  database: string;
}

const storeUrl = once(async () => {
  if (process.env.TEST_CLICKHOUSE_URL) return process.env.TEST_CLICKHOUSE_URL;
  return (await startTestStore()).url;
});

/** Starts an analytics store process of your own (chDB behind HTTP), for tests that kill it. About 1 s and 300 MB. */
export async function startTestStore(
  dir = join(testFolder('store'), 'store'),
  port?: number,
): Promise<Engine & { url: string; dir: string; port: number }> {
  if (!existsSync(storeProgram)) throw new StartError(`${pathToFileURL(storeProgram.pathname).pathname} does not exist.`);
  const at = port ?? (await freePort());
  const engine = await spawnEngine({
    command: process.execPath,
    args: [storeProgram.pathname, '--data', dir, '--port', String(at)],
    ref: false,
    deathSignal: 'SIGKILL',
    onLine: trace('store'),
  });
  started.push(engine);
  let gone = false;
  void engine.exited.then(() => (gone = true));
  const url = `http://127.0.0.1:${at}`;
  const ready = await poll(
    async () =>
      gone ||
      ((await accepts(at)) &&
        (await fetch(`${url}/ping`).then(
          r => r.ok,
          () => false,
        ))),
    60_000,
    50,
  );
  if (gone || !ready) throw new StartError(`The analytics store did not start: ${engine.lastLines().slice(-5).join(' | ')}`);
  return { ...engine, url, dir, port: at };
}

/** The shared analytics store and a database name for you alone. */
export async function clickhouse(): Promise<ClickhouseTarget> {
  return { url: await storeUrl(), database: `t_${randomBytes(8).toString('hex')}` };
}

/** Starts the shared engines of a whole run (`npm test` calls it once) and answers the environment that hands them to the test files. */
export async function sharedEngines(): Promise<NodeJS.ProcessEnv> {
  const env: NodeJS.ProcessEnv = { TEST_DATABASE_URL: await postgresUrl() };
  if (existsSync(storeProgram)) env.TEST_CLICKHOUSE_URL = await storeUrl();
  return env;
}
