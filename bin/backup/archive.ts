/**
 * The file of a backup: tar, compressed with zstd, readable with `tar --zstd -tf` too.
 *
 *   about.json       first: what it is, of when, and the schema its rows are written for
 *   database/…       rows of each table
 *   files/…          secrets and other small files of the data folder, by their place in it
 *   store/…          the analytics store's folder, of which a restore takes rows alone (restore-store.ts)
 *   manifest.json    last: size and SHA-256 of everything before; without it the file was cut
 *
 * The hashes tell damage, not malice: who can write the file could write the hashes too. It holds the installation's keys, so whoever has
 * it is the installation; it is written for its owner alone (0600), and under a passphrase where one is given (cipher.ts).
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { constants, createReadStream, createWriteStream, openSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { finished, pipeline } from 'node:stream/promises';
import { createZstdCompress, createZstdDecompress, constants as zlib } from 'node:zlib';
import { backupSaid } from '#contract/system/backup-problems.ts';
import { flushFolder } from '#host/files.ts';
import type { DumpFacts } from '#server/store/dump.ts';
import { encrypted, opened } from './cipher.ts';
import { wholeFrames } from './frames.ts';
import { BrokenArchive, end, entries, header, padding } from './tar.ts';

export const format = 1;

/** A name that a file of ours, or a folder of them, may have: restore makes no other, so backup takes no other. */
export const nameOfOurs = String.raw`[\w@+-][\w.@+-]*`;
export interface About {
  product: 'breakwater';
  format: number;
  /** of the program that wrote it */
  version: string;
  /** ISO 8601, of the moment whose state it holds */
  time: string;
  database: DumpFacts;
  /** whether it holds the analytics store */
  logs: boolean;
}
type Manifest = Record<string, { size: number; sha256: string } | { target: string }>;

export class ArchiveWriter {
  readonly #path: string;
  readonly #fresh: string;
  readonly #zstd = createZstdCompress({ params: { [zlib.ZSTD_c_compressionLevel]: 3, [zlib.ZSTD_c_checksumFlag]: 1 } });
  readonly #written: Promise<void>;
  readonly #manifest: Manifest = {};
  readonly #signal: AbortSignal | undefined;
  #failed: Error | undefined;

