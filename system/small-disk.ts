/** A small file system for a test: what a full disk does is seen on a full disk. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

const mb = 1024 * 1024;

/** @param options of a tmpfs, e.g. `size=4m` @returns undefined, and the test is skipped, where nothing can be mounted */
export function smallDisk(t: TestContext, options: string) {
  const folder = mkdtempSync(join(tmpdir(), 'disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `mode=0711,${options}`, 'breakwater-test', folder], { stdio: 'pipe' });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    t.skip(`a small file system cannot be mounted here: ${(error as Error).message.split('\n').at(-2)}`);
    return undefined;
  }
  const ballast = join(folder, 'ballast');
  return {
    folder,
    /** Leaves so many bytes free. */
    fill(leave: number) {
      const { bavail, bsize } = statfsSync(folder);
      const file = openSync(ballast, 'a');
      for (let rest = bavail * bsize - leave; rest > 0;) rest -= writeSync(file, Buffer.alloc(Math.min(rest, mb)));
      closeSync(file);
    },
    empty: () => rmSync(ballast, { force: true }),
    /** Leaves so many inodes free. */
    fillInodes(leave: number) {
      for (let rest = Number(statfsSync(folder).ffree) - leave; rest > 0; rest--)
        writeFileSync(join(folder, `inode-${rest}`), '');
    },
    [Symbol.dispose]() {
      execFileSync('umount', ['-l', folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
