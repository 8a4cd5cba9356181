/** Small files that state is kept in: whole or as they were before, whatever happens in between. */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface Whole {
  /** default 0600 */
  mode?: number;
  /** Who it belongs to; default: who writes it. Takes root. */
  owner?: { uid: number; gid: number } | undefined;
  /** false: it may be lost with the machine's power, not with the process. For what is only a help. */
  durable?: boolean;
}

/**
 * Writes beside the file, flushes, and puts the new one in its place; then the folder is flushed, or the rename itself could be lost.
 * The name beside it is nobody's to guess and never followed: the folder may belong to a user who is less than we are.
 */
export function writeWhole(
  path: string,
  content: string | Uint8Array,
  { mode = 0o600, owner, durable = true }: Whole = {},
): void {
  const fresh = `${path}.${randomBytes(6).toString('hex')}.new`;
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const file = openSync(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
    if (owner) fchownSync(file, owner.uid, owner.gid);
    fchmodSync(file, mode);
    if (durable) fsyncSync(file);
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  if (durable) flushFolder(dirname(path));
}

/** As `writeWhole`, of what takes long to write: `write` fills the new file beside everything else that is to be done. */
export async function writeLarge(
  path: string,
  write: (file: FileHandle) => Promise<void>,
  { mode = 0o600 }: Pick<Whole, 'mode'> = {},
): Promise<void> {
  const fresh = `${path}.${randomBytes(6).toString('hex')}.new`;
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  try {
    const file = await open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      await write(file);
      await file.chmod(mode);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
  flushFolder(dirname(path));
}

/** Makes renames and new names in a folder last. */
export function flushFolder(folder: string): void {
  const opened = openSync(folder, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

/** The JSON of a file; undefined when the file is missing, cut, or not what `is` says: for what can be made anew. */
export function readJson<T>(path: string, is: (value: unknown) => value is T): T | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const value: unknown = JSON.parse(text);
    return is(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
