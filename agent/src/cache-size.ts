/**
 * How much lies in the cache. nginx alone knows, and does not say; so its folders are walked piece by piece, some with each look: a million
 * files take some minutes, and no look takes long.
 */
import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Files looked at in one step. */
const filesAtOnce = 256;
/** as `proxy_cache_path … levels=` has it, with a folder or two of nginx's own around */
const depthMost = 4;

export class CacheSize {
  readonly #folder: string;
  #left: { path: string; depth: number }[] = [];
  #now = { bytes: 0, files: 0 };
  #whole: { bytes: number; files: number } | undefined;
  #step: Promise<void> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** As of the last time it was walked to the end; nothing before the first. */
  found(): { cacheBytes?: number; cacheFiles?: number } {
    return this.#whole ? { cacheBytes: this.#whole.bytes, cacheFiles: this.#whole.files } : {};
  }

  /** Some more of it. Never throws: what goes while it is walked is not counted. */
  step(): Promise<void> {
    return (this.#step ??= this.#walk().finally(() => (this.#step = undefined)));
  }

  async #walk(): Promise<void> {
    if (!this.#left.length) {
      this.#left = [{ path: this.#folder, depth: 0 }];
      this.#now = { bytes: 0, files: 0 };
    }
    for (let looked = 0; this.#left.length && looked < filesAtOnce;) {
      const { path, depth } = this.#left.pop()!;
      const names: string[] = [];
      try {
        for await (const one of await opendir(path)) {
          looked++;
          if (one.isFile()) names.push(one.name);
          else if (one.isDirectory() && depth < depthMost) this.#left.push({ path: join(path, one.name), depth: depth + 1 });
        }
      } catch {
        continue;
      }
      for (const found of await Promise.all(names.map(name => stat(join(path, name)).catch(() => undefined))))
        if (found) {
          // what it takes of the disk
          this.#now.bytes += found.blocks * 512;
          this.#now.files++;
        }
    }
    if (!this.#left.length) this.#whole = this.#now;
  }
}
