/** One process per folder: whoever works in a folder locks it, and the kernel takes the lock back when that process ends in whatever way. */
import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';

export interface FolderLock {
  /** why the file system has no locks: then this guards nothing */
  missing?: string;
  release(): void;
}

const conflict = 75;

/**
 * flock(2) of the folder itself, which whoever shares the folder meets, from another container as well. flock(1) locks what it is handed,
 * and what it is handed is ours: the lock stays when it ends, for as long as our descriptor is open. Nothing we start inherits that.
 *
 * @returns undefined: somebody else has it. @throws when the folder cannot be opened
 */
export const lockFolder = (folder: string): FolderLock | undefined =>
  lock(openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY));

/** The same with a file, which is made where there is none: nobody else can open it, and so hold it against us. */
export const lockFile = (path: string): FolderLock | undefined =>
  lock(openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600));

function lock(fd: number): FolderLock | undefined {
  const { status, error, stderr } = spawnSync('flock', ['--nonblock', '--conflict-exit-code', `${conflict}`, '3'], {
    stdio: ['ignore', 'ignore', 'pipe', fd],
    encoding: 'utf8',
  });
  if (status === conflict) {
    closeSync(fd);
    return undefined;
  }
  return {
    ...(status !== 0 && { missing: error?.message || stderr.trim() || 'flock said nothing' }),
    release: () => closeSync(fd),
  };
}
