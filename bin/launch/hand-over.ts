/**
 * What a part is told: plain settings in its environment; secrets as files that its user alone may read, `run/keys/<part>/<NAME>`. The
 * originals stay with whoever started Breakwater. The folders belong to him too: a part may read its secrets, not put others in their place.
 */
import { chmodSync, chownSync, lstatSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeWhole } from '#host/files.ts';
import { type PartAccount, accountOf } from '#server/store/accounts.ts';
import { type Environment, type Receiver, environmentFor, variables } from './environment.ts';

type Part = Exclude<Receiver, 'launcher'>;
export const accountOfPart: Record<Part, PartAccount> = {
  seed: 'server',
  server: 'server',
  ingest: 'ingest',
  store: 'store',
  agent: 'node',
};

/** The environment of a part that is about to start. `given` holds values of secrets and paths of files as the launcher knows them. */
export function handOver(part: Part, given: Environment, dataFolder: string): Environment {
  const env = environmentFor(part, given);
  const account = accountOf(accountOfPart[part]);
  const folder = ownFolder(join(dataFolder, 'run/keys', part), account);
  const kept = new Set<string>();
  for (const { name, secret, holds } of variables) {
    const value = env[name];
    if (value === undefined || !(secret || holds === 'path of a secret')) continue;
    const path = join(folder, name);
    writeWhole(path, secret ? value : readFileSync(value), { owner: account, durable: false });
    kept.add(name);
    if (secret) {
      delete env[name];
      env[`${name}_FILE`] = path;
    } else env[name] = path;
  }
  for (const name of readdirSync(folder)) if (!kept.has(name)) rmSync(join(folder, name), { recursive: true, force: true });
  return env;
}

/** For programs that have ended. */
export function takeBack(part: Part, dataFolder: string): void {
  rmSync(join(dataFolder, 'run/keys', part), { recursive: true, force: true });
}

function ownFolder(folder: string, account: { gid: number } | undefined): string {
  mkdirSync(folder, { recursive: true });
  chmodSync(dirname(folder), 0o711);
  if (!lstatSync(folder).isDirectory()) throw new Error(`${folder} is no folder`);
  if (account) chownSync(folder, 0, account.gid);
  chmodSync(folder, account ? 0o750 : 0o700);
  return folder;
}
