/** What should be done at once, in a process of its own that is ended when it is not: a test that hangs tells nobody why. */
import { spawnSync } from 'node:child_process';

/** Far beyond what a busy machine takes; what is meant would take hours. */
const secondsMax = 120;

/** The last expression's value of a module's text, as JSON; rejects what does not come to an end. `#contract/…` can be imported. */
export function within(source: string): unknown {
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    [...process.execArgv.filter(arg => !arg.startsWith('--test')), '--input-type=module', '-e', source],
    { cwd: new URL('../..', import.meta.url), timeout: secondsMax * 1000, encoding: 'utf8', killSignal: 'SIGKILL' },
  );
  if (signal) throw new Error(`no end within ${secondsMax} s`);
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}
