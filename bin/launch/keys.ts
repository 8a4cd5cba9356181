/** The secrets an installation lives by: made once, checked at each start, and never replaced behind anybody's back. */
import { randomBytes } from 'node:crypto';
import { constants, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fromSeed } from '@nats-io/nkeys';
import { readJson, writeWhole } from '#host/files.ts';
import { StartError } from '#server/store/engine-process.ts';
import type { Settings } from './settings.ts';

/** Random bytes in a file of their own, made anew when they are missing or cut: for what only our own parts use among themselves. */
export function bytesFile(path: string, bytes: number): Buffer {
  const kept = existsSync(path) ? readFileSync(path) : undefined;
  if (kept?.length === bytes) return kept;
  const made = randomBytes(bytes);
  writeWhole(path, made);
  return made;
}

/** `secret.key`: with another one, what is stored encrypted could not be read. Errors: StartError. */
export function installationKey({ dataFolder, databaseUrl }: Settings): void {
  const path = join(dataFolder, 'secret.key');
  const restore = 'what is stored encrypted can be read with it alone: restore it from the backup of the data folder.';
  if (existsSync(path)) {
    if (readFileSync(path).length !== 32) throw new StartError(`${path} must hold exactly 32 bytes, and ${restore}`);
  } else if (!databaseUrl && existsSync(join(dataFolder, 'postgres'))) {
    throw new StartError(`${path} is missing, and ${restore}`);
  } else writeWhole(path, randomBytes(32));
}

/** Parts that run as users of their own must be able to read the programs; a strict umask at `git clone` forbids it. Errors: StartError. */
export function checkPrograms(folder: string): void {
  if (process.getuid?.() !== 0) return;
  for (const name of ['', 'package.json', 'node_modules', 'server/src', 'server/src/main.ts', 'agent/src/main.ts', 'edge/lua']) {
    const { mode } = statSync(join(folder, name));
    const needed = (mode & constants.S_IFMT) === constants.S_IFDIR ? 0o001 : 0o004;
    if ((mode & needed) === 0)
      throw new StartError(
        `${join(folder, name)} may be read by its owner alone, and Breakwater's parts run as users of their own: run \`chmod -R go+rX ${folder}\`, or start as another user than root.`,
      );
  }
}

/** The keys of the bus; every node has joined on their word. Answers whether they are yet to be made. Errors: StartError. */
export function checkBusKeys(folder: string): boolean {
  const path = join(folder, 'keys.json');
  const ways = `restore it from the backup of the data folder, or remove the folder ${folder}: then there are new keys, and every node of another machine joins again.`;
  // what is signed with them is signed anew at each start
  for (const name of ['server.creds', 'system.creds']) rmSync(join(folder, name), { force: true });
  if (existsSync(path)) {
    if (!readJson(path, areKeys)) throw new StartError(`${path} is damaged: ${ways}`);
    return false;
  }
  if (existsSync(join(folder, 'work'))) throw new StartError(`${path} is missing: ${ways}`);
  return true;
}

/** An object of texts whose seeds are whole (they carry a checksum). */
function areKeys(value: unknown): value is Record<string, string> {
  if (typeof value !== 'object' || value === null || !('operatorSeed' in value)) return false;
  return Object.values(value).every(text => {
    if (typeof text !== 'string' || text === '') return false;
    if (!/^S[A-Z2-7]{57}$/.test(text)) return true;
    try {
      fromSeed(new TextEncoder().encode(text)).getPublicKey();
      return true;
    } catch {
      return false;
    }
  });
}
