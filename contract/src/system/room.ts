/**
 * Room on a disk: one set of thresholds for the launcher, the doctor, the checks and the sizes of everything that grows. Pure: who
 * knows the disk gives its figures.
 */
import { fails, type Finding, warns, well } from './health.ts';

const MB = 1_000_000;
export const room = {
  /** below this nothing is started, and what runs says that it is full */
  leastBytes: 512 * MB,
  /** below this somebody is told */
  wantedBytes: 2000 * MB,
  /** the same for files (inodes): a disk with free bytes and without free inodes takes no new file */
  leastFiles: 1000,
  wantedFiles: 20_000,
} as const;

export interface Disk {
  freeBytes: number;
  totalBytes: number;
  /** inodes; undefined or 0: the file system makes them as it goes, or nobody asked */
  freeFiles?: number;
  totalFiles?: number;
}

/** What statfs(2) says. */
export const diskFrom = (said: { bavail: number; blocks: number; bsize: number; ffree: number; files: number }): Disk => ({
  freeBytes: said.bavail * said.bsize,
  totalBytes: said.blocks * said.bsize,
  freeFiles: said.ffree,
  totalFiles: said.files,
});

/** Small disks (a tablet of a few GB, a test) are full by share: a fixed threshold would never be met there. */
export const leastOf = ({ totalBytes }: Disk) => Math.min(room.leastBytes, Math.round(totalBytes * 0.1));
export const wantedOf = ({ totalBytes }: Disk) => Math.min(room.wantedBytes, Math.round(totalBytes * 0.2));

/** Inodes below which caching stops soon; and how many are freed of it then. */
export const leastFilesOf = ({ totalFiles = 0 }: Disk) => Math.min(room.leastFiles, Math.round(totalFiles * 0.05));
export const wantedFilesOf = ({ totalFiles = 0 }: Disk) => Math.min(room.wantedFiles, Math.round(totalFiles * 0.1));

/** The check `disk` of one folder. `key` tells folders of one process apart. */
export function diskFinding(folder: string, disk: Disk, key?: string): Finding {
  const params = {
    folder,
    freeMB: Math.floor(disk.freeBytes / MB),
    leastMB: Math.ceil(leastOf(disk) / MB),
    wantedMB: Math.ceil(wantedOf(disk) / MB),
  };
  const more = { value: disk.freeBytes, ...(key === undefined ? {} : { key }) };
  if (disk.freeBytes < leastOf(disk)) return fails('disk.full', params, more);
  const { freeFiles = 0 } = disk;
  if (freeFiles < leastFilesOf(disk)) return fails('disk.noFiles', { folder, freeFiles, leastFiles: leastFilesOf(disk) }, more);
  if (freeFiles < wantedFilesOf(disk)) return warns('disk.fewFiles', { folder, freeFiles, leastFiles: leastFilesOf(disk) }, more);
  if (disk.freeBytes < wantedOf(disk)) return warns('disk.low', params, more);
  return well('disk', disk.freeBytes, key);
}

const MiB = 2 ** 20;
const GiB = 2 ** 30;
const clamp = (least: number, value: number, most: number) => Math.round(Math.max(least, Math.min(value, most)));

/**
 * How large things may grow on a disk, from the room there is: what is free, and what the thing itself takes already. Together they
 * never take all of it. `logs` may be made smaller at any time: what the bus refuses waits on the nodes.
 */
export const sizes = {
  /** the stream LOGS */
  logStreamBytes: (disk: Disk, usedBytes = 0) => clamp(16 * MiB, (disk.freeBytes + usedBytes - leastOf(disk)) * 0.25, 4 * GiB),
  /** what JetStream may reserve. By the size of the disk, not by what is free: a restart on a full disk must find its streams again. */
  busStoreBytes: (disk: Disk) => clamp(GiB, disk.totalBytes * 0.75, 1024 * GiB),
  /** log files of a node that are not yet stored */
  nodeLogBytes: (disk: Disk, usedBytes = 0) => clamp(16 * MiB, (disk.freeBytes + usedBytes - leastOf(disk)) * 0.25, 4 * GiB),
  /** nginx's cache gives way when less than this is free */
  cacheLeavesFreeBytes: (disk: Disk) => leastOf(disk),
  /** files that nginx's cache may make; undefined: as many as its bytes allow. By the size of the disk, as those are. */
  cacheFiles: ({ totalFiles = 0 }: Disk) => (totalFiles > 0 ? Math.round(totalFiles * 0.7) : undefined),
} as const;
