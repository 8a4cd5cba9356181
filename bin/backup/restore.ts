/**
 * Makes a data folder out of an archive. All or nothing: whatever goes wrong, the folder is empty again; and where nobody could clean it
 * up any more (SIGKILL, a machine that went down), nothing starts on it.
 */
import { existsSync } from 'node:fs';
import { chmod, mkdir, open, readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { backupSaid } from '#contract/system/backup-problems.ts';
import { StartError } from '#server/store/engine-process.ts';
import { type DumpChunk, load, whyNot } from '#server/store/dump.ts';
import type { WaysIn } from '#server/store/forget.ts';
import { migrate } from '#server/store/migrate.ts';
import { startPostgres } from '#server/store/postgres-launcher.ts';
import { halfRestored, restoringFolder } from '../launch/restoring.ts';
import { type About, type Member, nameOfOurs, readArchive } from './archive.ts';
import { isLeft, kept } from './backup.ts';
import { StoreRows } from './restore-store.ts';
import { isSigningPlace, keylessZones, type SignedZone, signingPlaces } from './signing-keys.ts';
import { BrokenArchive } from './tar.ts';

/** Where a member may go, beside those of the store (restore-store.ts). Nothing else is ever written. */
const places: [pattern: RegExp, place: (name: string) => string][] = [
  [/^database\/\d{6}\.json$/, name => `${restoringFolder}/${name}`],
  [new RegExp(`^files/${nameOfOurs}(/${nameOfOurs})*$`), name => name.slice('files/'.length)],
];
/** Folders that parts with users of their own come through: all others are their owner's alone, as everything in them is. */
const passages = new Set(['run', 'nats']);

export interface RestoreResult {
  about: About;
  rows: number;
  /** by which people and programs come in again */
  waysIn: WaysIn;
  /** zones of which the world knows that they are signed (DNSSEC) */
  signed: string[];
  /** keys that came with them */
  keys: number;
  /** zones of these that none of the keys is of */
  keyless: string[];
}
const some = (names: readonly string[]) => `${names.slice(0, 10).join(', ')}${names.length > 10 ? ' …' : ''}`;
/**
 * A zone, and the one of its groups, have a key each; keys of zones that are gone may be among them, so it is asked for a zone's own as well.
 * Undefined: they are all here.
 */
export function lackingKeys({ signed, keys, keyless }: Pick<RestoreResult, 'signed' | 'keys' | 'keyless'>): string | undefined {
  const wanted = 2 * signed.length;
  if (keys < wanted) return `${signed.length} zones are signed (${some(signed)}), and of their ${wanted} keys ${keys} are here`;
  if (keyless.length)
    return `${signed.length} zones are signed, and the keys of ${keyless.length} are not here (${some(keyless)})`;
  return undefined;
}

export interface RestoreOptions {
  /** breaks it off */
  signal?: AbortSignal | undefined;
  /** of an encrypted archive */
  passphrase?: string | undefined;
  /** false: the analytics store is read and compared with the manifest, and written nowhere */
  logs?: boolean;
  /** told of each chunk that went in: a table and how many of its rows */
  counted?: (table: string, rows: number) => void;
}

/** @throws Error with one sentence */
export async function restore(file: string, dataFolder: string, options: RestoreOptions = {}): Promise<RestoreResult> {
  if (!existsSync(file)) throw new Error(`There is no file ${file}.`);
  const wasThere = existsSync(dataFolder);
  if (wasThere && (await readdir(dataFolder)).length > 0)
    throw new Error(
      halfRestored(dataFolder) ??
        `${dataFolder} is not empty: a backup is restored into an empty folder; BREAKWATER_DATA names it.`,
    );
  await mkdir(dataFolder, { recursive: true, mode: 0o711 });
  try {
    return await fill(file, dataFolder, options);
  } catch (error) {
    // what says that this is half an installation goes last
    const names = (await readdir(dataFolder)).filter(name => name !== restoringFolder);
    for (const name of [...names, restoringFolder]) await rm(join(dataFolder, name), { recursive: true, force: true });
    if (!wasThere) await rmdir(dataFolder).catch(() => {});
    if (error instanceof BrokenArchive)
      throw new Error(backupSaid('unrestorable', { name: file, why: error.message }), { cause: error });
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOSPC') throw new Error(`The disk that holds ${dataFolder} is full: nothing was restored.`, { cause: error });
    throw error;
  }
}

async function fill(file: string, dataFolder: string, options: RestoreOptions): Promise<RestoreResult> {
  const { signal, passphrase, logs = true, counted } = options;
  const stage = join(dataFolder, restoringFolder, 'database');
  const storeStage = join(dataFolder, restoringFolder, 'store');
  for (const folder of [stage, storeStage]) await mkdir(folder, { recursive: true, mode: 0o700 });
  const store = new StoreRows();
  let holdsLogs = false;
  const about = await readArchive(
    file,
    async ({ version, database, logs: hasStore }) => {
      holdsLogs = hasStore;
      const why = await whyNot(database);
      if (why) throw new BrokenArchive(`it was written by a newer Breakwater (${version}): ${why}. Restore it with that version`);
    },
    async member => {
      if (!member.name.startsWith('store/') || !holdsLogs) {
        const place = placeOf(member);
        if (place !== undefined) await put(member, place, dataFolder, signal);
        return;
      }
      const place = store.place(member.name, member.target);
      if (place !== undefined && logs) await put(member, `${restoringFolder}/store/${place}`, dataFolder, signal);
    },
    signal,
    passphrase,
  );
  store.check();
  if (holdsLogs && logs) await store.settle(storeStage, join(dataFolder, 'store'));
  await rm(storeStage, { recursive: true });
  const engine = await startPostgres({ dir: join(dataFolder, 'postgres') }).catch((error: unknown) => {
    if (error instanceof StartError) throw new Error(error.message, { cause: error });
    throw error;
  });
  let rows = 0;
  let waysIn: WaysIn;
  let signed: SignedZone[];
  try {
    // the schema the rows were written for; the next start brings it up to date
    signal?.throwIfAborted();
    await migrate(engine.url, about.database.migrations);
    ({ waysIn } = await load(
      engine.url,
      about.database,
      count(chunksIn(stage), (table, n) => {
        signal?.throwIfAborted();
        counted?.(table, n);
        rows += n;
      }),
    ));
    signed = await signedZones(engine.url);
  } finally {
    await engine.stop();
  }
  signal?.throwIfAborted();
  // its name goes last
  await rm(stage, { recursive: true });
  await rmdir(join(dataFolder, restoringFolder));
  return {
    about,
    rows,
    waysIn,
    signed: signed.map(one => one.name),
    keys: (await signingPlaces(dataFolder)).length,
    keyless: await keylessZones(dataFolder, signed),
  };
}

/** One without a DS nobody can know of; a release before it knew of none. */
async function signedZones(url: string): Promise<SignedZone[]> {
  const client = new pg.Client({ connectionString: url, application_name: 'breakwater-restore' });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rowCount } = await client.query(
      "select 1 from information_schema.columns where table_schema = 'public' and table_name = 'cname' and column_name = 'ds'",
    );
    if (!rowCount) return [];
    const { rows } = await client.query<SignedZone>(
      'select "domainName" as name, ds from cname where signed and ds <> \'{}\' and "deletedAt" is null order by 1',
    );
    return rows;
  } finally {
    await client.end().catch(() => {});
  }
}

