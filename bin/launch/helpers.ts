/** Short programs of the server that the launcher calls: the first accounts, the demo. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '#server/store/engine-process.ts';
import { environmentFor } from './environment.ts';
import type { ChildEnv } from './parts.ts';
import { projectFolder } from './settings.ts';

export interface Seeded {
  /** Passwords are there at the first start only. */
  accounts: { email: string; password?: string }[];
  /** What the local node joins with, while it has not joined. */
  joinToken?: string;
}

/** Whether the program exists in this tree. */
export const has = (file: string): boolean => existsSync(join(projectFolder, file));

/** Runs a program to its end and reads the JSON object of its last line of output. Its other lines go to `onLine`. Errors: StartError. */
export async function callProgram<T>(file: string, env: ChildEnv, onLine: (line: string) => void, limitMs = 120_000): Promise<T> {
  const child = spawn(process.execPath, [join(projectFolder, file)], {
    cwd: projectFolder,
    env: environmentFor('seed', env),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limitMs,
    killSignal: 'SIGKILL',
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const code = await new Promise<number | null>((done, fail) => {
    child.once('error', fail);
    child.once('close', done);
  });
  for (const line of errors.split('\n').filter(Boolean)) onLine(line);
  if (code !== 0) {
    const said =
      errors
        .split('\n')
        .filter(line => /error/i.test(line))
        .at(0) ?? errors.trim().split('\n').at(-1);
    throw new StartError(`${file} failed: ${said?.trim() || `it ended with code ${code}`}`);
  }
  const last = output.trim().split('\n').at(-1) ?? '';
  try {
    return JSON.parse(last) as T;
  } catch {
    throw new StartError(`${file} did not end with a line of JSON.`);
  }
}
