/** The folders and files nginx works in, and what gives way when their disk is full. */
import { execFile } from 'node:child_process';
import { X509Certificate, createPrivateKey, randomBytes } from 'node:crypto';
import { chmod, chown, lstat, mkdir, open, readFile, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Disk } from '#contract/system/room.ts';
import { writeWhole } from '#host/files.ts';
import { giveUpCache } from './cache-room.ts';
import { type Release, builtWithHTTP3, quicKeyFile, releaseOf, ticketFiles } from './render/nginx.ts';
import { selfSigned } from '#host/certificates.ts';
import { workerAccount } from './worker-account.ts';

export interface NginxFolders {
  /** our own part of the node's data folder; everything of nginx is under it */
  home: string;
  run: string;
  logs: string;
  cache: string;
  temp: string;
  snapshot: string;
}
export const nginxFolders = (home: string): NginxFolders => ({
  home,
  run: join(home, 'run'),
  logs: join(home, 'log'),
  cache: join(home, 'cache'),
  temp: join(home, 'temp'),
  snapshot: join(home, 'snapshot.bin'),
});

export async function prepareFolders({ home, run, logs, cache, temp }: NginxFolders, speaksTLS: boolean): Promise<void> {
  await mkdir(home, { recursive: true, mode: 0o711 });
  const account = process.getuid?.() === 0 ? await workerAccount(home) : undefined;
  for (const [folder, mode, whose] of [
    [run, 0o711, 'agent'],
    [join(run, 'ctl'), 0o700, 'agent'],
    [join(run, 'back'), 0o700, 'workers'],
    [logs, 0o750, 'group'],
    [cache, 0o700, 'workers'],
    [temp, 0o700, 'workers'],
  ] as const) {
    await mkdir(folder, { recursive: true, mode });
    await chmod(folder, mode);
    if (account && whose !== 'agent') await chown(folder, whose === 'workers' ? account.uid : 0, account.gid);
  }
  // logs of an earlier version, which everybody might read
  for (const name of await readdir(logs)) {
    const { mode } = await lstat(join(logs, name));
    if ((mode & 0o170_000) === 0o100_000 && mode & 0o007) await chmod(join(logs, name), mode & 0o770);
  }
  if (!speaksTLS) return;
  await defaultCertificate(run);
  await quicKey(run);
  await ticketKeys(run);
}

/** The nginx that runs, for the next agent. */
export interface NginxState {
  pid: number;
  start: string;
  boot: string;
  epoch: string;
}

export const isState = (value: unknown): value is NginxState =>
  typeof value === 'object' && value !== null && 'pid' in value && Number.isInteger(value.pid) && 'epoch' in value;

/** What is installed: its release, undefined where it does not say, and whether it was built with HTTP/3. */
export const nginxBuild = (): Promise<{ release: Release | undefined; hasHTTP3: boolean }> =>
  new Promise(done =>
    execFile('nginx', ['-V'], (_error, _out, said) => done({ release: releaseOf(said), hasHTTP3: builtWithHTTP3(said) })),
  );

/**
 * Memory for certificates, MB, by the machine's: a thirty-second, and at least what 16,000 of elliptic curves take. It is taken from the
 * machine as they come.
 * @param memory bytes
 */
export const certificatesMb = (memory: number): number => Math.min(Math.max(Math.round(memory / 32 / 2 ** 20), 32), 1024);

const quicKeyBytes = 32;
const ticketBytes = 80;
/** A ticket is good as long as nginx knows the key it was made with: this long, and as long again. */
export const ticketKeyMs = 86_400_000;

/** Keys of session tickets. @returns whether a new one was made: nginx is to read them */
export async function ticketKeys(run: string, now = Date.now()): Promise<boolean> {
  const [current, before] = [join(run, ticketFiles[0]), join(run, ticketFiles[1])];
  const found = await stat(current).catch(() => undefined);
  const isWhole = found?.size === ticketBytes;
  // by the wall clock, as the file's time is; one of the future was made with the clock wrong
  const age = isWhole ? now - found.mtimeMs : Infinity;
  const hasBefore = (await stat(before).catch(() => undefined))?.size === ticketBytes;
  if (age >= 0 && age < ticketKeyMs && hasBefore) return false;
  if (isWhole && (age < 0 || age >= ticketKeyMs)) writeWhole(before, await readFile(current));
  else if (!hasBefore) writeWhole(before, randomBytes(ticketBytes));
  if (age >= 0 && age < ticketKeyMs) return true;
  writeWhole(current, randomBytes(ticketBytes));
  return true;
}

