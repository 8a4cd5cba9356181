/**
 * Which life of the cache it is: a word in front of every cache key, so that another word empties the cache at once, however much it
 * holds. Kept in a file, or a restart would bring back what was cleared; '' until it is cleared for the first time.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readJson, writeWhole } from '#host/files.ts';
import type { Brief } from './control.ts';
import { giveUpCache } from './cache-room.ts';

const isName = (value: unknown): value is string => typeof value === 'string' && /^e[0-9a-f]{12}$/.test(value);

export class CacheAge {
  readonly #file: string;
  name: string;

  constructor(data: string) {
    this.#file = join(data, 'cache-age.json');
    this.name = readJson(this.#file, isName) ?? '';
  }

  /** Another one, which never was before. @throws while the disk takes nothing */
  next(): void {
    const next = `e${randomBytes(6).toString('hex')}`;
    writeWhole(this.#file, JSON.stringify(next));
    this.name = next;
  }
}

/** Every file of the cache; what is stored meanwhile may go along, which is a miss more. @returns how many there were */
export const deleteCache = (folder: string): Promise<number> => giveUpCache(folder, () => false);

const knownMs = 60_000;

/** Waits until the workers that take visitors know this age; an nginx that is not up will. @throws when they do not get to know it */
export async function isKnown(name: string, nginx: { alive: boolean; control: { brief(): Promise<Brief> } }): Promise<void> {
  for (const end = performance.now() + knownMs; nginx.alive; await new Promise(next => setTimeout(next, 20))) {
    const said = await nginx.control.brief().catch(() => undefined);
    if (said?.cacheAge === name) return;
    if (performance.now() > end) throw new Error('nginx goes on with the cache it has');
  }
}
