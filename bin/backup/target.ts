/** Where archives go: a folder of this machine, or a bucket. */
import { copyFile, mkdir, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { backupSaid } from '#contract/system/backup-problems.ts';
import { flushFolder } from '#host/files.ts';
import { backupsFolder } from './backup.ts';
import { longer, type S3 } from './s3.ts';

export interface Target {
  /** takes a finished archive over; the file at `path` may be moved */
  put(name: string, path: string): Promise<void>;
  /** into a file that is not there yet; `bytesMax`: it was no longer when it was put there */
  get(name: string, path: string, bytesMax?: number): Promise<void>;
  /** which of these are there */
  list(wanted: ReadonlySet<string>): Promise<string[]>;
  remove(name: string): Promise<void>;
}

/**
 * The console says which folder, and whoever runs Breakwater, often root, writes there: so it must be a folder that is this user's, that
 * nobody else may write to, and that was made for it beforehand. @throws Error with one sentence
 */
export async function folderTarget(folder: string, dataFolder: string): Promise<Target & { folder: string }> {
  const own = join(dataFolder, backupsFolder);
  if (folder === '') await mkdir(own, { recursive: true, mode: 0o700 });
  const named = folder === '' ? own : folder;
  const place = await realpath(named).catch(() => {
    throw new Error(backupSaid('noFolder', { folder: named }));
  });
  const facts = await stat(place);
  if (!facts.isDirectory()) throw new Error(backupSaid('notFolder', { folder: named }));
  if (facts.uid !== process.getuid!() || (facts.mode & 0o022) !== 0)
    throw new Error(backupSaid('folderRights', { folder: named }));
  const inside = (await realpath(dataFolder)) + sep;
  if (`${place}${sep}`.startsWith(inside) && place !== (await realpath(own).catch(() => '')))
    throw new Error(backupSaid('folderInside', { folder: named, data: dataFolder }));
  return {
    folder: place,
    async put(name, path) {
      const to = join(place, name);
      await rename(path, to).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EXDEV') throw error;
        // another disk: it gets its name when it is whole, and really there
        const part = `${to}.part`;
        try {
          await copyFile(path, part);
          const copy = await open(part, 'r+');
          await copy.sync().finally(() => copy.close());
          await rename(part, to);
        } catch (problem) {
          await rm(part, { force: true });
          throw problem;
        }
      });
      flushFolder(place);
    },
    async get(name, path, bytesMax = Infinity) {
      const { size } = await stat(join(place, name));
      if (size > bytesMax) throw new Error(longer(name, size, bytesMax));
      await copyFile(join(place, name), path);
    },
    list: async wanted =>
      (await readdir(place, { withFileTypes: true })).flatMap(one => (one.isFile() && wanted.has(one.name) ? [one.name] : [])),
    remove: name => rm(join(place, name)),
  };
}

export const s3Target = (s3: S3): Target => ({
  put: (name, path) => s3.put(name, path),
  get: (name, path, bytesMax) => s3.get(name, path, bytesMax),
  list: wanted => s3.list(wanted),
  remove: name => s3.remove(name),
});

/** Removes all but the newest of these archives: they alone are ours, whatever else lies there. Their names begin with their times. */
export async function thinOut(target: Target, ours: ReadonlySet<string>, keep: number): Promise<void> {
  const there = (await target.list(ours)).sort();
  for (const name of there.slice(0, Math.max(0, there.length - keep))) await target.remove(name);
}
