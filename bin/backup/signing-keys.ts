/**
 * Keys of signed zones (DNSSEC) as the embedded name server keeps them (Knot's KASP): a database of which key signs what (LMDB), and the
 * keys. Whoever restores them signs as before, and what the zones above say stays true. Whoever has them signs in the zones' names, so they
 * go into encrypted archives alone.
 */
import { constants } from 'node:fs';
import { open, readdir, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const folder = 'dns/db/keys';
const database = `${folder}/data.mdb`;
const keyName = /^[0-9a-f]{16,64}\.pem$/;
const bytesMost = 50_000_000;
const readings = 50;

export interface SigningFile {
  /** in the data folder */
  place: string;
  bytes: Buffer;
}

/** Empty: no zone is signed. @throws Error where it is written all the while, or is none of the name server's */
export async function signingKeys(dataFolder: string): Promise<SigningFile[]> {
  const root = await realpath(dataFolder);
  const names = await readdir(join(root, folder, 'keys')).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  const places = names.filter(name => keyName.test(name)).map(name => `${folder}/keys/${name}`);
  if (!places.length) return [];
  // before the keys: a key is there before the database speaks of it
  const files = [{ place: database, bytes: await settled(root, database) }];
  for (const place of places.sort()) files.push({ place, bytes: await read(root, place) });
  return files;
}

/** Twice the same: nothing was written while it was read. */
async function settled(root: string, place: string): Promise<Buffer> {
  let last = await read(root, place);
  for (let left = readings; left > 0; left--) {
    const now = await read(root, place);
    if (now.equals(last)) return now;
    last = now;
    await sleep(100);
  }
  throw new Error(`${place} changes all the while: try again later.`);
}

/** The folder is the name server's, who is less than we are: what it leads elsewhere is not read. */
async function read(root: string, place: string): Promise<Buffer> {
  const file = await open(join(root, place), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const [facts, really] = await Promise.all([file.stat(), readlink(`/proc/self/fd/${file.fd}`)]);
    if (!facts.isFile() || facts.nlink !== 1 || really !== join(root, place) || facts.size > bytesMost)
      throw new Error(`${place} is no file of the name server's.`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}
