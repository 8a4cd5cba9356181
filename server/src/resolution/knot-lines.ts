/**
 * Files of lines of the embedded name server. They may be large, and who writes them has everybody's names to look after: they are made
 * piece by piece beside everything else, nothing of them is kept in memory, and what stands there as it was read is not written again.
 */
import { createHash, randomBytes } from 'node:crypto';
import { constants, createReadStream, readdirSync, rmSync, statSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { GeoPlaces } from '../kit/services.ts';
import type { GroupAnswer, NameZone } from './driver.ts';
import { linePieces, placePieces } from './knot-files.ts';
import { sizeOf } from './knot-said.ts';

/** Written at once; making it takes a millisecond or two. */
const bytesAtOnce = 65_536;
const mode = 0o640;

/** The same file, as it was. */
function looks(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.ino} ${found.size} ${found.mtimeMs}`;
}

/** Beside it, then in its place. */
async function writePieces(path: string, pieces: Iterable<string>): Promise<void> {
  const fresh = `${path}.${randomBytes(6).toString('hex')}.new`;
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  try {
    const file = await open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      let text = '';
      for (const piece of pieces) {
        text += piece;
        if (text.length < bytesAtOnce) continue;
        await file.writeFile(text);
        text = '';
        await setImmediate();
      }
      await file.writeFile(text);
      await file.chmod(mode);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}

export class LineFiles {
  readonly #dir: string;
  /** zone → what its files were made of, and how they looked when the name server read them */
  readonly #read = new Map<number, { of: string; looks: string }>();

  constructor(dir: string) {
    this.#dir = dir;
  }

  lines = ({ id }: Pick<NameZone, 'id'>): string => join(this.#dir, `${id}.geo`);
  places = ({ id }: Pick<NameZone, 'id'>): string => join(this.#dir, `${id}.places`);
  data = ({ name }: GeoPlaces): string => join(this.#dir, `${name}.mmdb`);
  #looks = (zone: NameZone): string => `${looks(this.lines(zone))} ${looks(this.places(zone))}`;

  /** It is known how its files were read, and they are still so. */
  isRead(zone: NameZone): boolean {
    return this.#read.get(zone.id)?.looks === this.#looks(zone);
  }
  /** One that was read, and is another now: cut, put aside, or changed by hand. */
  isDamaged(zone: NameZone): boolean {
    return this.#read.has(zone.id) && !this.isRead(zone);
  }
  forget(zone?: NameZone): void {
    if (zone) this.#read.delete(zone.id);
    else this.#read.clear();
  }

  /** @returns what says that the name server has read it; undefined: it has, and nothing was written */
  async write(
    zone: NameZone,
    groups: readonly GroupAnswer[],
    data: GeoPlaces | undefined,
    isWanted = false,
  ): Promise<(() => void) | undefined> {
    const of = createHash('sha256')
      .update(JSON.stringify([zone.name, data?.name, groups]))
      .digest('base64');
    if (!isWanted && this.#read.get(zone.id)?.of === of && this.isRead(zone)) return undefined;
    this.#read.delete(zone.id);
    await writePieces(this.lines(zone), linePieces(zone.name, groups, data?.index));
    if (data) await writePieces(this.places(zone), placePieces(zone.name, groups, data.index));
    else rmSync(this.places(zone), { force: true });
    // as it was written: whoever changes it before it is read is found out
    const written = this.#looks(zone);
    return () => this.#read.set(zone.id, { of, looks: written });
  }

  /** The data that lines by place go by stand beside them; also where what stands there was cut. */
  async copy(data: GeoPlaces): Promise<string> {
    const path = this.data(data);
    if (sizeOf(path) === sizeOf(data.path)) return path;
    const fresh = `${path}.${randomBytes(6).toString('hex')}.new`;
    try {
      // made here, so that it has the folder's group
      const file = await open(fresh, 'wx', 0o600);
      try {
        await file.writeFile(createReadStream(data.path));
        await file.chmod(mode);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(fresh, path);
    } catch (error) {
      await rm(fresh, { force: true });
      throw error;
    }
    return path;
  }

  /** What is none of these zones' goes, and what was never written to its end; nobody writes meanwhile. */
  clean(zones: readonly NameZone[], data: GeoPlaces | undefined): void {
    const kept = new Set([...zones.flatMap(zone => [this.lines(zone), this.places(zone)]), ...(data ? [this.data(data)] : [])]);
    for (const name of readdirSync(this.#dir)) {
      const path = join(this.#dir, name);
      const isHalf = /\.(?:geo|places|mmdb)\.[0-9a-f]{12}\.new$/.test(name);
      if (isHalf || (/\.(?:geo|places|mmdb)$/.test(name) && !kept.has(path))) rmSync(path, { force: true });
    }
  }
}
