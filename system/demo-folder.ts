/**
 * A data folder of `npm start -- --demo`, ended in order: whoever starts on a copy has the demo without making its database, its keys and its
 * rows once more, which is half of what a start costs. Made once a run (bin/test.ts), which names it as TEST_DEMO.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { poll } from '#server/store/engine-process.ts';
import { testFolder } from './engines.ts';
import { Whole } from './whole.ts';

/** @returns the folder; it goes with this process */
export async function makeDemoFolder(): Promise<string> {
  const folder = join(testFolder('demo'), 'data');
  const whole = await Whole.start(['--demo'], folder);
  // data of where addresses are come after it is ready
  if (!(await poll(() => existsSync(join(folder, 'geo/current.json')), 120_000, 100)))
    throw new Error(`no data of places:\n${whole.output}`);
  const code = await whole.stop();
  if (code !== 0) throw new Error(`the demo ended with ${code}:\n${whole.output}`);
  // ports that it chose: each copy has its own
  rmSync(join(folder, 'run'), { recursive: true });
  rmSync(join(folder, 'logs'), { recursive: true });
  return folder;
}

/** Puts a copy of it there, where a run has one. */
export function copyDemoFolder(to: string): void {
  const from = process.env.TEST_DEMO;
  if (from) execFileSync('cp', ['-a', '--reflink=auto', from, to]);
}
