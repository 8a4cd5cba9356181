/**
 * Files of lines of the embedded name server. They may be large, and who writes them has everybody's names to look after: they are made
 * piece by piece beside everything else, nothing of them is kept in memory, and what stands there as it was read is not written again.
 */
import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { writeLarge } from '#host/files.ts';
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

const writePieces = (path: string, pieces: Iterable<string>): Promise<void> =>
  writeLarge(
    path,
    async file => {
      let text = '';
      for (const piece of pieces) {
        text += piece;
        if (text.length < bytesAtOnce) continue;
        await file.writeFile(text);
        text = '';
        await setImmediate();
      }
      await file.writeFile(text);
    },
    { mode },
  );

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

  /**
   * The data that lines by place go by stand beside them; also where what stands there was cut. `isAnew`: also where it looks as it should. The
   * one before stays until the new one is whole: a name server that begins in between would answer nobody's lines.
   */
  async copy(data: GeoPlaces, isAnew = false): Promise<string> {
    const path = this.data(data);
    if (!isAnew && sizeOf(path) === sizeOf(data.path)) return path;
    // made here, so that it has the folder's group
    await writeLarge(path, file => file.writeFile(createReadStream(data.path)), { mode });
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
