/** Short programs of the server that the launcher calls: the first accounts, the demo. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sentenceCode } from '#server/store/start-error.ts';
import { StartError, signalGroup, spawnEngine } from '#server/store/engine-process.ts';
import { accountOfPart, handOver, takeBack } from './hand-over.ts';
import type { ChildEnv } from './parts.ts';
import { projectFolder } from './settings.ts';

export interface Seeded {
  /** Passwords are there at the first start only. */
  accounts: { email: string; password?: string }[];
  /** What the local node joins with, while it has not joined. */
  joinToken?: string;
  /** Number of the local node, where it is known already. */
  localNode?: number;
}

/** Whether the program exists in this tree. */
export const has = (file: string): boolean => existsSync(join(projectFolder, file));

/** Runs a program to its end and reads the JSON object of its last line of output. Its other lines go to `onLine`. Errors: StartError. */
export async function callProgram<T>(file: string, env: ChildEnv, onLine: (line: string) => void, limitMs = 120_000): Promise<T> {
  let output = '';
  let errors = '';
  const program = await spawnEngine({
    command: process.execPath,
    args: [join(projectFolder, file)],
    cwd: projectFolder,
    env: handOver('seed', env, env.BREAKWATER_DATA!),
    as: accountOfPart.seed,
    reaches: [join(projectFolder, file), join(env.BREAKWATER_DATA!, 'run')],
    onLine: (line, stream) => (stream === 'stdout' ? (output += `${line}\n`) : (errors += `${line}\n`)),
  });
  const timer = setTimeout(() => signalGroup(program.pid, 'SIGKILL'), limitMs);
  const { code } = await program.exited;
  clearTimeout(timer);
  takeBack('seed', env.BREAKWATER_DATA!);
  for (const line of errors.split('\n').filter(Boolean)) onLine(line);
  if (code === sentenceCode) throw new StartError(errors.trim().split('\n').at(-1)!);
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
