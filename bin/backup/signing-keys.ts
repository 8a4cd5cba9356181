/**
 * Keys of signed zones (DNSSEC) as the embedded name server keeps them (Knot's KASP): a database of which key signs what (LMDB), and the
 * keys. Whoever restores them signs as before, and what the zones above say stays true. Whoever has them signs in the zones' names, so they
 * go into encrypted archives alone.
 */
import { createHash, createPublicKey } from 'node:crypto';
import { constants } from 'node:fs';
import { open, opendir, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { backupSaid } from '#contract/system/backup-problems.ts';

const folder = 'dns/db/keys';
const database = `${folder}/data.mdb`;
const keyName = /^[0-9a-f]{16,64}\.pem$/;
/** `kasp-db-max-size` of the name server; what no key has; and what no installation has of them. */
const bytesMost = { database: 50 << 20, key: 16_384, keys: 64 << 20 };
const keysMost = 20_000;
const readings = 50;

/** Whether a file in the data folder is one of them, by its place. */
export const isSigningPlace = (place: string): boolean =>
  place === database || (dirname(place) === `${folder}/keys` && keyName.test(basename(place)));

export interface SigningFile {
  /** in the data folder */
  place: string;
  bytes: Buffer;
}

/**
 * By their places in the data folder, so many at most; none is read: whoever leaves them out depends on nothing that the name server may do
 * to them.
 */
export async function signingPlaces(dataFolder: string, most = keysMost): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name } of await opendir(join(dataFolder, folder, 'keys'))) {
      if (keyName.test(name)) names.push(name);
      if (names.length >= most) break;
    }
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
  }
  return names.sort().map(name => `${folder}/keys/${name}`);
}

export interface SigningOptions {
  /** what is not among them, and why: the folder is the name server's, who keeps nobody's backup from being made */
  onLeft: (why: string) => void;
  /** what tests do once the database is read */
  meanwhile?: () => void;
  most?: number;
}
/** One after another, the database first. None: no zone is signed. */
export async function* signingKeys(
  dataFolder: string,
  { onLeft, meanwhile, most = keysMost }: SigningOptions,
): AsyncGenerator<SigningFile> {
  const root = await realpath(dataFolder);
  try {
    if (!(await signingPlaces(root, 1)).length) return;
    yield { place: database, bytes: await settled(root, database) };
  } catch (error) {
    return onLeft(`all of them: ${said(error)}`);
  }
  meanwhile?.();
  // looked for once the database is read: a key is there before that speaks of it
  const places = await signingPlaces(root, most + 1);
  if (places.length > most) onLeft(`all but ${most} of them: there are more than any installation has`);
  let left = 0;
  let bytes = 0;
  let why = '';
  for (const place of places.slice(0, most)) {
    try {
      const file = await read(root, place, Math.min(bytesMost.key, bytesMost.keys - bytes));
      bytes += file.length;
      yield { place, bytes: file };
    } catch (error) {
      // a zone went, and its key with it
      if (codeOf(error) === 'ENOENT') continue;
      left++;
      why ||= said(error);
    }
  }
  if (left) onLeft(`${left} of them: ${why}`);
}
/** Paths of this machine are nobody's business. */
const said = (error: unknown) => (codeOf(error) === undefined ? String(error) : `they cannot be read (${codeOf(error)})`);
const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code; // as node:fs rejects

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

/** What a DNSKEY says of a key (RFC 4034, 2.1): as all of them are, one that signs everything, ECDSA P-256 (RFC 6605). */
function keyData(pem: Buffer): Buffer {
  const { x = '', y = '' } = createPublicKey(pem).export({ format: 'jwk' });
  const point = Buffer.concat([Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  if (point.length !== 64) throw new Error('It is no key of ECDSA P-256.');
  return Buffer.concat([Buffer.from([1, 1, 3, 13]), point]);
}
/** RFC 4034, appendix B. */
function tagOf(data: Buffer): number {
  let sum = 0;
  for (const [at, byte] of data.entries()) sum += at & 1 ? byte : byte << 8;
  return (sum + (sum >>> 16)) & 0xffff;
}
const wireOf = (name: string) =>
  Buffer.concat([
    ...name.split('.').map(label => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1')),
    Buffer.alloc(1),
  ]);

/** A zone, and what the world above it knows of its key: `ZONE. TTL IN DS TAG ALGORITHM TYPE DIGEST`. */
export interface SignedZone {
  name: string;
  ds: readonly string[];
}
/** Zones of whose DS none of the keys in the folder is, whosever those are. Where one cannot be read nobody knows, and none is named. */
export async function keylessZones(dataFolder: string, zones: readonly SignedZone[]): Promise<string[]> {
  if (!zones.length) return [];
  const root = await realpath(dataFolder);
  const keys = new Map<number, Buffer[]>();
  try {
    for (const place of await signingPlaces(root)) {
      const data = keyData(await read(root, place, bytesMost.key));
      keys.set(tagOf(data), [...(keys.get(tagOf(data)) ?? []), data]);
    }
  } catch {
    return [];
  }
  const isHere = ({ name, ds }: SignedZone) =>
    ds.some(one => {
      const [tag, , type, digest] = one.split(' ').slice(-4);
      // another digest than is asked for here
      if (type !== '2') return true;
      return (keys.get(Number(tag)) ?? []).some(
        data => createHash('sha256').update(wireOf(name)).update(data).digest('hex').toUpperCase() === digest?.toUpperCase(),
      );
    });
  return zones.filter(one => !isHere(one)).map(one => one.name);
}