/** By it a visitor over QUIC is told that a connection is no more; nginx does not start without. */
async function quicKey(run: string): Promise<void> {
  const file = join(run, quicKeyFile);
  if ((await stat(file).catch(() => undefined))?.size !== quicKeyBytes) writeWhole(file, randomBytes(quicKeyBytes));
}

/** For names that no certificate covers; made once, and again when it was damaged. */
async function defaultCertificate(run: string): Promise<void> {
  const [pem, secret] = await Promise.all(
    ['default.crt', 'default.key'].map(name => readFile(join(run, name)).catch(() => Buffer.alloc(0))),
  );
  if (belongTogether(pem!, secret!)) return;
  const { certificate, key } = selfSigned('breakwater.invalid');
  writeWhole(join(run, 'default.crt'), certificate);
  writeWhole(join(run, 'default.key'), key);
}

function belongTogether(certificate: Buffer, key: Buffer): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/** Beside the old one, then in its place: nginx reads all of it or none. */
export async function writeSnapshot(path: string, parts: Buffer[]): Promise<void> {
  try {
    const file = await open(`${path}.new`, 'w', 0o600);
    try {
      for (const part of parts) await file.writeFile(part);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${path}.new`, path);
  } catch (error) {
    await rm(`${path}.new`, { force: true });
    throw error;
  }
}

export const isFull = (error: unknown) => ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Does what writes this file. @throws an error that names it */
export async function writing<T>(file: string, act: () => T | Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    throw Object.assign(new Error(`${file} cannot be written: ${message}`, { cause: error }), { code });
  }
}

const reserveBytes = 256 * 1024;
const hasRoom = ({ freeBytes, freeFiles = 0, totalFiles = 0 }: Disk) =>
  freeBytes >= 64e6 && (totalFiles === 0 || freeFiles >= 100);

/**
 * What is given up, one after the other, so that nginx starts on a full disk: the cache; a file kept for this; the last snapshot, which is
 * made of the node's store and can be made again; and the snapshot altogether: nginx then starts with nothing and is told everything.
 */
export class Relief {
  /** No snapshot: it would take the room that the rest needs. */
  bare = false;
  #given = 0;
  readonly #folders: NginxFolders;
  readonly #log: (message: string) => void;
  constructor(folders: NginxFolders, log: (message: string) => void) {
    this.#folders = folders;
    this.#log = log;
  }

  get #reserve(): string {
    return join(this.#folders.home, 'reserve');
  }

  /** @returns false: there is nothing left to give up */
  async giveWay(why: string): Promise<boolean> {
    const { cache, snapshot } = this.#folders;
    const steps = [
      ['a part of the cache', () => giveUpCache(cache, hasRoom)],
      ['the room kept for this', () => rm(this.#reserve, { force: true })],
      ['its last snapshot', () => rm(snapshot, { force: true })],
      ['the snapshot: it is told everything once it runs', () => rm(snapshot, { force: true }).then(() => (this.bare = true))],
    ] as const;
    const step = steps[this.#given++];
    if (!step) return false;
    this.#log(`${why}; nginx is started without ${step[0]}`);
    await step[1]();
    return true;
  }

  /** nginx is up: the next time there is something to give up again. */
  async restore(): Promise<void> {
    this.#given = 0;
    this.bare = false;
    if ((await stat(this.#reserve).catch(() => undefined))?.size === reserveBytes) return;
    try {
      writeWhole(this.#reserve, Buffer.alloc(reserveBytes, 1), { durable: false });
    } catch {
      // full: at the next start
    }
  }

  /** It could not be started with all of that: from the beginning. */
  reset(): void {
    this.#given = 0;
    this.bare = false;
  }
}
