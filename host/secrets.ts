/**
 * Secrets travel between processes as files, never in an environment or on a command line, which `ps` and /proc show: where a variable
 * NAME holds a secret, NAME_FILE may name a file that holds it instead.
 */
import { readFileSync } from 'node:fs';

/** The value of a variable, or of the file its companion names. @throws a sentence, when that file cannot be read */
export function settingOf(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const file = env[`${name}_FILE`];
  if (!file) return env[name] || undefined;
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch (error) {
    throw new Error(`${name}_FILE: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`, { cause: error });
  }
}
