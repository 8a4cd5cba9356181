/**
 * A data folder of `npm start -- --demo`, ended in order: whoever starts on a copy has the demo without making its database, its keys and its
 * rows once more, which is half of what a start costs. Made once a run (bin/test.ts), which names it as TEST_DEMO.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { poll } from '#server/store/engine-process.ts';
import { testFolder } from './engines.ts';
import { Whole } from './whole.ts';

/** @returns the folder; it goes with this process */
export async function makeDemoFolder(): Promise<string> {
  const folder = join(testFolder('demo'), 'data');
  const whole = await Whole.start(['--demo'], folder);
  // Data of where addresses are come after it is ready. Their builder lets everybody else go first, and the machine of a run has always
  // something to do: six seconds of CPU took more than the three minutes that it has. Here it waits for nobody.
  const hasPlaces = await poll(
    () => {
      for (const pid of whole.pids(/resolution\/geo\/build\.ts/)) hurry(pid);
      return existsSync(join(folder, 'geo/current.json'));
    },
    200_000,
    250,
  );
  const code = await whole.stop();
  if (!hasPlaces) console.log('the demo has no data of places yet: each copy makes its own');
  if (code !== 0) throw new Error(`the demo ended with ${code}:\n${whole.output}`);
  // ports that it chose: each copy has its own
  rmSync(join(folder, 'run'), { recursive: true });
  rmSync(join(folder, 'logs'), { recursive: true });
  return folder;
}

/** Of each of its threads: they have priorities of their own. */
function hurry(pid: number): void {
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), constants.priority.PRIORITY_NORMAL);
  } catch {
    // it has ended, or we are not allowed to
  }
}

/** Puts a copy of it there, where a run has one. */
export function copyDemoFolder(to: string): void {
  const from = process.env.TEST_DEMO;
  if (from) execFileSync('cp', ['-a', '--reflink=auto', from, to]);
}