  constructor(path: string, signal?: AbortSignal, passphrase?: string) {
    this.#path = path;
    this.#signal = signal;
    this.#fresh = `${path}.part`;
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
    let fd: number;
    try {
      fd = openSync(this.#fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOTDIR')
        throw new Error(`There is no folder ${dirname(path)}: make it, or give another place.`, { cause: error });
      if (code !== 'EEXIST') throw error;
      throw new Error(`${this.#fresh} is there: another backup is being written, or one was killed. In that case remove it.`, {
        cause: error,
      });
    }
    const file = createWriteStream('', { fd, flush: true });
    this.#written = passphrase ? pipeline(this.#zstd, source => encrypted(source, passphrase), file) : pipeline(this.#zstd, file);
    this.#written.catch((error: Error) => (this.#failed = error));
  }

  async #write(bytes: Buffer): Promise<void> {
    this.#signal?.throwIfAborted();
    if (this.#failed) throw this.#failed;
    if (!this.#zstd.write(bytes)) await Promise.race([once(this.#zstd, 'drain'), this.#written]);
  }

  async add(name: string, bytes: Buffer | string): Promise<void> {
    const whole = Buffer.from(bytes);
    await this.stream(name, whole.length, [whole]);
  }

  /** A file that may grow while it is read is stored as long as it was said to be; one that shrinks is an error. */
  async stream(name: string, size: number, source: Iterable<Buffer> | AsyncIterable<Buffer>, mode = 0o600): Promise<void> {
    if (this.#manifest[name]) throw new Error(`${name} is in the archive already`);
    await this.#write(header({ name, size, mode }));
    const hash = createHash('sha256');
    let left = size;
    for await (const part of source) {
      const taken = part.subarray(0, left);
      left -= taken.length;
      hash.update(taken);
      if (taken.length) await this.#write(taken);
      if (left === 0) break;
    }
    if (left > 0) throw new Error(`${name} became shorter while it was read`);
    await this.#write(padding(size));
    this.#manifest[name] = { size, sha256: hash.digest('hex') };
  }

  async link(name: string, target: string): Promise<void> {
    await this.#write(header({ name, size: 0, mode: 0o777, target }));
    this.#manifest[name] = { target };
  }

  /** The file gets its name when it is whole and on the disk. */
  async finish(): Promise<void> {
    await this.add('manifest.json', JSON.stringify(this.#manifest));
    await this.#write(end());
    this.#zstd.end();
    await this.#written;
    await rename(this.#fresh, this.#path);
    flushFolder(dirname(this.#path));
  }

  async abandon(): Promise<void> {
    this.#zstd.destroy();
    await finished(this.#zstd).catch(() => {});
    await this.#written.catch(() => {});
    await rm(this.#fresh, { force: true });
  }
}

export interface Member {
  name: string;
  size: number;
  mode: number;
  target?: string;
  bytes: AsyncIterable<Buffer>;
}

/**
 * Reads an archive once: `begin` first, with what it says of itself, then `take` for each member, then everything is compared with the
 * manifest. Whoever takes must not use anything before this has ended well.
 * @param passphrase given, what is not encrypted under it is refused: anybody could have put it in the place of what was
 * @throws BrokenArchive
 */
export async function readArchive(
  path: string,
  begin: (about: About) => Promise<void>,
  take: (member: Member) => Promise<void>,
  signal?: AbortSignal,
  passphrase?: string,
): Promise<About> {
  const zstd = createZstdDecompress();
  const source = createReadStream(path, { highWaterMark: 1 << 20 });
  const plain = (bytes: AsyncIterable<Buffer>) => wholeFrames(opened(bytes, passphrase));
  const feeding = pipeline(source, plain, zstd, signal ? { signal } : {});
  feeding.catch(() => {});
  let about: About | undefined;
  let manifest: Manifest | undefined;
  const seen: Manifest = {};
  try {
    for await (const { name, size, mode, target, bytes } of entries(zstd)) {
      if (manifest) throw new BrokenArchive('something follows its end');
      if (target !== undefined) {
        seen[name] = { target };
        await take({ name, size, mode, target, bytes });
        continue;
      }
      const hash = createHash('sha256');
      const hashed = (async function* () {
        for await (const part of bytes) {
          hash.update(part);
          yield part;
        }
      })();
      if (name === 'about.json') await begin((about = checkAbout(await text(hashed, size))));
      else if (name === 'manifest.json') manifest = JSON.parse(await text(hashed, size)) as Manifest;
      else {
        if (!about) throw new BrokenArchive('it does not say what it is');
        await take({ name, size, mode, bytes: hashed });
      }
      for await (const part of hashed) void part;
      if (name !== 'manifest.json') {
        if (seen[name]) throw new BrokenArchive(`it holds ${name} twice`);
        seen[name] = { size, sha256: hash.digest('hex') };
      }
    }
    await feeding;
  } catch (error) {
    throw signal?.aborted ? signal.reason : readable(error);
  } finally {
    source.destroy();
    zstd.destroy();
    await feeding.catch(() => {});
  }
  if (!about || !manifest) throw new BrokenArchive(backupSaid('endsEarly'));
  for (const name of new Set([...Object.keys(manifest), ...Object.keys(seen)]))
    if (JSON.stringify(manifest[name]) !== JSON.stringify(seen[name])) throw new BrokenArchive(backupSaid('changed', { name }));
  return about;
}

const textMax = 64_000_000;
async function text(bytes: AsyncIterable<Buffer>, size: number): Promise<string> {
  if (size > textMax) throw new BrokenArchive(backupSaid('notArchive'));
  const parts: Buffer[] = [];
  for await (const part of bytes) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

function checkAbout(said: string): About {
  const about = JSON.parse(said) as Partial<About>;
  const { migrations, tables, sequences } = about.database ?? {};
  // a changed byte may leave JSON that can be read, with a name that nobody knows
  if (about.product !== 'breakwater' || typeof about.format !== 'number' || !Array.isArray(migrations) || !tables || !sequences)
    throw new BrokenArchive(backupSaid('notArchive'));
  // it is shown as it is
  if (!/^\d{4}-\d\d-\d\dT[\d:.]{8,12}Z$/.test(String(about.time))) throw new BrokenArchive(backupSaid('notArchive'));
  if (about.format > format) throw new BrokenArchive(backupSaid('newer', { version: String(about.version) }));
  return about as About;
}

/** What zlib and JSON say of bytes that are not ours, in one sentence. */
function readable(error: unknown): unknown {
  const { code, name } = error as NodeJS.ErrnoException;
  if (code === 'Z_BUF_ERROR' || code === 'ERR_STREAM_PREMATURE_CLOSE') return new BrokenArchive(backupSaid('endsEarly'));
  if (code?.startsWith('ZSTD_') || code?.startsWith('Z_') || name === 'SyntaxError')
    return new BrokenArchive('its bytes are damaged, or it is no archive of a backup', { cause: error });
  return error;
}