/** In the data folder; undefined: nowhere, it is made anew. @throws BrokenArchive for what no backup of ours holds */
function placeOf({ name, target }: Member): string | undefined {
  if (target !== undefined) throw new BrokenArchive(`it holds a link that leads elsewhere: ${name}`);
  const place = places.find(([pattern]) => pattern.test(name))?.[1](name);
  const isFile = name.startsWith('files/');
  const isOurs = place && (!isFile || (place.split('/')[0] !== restoringFolder && (!isLeft(place) || kept.includes(place))));
  if (isOurs || (place && isSigningPlace(place))) return place;
  // a release before had the name server's folder in its backups
  if (place?.startsWith('dns/')) return undefined;
  throw new BrokenArchive(`it holds ${name}, which no backup of ours does`);
}

/** Of its mode nothing is taken over: whoever made the archive does not say who else may read it here. */
async function put({ bytes }: Member, place: string, dataFolder: string, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const path = join(dataFolder, place);
  await mkdir(join(dataFolder, dirname(place)), { recursive: true, mode: 0o700 });
  const [top = ''] = place.split('/');
  if (passages.has(top)) await chmod(join(dataFolder, top), 0o711);
  const out = await open(path, 'wx', 0o600);
  try {
    for await (const part of bytes) {
      signal?.throwIfAborted();
      await out.write(part);
    }
    await out.sync();
  } finally {
    await out.close();
  }
}

export const chunkOf = (bytes: Buffer): DumpChunk => JSON.parse(bytes.toString('utf8')) as DumpChunk;
async function* chunksIn(folder: string): AsyncGenerator<DumpChunk> {
  for (const name of (await readdir(folder)).sort()) yield chunkOf(await readFile(join(folder, name)));
}
async function* count(chunks: AsyncIterable<DumpChunk>, counted: (table: string, n: number) => void): AsyncGenerator<DumpChunk> {
  for await (const chunk of chunks) {
    counted(chunk.table, chunk.rows.length);
    yield chunk;
  }
}
