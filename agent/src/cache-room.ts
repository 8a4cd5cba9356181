/** nginx's cache as room that can be given up: for what must be written on a full disk, and for inodes, which nginx does not count. */
import { readdir, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { type Disk, diskFrom, leastFilesOf, wantedFilesOf } from '#contract/system/room.ts';

/** What is being written has another name. */
const stored = /^[0-9a-f]{32}$/;
const folderName = /^[0-9a-f]{1,2}$/;

/**
 * Gives up folder after folder of the cache until there is enough room. Names are hashes, so it takes from all sites alike; a file that
 * is gone is a miss for nginx. @returns how many files went
 */
export async function giveUpCache(cache: string, isEnough: (disk: Disk) => boolean): Promise<number> {
  let gone = 0;
  for (const first of await foldersIn(cache))
    for (const second of await foldersIn(join(cache, first))) {
      if (isEnough(diskFrom(await statfs(cache)))) return gone;
      const folder = join(cache, first, second);
      for (const name of await readdir(folder).catch(() => [])) {
        if (!stored.test(name)) continue;
        await rm(join(folder, name), { force: true });
        gone++;
      }
    }
  return gone;
}

/** Never the same ones first: what is left after the last time is elsewhere. */
async function foldersIn(folder: string): Promise<string[]> {
  const names = (await readdir(folder).catch(() => [])).filter(name => folderName.test(name)).sort();
  const start = Math.floor(Math.random() * names.length);
  return [...names.slice(start), ...names.slice(0, start)];
}

/** Keeps inodes free on the cache's disk, whoever takes them. @returns how many files were given up */
export async function keepInodes(cache: string): Promise<number> {
  const disk = diskFrom(await statfs(cache));
  if ((disk.freeFiles ?? 0) >= leastFilesOf(disk)) return 0;
  return giveUpCache(cache, now => (now.freeFiles ?? 0) >= wantedFilesOf(now));
}
