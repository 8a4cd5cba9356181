/** Makes the archive of a running installation. Nothing is stopped: the database is read in one snapshot, the store is frozen. */
import { randomBytes } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { lstat, mkdir, open, readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { geoLimits } from '#contract/limits.ts';
import { backupSaid } from '#contract/system/backup-problems.ts';
import { dump } from '#server/store/dump.ts';
import { type Settings, projectFolder } from '../launch/settings.ts';
import { runningDatabase, runningStore } from '../launch/running.ts';
import { ArchiveWriter, format, nameOfOurs } from './archive.ts';
import { encryptedSuffix } from './cipher.ts';
import { signingKeys, signingPlaces } from './signing-keys.ts';

export interface BackupOptions {
  settings: Settings;
  /** a file that is not there yet, or a folder to put it into */
  target: string;
  /** false: without the analytics store */
  logs: boolean;
  /** under which it is encrypted; left out: whoever has the file reads it */
  passphrase?: string;
  /** breaks it off; nothing is left behind */
  signal?: AbortSignal;
}
export interface BackupResult {
  file: string;
  bytes: number;
  /** ISO 8601, of the moment whose state it holds */
  time: string;
  rows: number;
  /** why the logs are not in it although they were asked for */
  without?: string;
  /** what lies in the data folder and is none of ours, by its name: it is not taken along */
  foreign: string[];
  /** what of the keys of signed zones is not in it, and why */
  keysLeft?: string;
}

/** Where backups go that are made by the clock and named no other place; and where a restore is tried. */
export const backupsFolder = 'backups';
export const proofFolder = 'restore-test';
/**
 * What lies in the data folder and is not taken as a file: engines' folders (read through the engines), what is made anew, other archives.
 * Of the name server's folder the keys are taken (signing-keys.ts).
 */
const left = new Set([
  'postgres',
  'postgres.password',
  'store',
  'logs',
  'run',
  'snapshots',
  backupsFolder,
  proofFolder,
  'nats/work',
  'nats/run',
  'node',
  'dns',
]);
/** Whether something in the data folder, or a folder it lies in, is left out. */
export const isLeft = (place: string): boolean =>
  place.split('/').some((_, n, parts) => left.has(parts.slice(0, n + 1).join('/')));
/** Of what is made anew, what would be missed. */
export const kept: readonly string[] = ['run/ports.json', 'node/identity.json'];
/** Of the data of places: what was made of them (server/src/resolution/geo/data.ts). */
const madeAnew = /^geo\/places-/;
/** An owner's own data of places are larger than all else. */
const bytesMaxOf = (name: string) => (name.startsWith('files/geo/') ? geoLimits.bytesMax : 16_000_000);

/** `breakwater-2026-01-02T03-04-05.tar.zst`: by name they stand in the order of their times. */
export const archiveName = (time: Date, passphrase?: string): string =>
  `breakwater-${time.toISOString().slice(0, 19).replaceAll(':', '-')}.tar.zst${passphrase ? encryptedSuffix : ''}`;

export async function backup({ settings, target, logs, passphrase, signal }: BackupOptions): Promise<BackupResult> {
  const { dataFolder } = settings;
  const time = new Date();
  let file = resolve(target);
  if (existsSync(file) && (await stat(file)).isDirectory()) file = join(file, archiveName(time, passphrase));
  if (existsSync(file)) throw new Error(`${file} is there already: give another name.`);
  const database = runningDatabase(settings);
  const store = runningStore(settings);
  const without = logs && !store ? 'the ClickHouse of CLICKHOUSE_URL has a backup of its own' : undefined;
  const holdsLogs = logs && store !== undefined;
  const { version } = JSON.parse(await readFile(join(projectFolder, 'package.json'), 'utf8')) as { version: string };

  const archive = new ArchiveWriter(file, signal, passphrase);
  const name = `backup_${randomBytes(8).toString('hex')}`;
  let rows = 0;
  let serial = 0;
  let foreign: string[] = [];
  const keysLeft: string[] = [];
  try {
    await dump(
      database,
      async facts => {
        if (holdsLogs) await askStore(store, 'freeze', name);
        await archive.add(
          'about.json',
          JSON.stringify({ product: 'breakwater', format, version, time: time.toISOString(), database: facts, logs: holdsLogs }),
        );
      },
      async chunk => {
        rows += chunk.rows.length;
        await archive.add(`database/${String(++serial).padStart(6, '0')}.json`, JSON.stringify(chunk));
      },
      signal,
    );
    const files = await smallFiles(dataFolder);
    foreign = files.foreign;
    for (const place of files.ours) await addFile(archive, join(dataFolder, place), `files/${place}`);
    if (passphrase)
      for await (const { place, bytes } of signingKeys(dataFolder, { onLeft: why => keysLeft.push(why) }))
        await archive.add(`files/${place}`, bytes);
    else {
      const n = (await signingPlaces(dataFolder)).length;
      if (n) keysLeft.push(`${n} of them, as it is not encrypted`);
    }
    if (holdsLogs) await addTree(archive, join(dataFolder, 'store/shadow', name), 'store');
    await archive.finish();
  } catch (error) {
    await archive.abandon();
    throw error;
  } finally {
    if (holdsLogs) await askStore(store, 'unfreeze', name).catch(() => {});
  }
  return {
    file,
    bytes: (await stat(file)).size,
    time: time.toISOString(),
    rows,
    foreign,
    ...(without && { without }),
    ...(keysLeft.length && { keysLeft: keysLeft.join('; ') }),
  };
}

const snapshotsKept = 5;
/** The same without logs into the data folder itself: quick, for the moment before an upgrade. The newest are kept. */
export async function snapshot(settings: Settings, signal?: AbortSignal): Promise<BackupResult & { removed: string[] }> {
  const folder = join(settings.dataFolder, 'snapshots');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const result = await backup({ settings, target: folder, logs: false, ...(signal && { signal }) });
  const all = (await readdir(folder)).filter(name => /^breakwater-[\dT-]+\.tar\.zst$/.test(name)).sort();
  const removed = all.slice(0, -snapshotsKept);
  for (const name of removed) await rm(join(folder, name));
  return { ...result, removed };
}

async function askStore(
  { origin, password }: { origin: string; password: string },
  what: 'freeze' | 'unfreeze',
  name: string,
): Promise<void> {
  const answer = await fetch(`${origin}/${what}?name=${name}`, {
    method: 'POST',
    headers: { 'X-ClickHouse-User': 'default', 'X-ClickHouse-Key': password },
    signal: AbortSignal.timeout(120_000),
  }).catch(() => undefined);
  if (!answer) throw new Error(backupSaid('storeAway'));
  const said = await answer.text();
  if (!answer.ok) throw new Error(backupSaid('storeNotFrozen', { why: said.slice(0, 300).trim() }));
}

/** Regular files of the data folder, by their place in it. */
const ofOurs = new RegExp(`^${nameOfOurs}$`);
async function smallFiles(dataFolder: string): Promise<{ ours: string[]; foreign: string[] }> {
  const found: string[] = [];
  const foreign: string[] = [];
  const walk = async (place: string) => {
    for (const entry of await readdir(join(dataFolder, place), { withFileTypes: true })) {
      const name = place ? `${place}/${entry.name}` : entry.name;
      if (left.has(name) || madeAnew.test(name) || /\.(new|part|lock|sock|pid|handover)$/.test(name)) continue;
      if (!ofOurs.test(entry.name)) foreign.push(name);
      else if (entry.isDirectory()) await walk(name);
      else if (entry.isFile()) found.push(name);
    }
  };
  await walk('');
  for (const name of kept) if (existsSync(join(dataFolder, name))) found.push(name);
  return { ours: found, foreign };
}

/** A link is not followed: some folders belong to users who are less than we are. */
async function addFile(archive: ArchiveWriter, path: string, name: string): Promise<void> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined; // it was there to be made anew
    throw error;
  });
  if (!file) return;
  try {
    const { size, mode } = await file.stat();
    if (name.startsWith('files/') && size > bytesMaxOf(name))
      throw new Error(`${path} has ${size} bytes, more than a file of this folder should.`);
    await archive.stream(name, size, size ? file.createReadStream({ autoClose: false }) : [], mode & 0o777);
  } finally {
    await file.close();
  }
}

async function addTree(archive: ArchiveWriter, folder: string, name: string): Promise<void> {
  for (const entry of (await readdir(folder)).sort()) {
    const path = join(folder, entry);
    const facts = await lstat(path);
    if (facts.isDirectory()) await addTree(archive, path, `${name}/${entry}`);
    else if (facts.isSymbolicLink()) await archive.link(`${name}/${entry}`, await readlink(path));
    else if (facts.isFile()) await addFile(archive, path, `${name}/${entry}`);
  }
}
