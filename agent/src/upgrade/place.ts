/**
 * Puts a version beside the others, as far as its signature and hashes say that it is the installation's. Where programs are root's, root
 * does it (`--place`), by a key of its own, and believes nothing that lies in the node's folder: what it checks is what it has copied.
 */
import { execFile } from 'node:child_process';
import {
  closeSync,
  constants,
  createWriteStream,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { mkdir, mkdtemp, open, readdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { type Bundle, isBundle, type Packed } from '#contract/node/bundle.ts';
import { flushFolder } from '#host/files.ts';
import { lockFile } from '#host/folder-lock.ts';
import { hashOf, isFull } from './fetch.ts';
import { isThere, isVersion } from './programs.ts';

const run = promisify(execFile);
const listBytesMost = 20_000;
const unpackMs = 300_000;
const stagingName = '.new-';

/** @returns what the list says @throws a sentence: it is not the installation's */
export function readSigned(manifest: string, signature: string, isSigned: IsSigned): Bundle {
  if (!isSigned(manifest, signature))
    throw new Error('the new version is not signed by the installation this node has joined: nothing of it is started');
  const bundle: unknown = JSON.parse(manifest);
  if (!isBundle(bundle) || !isVersion(bundle.version)) throw new Error('the list of the new version cannot be read');
  return bundle;
}

/** by the key that a node pinned when it joined, or that root was told then */
export type IsSigned = (manifest: string, signature: string) => boolean;

export const runtimeName = ({ sha256 }: Packed) => sha256.slice(0, 12);

export interface Placing {
  prefix: string;
  /** holds `bundle.json`, `bundle.sig` and the archives */
  from: string;
  isSigned: IsSigned;
  /** versions that stay, beside the new one */
  keep: readonly string[];
}

/**
 * Not while a join line works there (join.sh holds the same lock): what it has unpacked belongs to no version that stays, until it is chosen.
 * @returns the version, which is there now @throws a sentence; nothing was changed then
 */
export async function place(placing: Placing): Promise<string> {
  const lock = lockFile(join(placing.prefix, '.join'));
  if (!lock) throw new Error(`a join line is at work in ${placing.prefix}: nothing was placed`);
  try {
    return await placeAlone(placing);
  } finally {
    lock.release();
  }
}

async function placeAlone({ prefix, from, isSigned, keep }: Placing): Promise<string> {
  const manifest = text(join(from, 'bundle.json'));
  const signature = text(join(from, 'bundle.sig'));
  const bundle = readSigned(manifest, signature, isSigned);
  const folder = join(prefix, 'versions', bundle.version);
  const runtime = join(prefix, 'runtime', runtimeName(bundle.runtime));
  // of a placing that was broken off, as by a power cut: each would take room for ever
  for (const name of await readdir(join(prefix, 'versions')))
    if (name.startsWith(stagingName)) await rm(join(prefix, 'versions', name), { recursive: true, force: true });
  if (!isThere(prefix, bundle.version)) {
    let staging: string | undefined;
    try {
      staging = await mkdtemp(join(prefix, 'versions', stagingName));
      await unpack(from, bundle.runtime, join(staging, 'runtime'), runtime);
      const application = join(staging, 'application');
      await unpack(from, bundle.application, application);
      await symlink(`../../runtime/${basename(runtime)}`, join(application, 'runtime'));
      await writeFile(join(application, 'bundle.json'), manifest, { mode: 0o644 });
      await writeFile(join(application, 'bundle.sig'), signature, { mode: 0o644 });
      await run('sync', ['-f', application]);
      await rm(folder, { recursive: true, force: true });
      await rename(application, folder);
      flushFolder(join(prefix, 'versions'));
    } catch (error) {
      throw isFull(error) ? new Error(`the disk of ${prefix} is full: nothing was placed`, { cause: error }) : error;
    } finally {
      if (staging) await rm(staging, { recursive: true, force: true });
    }
  }
  await tidy(prefix, [bundle.version, ...keep]);
  return bundle.version;
}

/** @param last where it goes when it is whole; default: it stays. One that is there already stays too */
async function unpack(from: string, part: Packed, folder: string, last?: string): Promise<void> {
  if (last && existsSync(join(last, 'node'))) return;
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const copy = `${folder}.tar.gz`;
  // a stream that fails closes what it reads from, whatever it was told
  const file = await open(join(from, part.file), asItIs);
  try {
    const found = await file.stat();
    if (!found.isFile() || found.size !== part.bytes) throw new Error(`${part.file} has not the announced length`);
    await pipeline(file.createReadStream({ autoClose: false, end: part.bytes - 1 }), createWriteStream(copy, { mode: 0o600 }));
  } finally {
    await file.close();
  }
  if ((await hashOf(copy)) !== part.sha256) throw new Error(`${part.file} is not what was announced`);
  await run('tar', ['-xzf', copy, '--no-same-owner', '-C', folder], { timeout: unpackMs });
  await rm(copy);
  if (!last) return;
  await run('sync', ['-f', folder]);
  await rm(last, { recursive: true, force: true });
  await rename(folder, last);
}

/** Never what it points to, and nobody is waited for: a pipe that no one writes into would hold root for ever. */
const asItIs = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * The folder in which a node asks, held open: whatever its user puts in its place meanwhile, it is this one that is read. What is no folder
 * is taken away, else root would be asked by it again and again.
 */
export function holdFolder(path: string): { path: string; close(): void } {
  try {
    const folder = openSync(path, asItIs | constants.O_DIRECTORY);
    return { path: `/proc/self/fd/${folder}`, close: () => closeSync(folder) };
  } catch (error) {
    if (!lstatSync(path).isDirectory()) rmSync(path, { force: true });
    throw new Error(`${path} is no folder`, { cause: error });
  }
}

/** What the node asks for, and takes the question away, whatever it is. */
export function takeAsked(path: string): string {
  try {
    return text(path).slice(0, 200);
  } finally {
    rmSync(path, { force: true, recursive: true });
  }
}

function text(path: string): string {
  const file = openSync(path, asItIs);
  try {
    const found = fstatSync(file);
    if (!found.isFile()) throw new Error(`${basename(path)} is no file`);
    if (found.size > listBytesMost) throw new Error(`${basename(path)} is far too long`);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/** Other versions, and runtimes that none of those that stay has. That of the join line stays: it is what is started without a choice. */
async function tidy(prefix: string, keep: readonly string[]): Promise<void> {
  const first = basename(await readlink(join(prefix, 'current')).catch(() => ''));
  const stays = new Set([...keep, first]);
  const runtimes = new Set<string>();
  for (const name of await readdir(join(prefix, 'versions'))) {
    const folder = join(prefix, 'versions', name);
    if (name.startsWith('.')) continue;
    if (stays.has(name)) runtimes.add(basename(await readlink(join(folder, 'runtime')).catch(() => '')));
    else await rm(folder, { recursive: true, force: true });
  }
  for (const name of await readdir(join(prefix, 'runtime')))
    if (!runtimes.has(name)) await rm(join(prefix, 'runtime', name), { recursive: true, force: true });
}
