/**
 * Keys of signed zones (DNSSEC) as the embedded name server keeps them (Knot's KASP): a database of which key signs what (LMDB), and the
 * keys. Whoever restores them signs as before, and what the zones above say stays true. Whoever has them signs in the zones' names, so they
 * go into encrypted archives alone.
 */
import { constants } from 'node:fs';
import { open, readdir, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { backupSaid } from '#contract/system/backup-problems.ts';

const folder = 'dns/db/keys';
const database = `${folder}/data.mdb`;
const keyName = /^[0-9a-f]{16,64}\.pem$/;
/** `kasp-db-max-size` of the name server, and what no key has. */
const bytesMost = { database: 50 << 20, key: 65_536 };
const readings = 50;
const tries = 5;

export interface SigningFile {
  /** in the data folder */
  place: string;
  bytes: Buffer;
}

/** By their places in the data folder; none is read: whoever leaves them out depends on nothing that the name server may do to them. */
export async function signingPlaces(dataFolder: string): Promise<string[]> {
  const names = await readdir(join(dataFolder, folder, 'keys')).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  return names
    .filter(name => keyName.test(name))
    .sort()
    .map(name => `${folder}/keys/${name}`);
}

/** Empty: no zone is signed. `meanwhile`: what tests do once the database is read. @throws Error where it is written all the while, or is none of the name server's */
export async function signingKeys(dataFolder: string, meanwhile = () => {}): Promise<SigningFile[]> {
  const root = await realpath(dataFolder);
  for (let left = tries; ; left--) {
    if (!(await signingPlaces(root)).length) return [];
    try {
      const files = [{ place: database, bytes: await settled(root, database) }];
      meanwhile();
      // looked for once the database is read: a key is there before that speaks of it
      for (const place of await signingPlaces(root)) files.push({ place, bytes: await read(root, place, bytesMost.key) });
      return files;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || left <= 1) throw error;
      // a zone went, and its key with it
      await sleep(100);
    }
  }
}

/** Twice the same: nothing was written while it was read. */
async function settled(root: string, place: string): Promise<Buffer> {
  let last = await read(root, place, bytesMost.database);
  for (let left = readings; left > 0; left--) {
    const now = await read(root, place, bytesMost.database);
    if (now.equals(last)) return now;
    last = now;
    await sleep(100);
  }
  throw new Error(backupSaid('changing', { place }));
}

/** The folder is the name server's, who is less than we are: what it leads elsewhere is not read. */
async function read(root: string, place: string, most: number): Promise<Buffer> {
  const file = await open(join(root, place), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const [facts, really] = await Promise.all([file.stat(), readlink(`/proc/self/fd/${file.fd}`)]);
    if (!facts.isFile() || facts.nlink !== 1 || really !== join(root, place) || facts.size > most)
      throw new Error(`${place} is no file of the name server's.`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}
