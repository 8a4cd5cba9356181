/**
 * Where addresses are: one MMDB of ours, made of the packages' data and of what the owner uploaded, in the data folder. Several processes may
 * share it: `current.json` says which file counts, and each looks whether that is another one. What an owner uploads counts once all was
 * made of it; until then, and where nothing can be, the one before goes on.
 */
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { geoLimits } from '#contract/limits.ts';
import { readJson, writeWhole } from '#host/files.ts';
import type { GeoIndex, GeoSource, GeoState, GeoStore, GeoTaken } from '../../kit/services.ts';
import { logger } from '../../log.ts';
import type { BuildOrder, Built } from './build-order.ts';
import { Places } from './places.ts';
import { packaged } from './sources.ts';

/** Another one: what is made of the same data is something else. */
const form = 1;
const checkMs = 1000;

interface Current extends Omit<Built, 'own'> {
  /** without its ending */
  name: string;
  /** of what it was made */
  mark: string;
  /** milliseconds since 1970 */
  builtAt: number;
  /** files of the owner */
  own: { name: string; layers: GeoSource['layer'][] }[];
}
export class GeoFileRefused extends Error {
  override name = 'GeoFileRefused';
}

const isCurrent = (value: unknown): value is Current => {
  const { name, mark, own, sources } = (value ?? {}) as Partial<Current>;
  return (
    typeof name === 'string' &&
    /^places-[0-9a-f]+$/.test(name) &&
    typeof mark === 'string' &&
    Array.isArray(own) &&
    Array.isArray(sources)
  );
};

export class GeoData implements GeoStore {
  readonly #folder: string;
  readonly #hasPackages: boolean;
  #places: Places | undefined;
  #lookedAt = -Infinity;
  #seen = '';
  #loading: Promise<void> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #building = 0;
  #problem: string | null = null;
  #children = new Set<ReturnType<typeof spawn>>();

  /** `hasPackages` false: what comes with the program does not count */
  constructor(folder: string, { hasPackages = true } = {}) {
    this.#folder = folder;
    this.#hasPackages = hasPackages;
  }

  /** Makes the file where it is missing or old; nobody waits for it. */
  start(): void {
    void this.ready().catch((error: unknown) => logger.error({ err: error }, 'data of where addresses are could not be made'));
  }
  /** @throws when they cannot be made */
  async ready(): Promise<void> {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const now = this.#current();
    const own = (now?.own ?? []).filter(one => existsSync(join(this.#folder, one.name)));
    if (now?.mark === markOf(own) && existsSync(`${join(this.#folder, now.name)}.mmdb`)) return;
    try {
      (await this.#made(own)).count();
    } catch (error) {
      // a file that was read once, and is not any more, keeps the others from nobody
      if (own.length) (await this.#made([])).count();
      if (!own.length) throw error;
      this.#problem = `an uploaded file cannot be read any more: ${(error as Error).message}`;
    }
  }
  stop(): void {
    for (const child of this.#children) child.kill('SIGKILL');
  }

  get state(): GeoState {
    const now = this.#current();
    return {
      isBuilding: this.#building > 0,
      current: now && {
        builtAt: now.builtAt,
        networks: now.networks,
        sources: now.sources,
        own: now.own.map(({ name, layers }) => ({ file: name, layers })),
      },
      problem: this.#problem,
    };
  }

  /** Undefined: there are none yet. */
  async places(): Promise<Places | undefined> {
    if (performance.now() - this.#lookedAt > checkMs)
      await (this.#loading ??= this.#load().finally(() => (this.#loading = undefined)));
    return this.#places;
  }

  /** An MMDB of the owner's, in place of what says the same. @throws GeoFileRefused */
  async take(bytes: Uint8Array): Promise<GeoTaken> {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const name = `own-${createHash('sha256').update(bytes).digest('hex').slice(0, 32)}.mmdb`;
    const path = join(this.#folder, name);
    const isKnown = existsSync(path);
    if (!isKnown) writeWhole(path, bytes);
    const forget = () => {
      if (!this.#current()?.own.some(one => one.name === name)) rmSync(path, { force: true });
    };
    try {
      const before = this.#current()?.own ?? [];
      const made = await this.#made([{ name, layers: [] }, ...before.filter(one => one.name !== name)]);
      return { count: made.count, forget: () => (made.forget(), forget()) };
    } catch (error) {
      forget();
      throw error;
    }
  }
  /** Without any of the owner's. */
  drop(): Promise<GeoTaken> {
    return this.#made([]);
  }

  #current(): Current | undefined {
    return readJson(join(this.#folder, 'current.json'), isCurrent);
  }

  async #load(): Promise<void> {
    this.#lookedAt = performance.now();
    let seen: string;
    try {
      const { mtimeMs, ino } = statSync(join(this.#folder, 'current.json'));
      seen = `${mtimeMs} ${ino}`;
    } catch {
      return;
    }
    if (seen === this.#seen) return;
    const now = this.#current();
    if (!now) return;
    const path = join(this.#folder, now.name);
    try {
      this.#places = new Places(
        now.name,
        `${path}.mmdb`,
        await readFile(`${path}.mmdb`),
        () =>
          // build.ts wrote it
          JSON.parse(readFileSync(`${path}.json`, 'utf8')) as GeoIndex,
      );
      this.#seen = seen;
    } catch (error) {
      // replaced just now, perhaps: it is looked at again
      this.#problem = (error as Error).message;
    }
  }

  /** One at a time: each takes a core and memory for a while. */
  #made(own: Current['own']): Promise<GeoTaken> {
    const turn = this.#last.then(() => this.#make(own));
    this.#last = turn.catch(() => {});
    return turn;
  }
  async #make(own: Current['own']): Promise<GeoTaken> {
    const name = `places-${randomBytes(8).toString('hex')}`;
    const out = join(this.#folder, name);
    const forget = () => ['mmdb', 'json'].forEach(end => rmSync(`${out}.${end}`, { force: true }));
    this.#building++;
    try {
      const built = await this.#run({ out, own: own.map(one => join(this.#folder, one.name)), hasPackages: this.#hasPackages });
      // one that another says all of is of no use
      const said = new Set<GeoSource['layer']>();
      const used = own.flatMap((one, index) => {
        const layers = built.own[index]!.filter(layer => !said.has(layer));
        for (const layer of layers) said.add(layer);
        return layers.length ? [{ name: one.name, layers }] : [];
      });
      const { sources, networks } = built;
      const current: Current = { name, mark: markOf(used), builtAt: Date.now(), own: used, sources, networks };
      return { count: () => this.#count(current), forget };
    } catch (error) {
      forget();
      throw error;
    } finally {
      this.#building--;
    }
  }
  #count(current: Current): void {
    // what counted meanwhile has taken away what nobody counted
    const files = [`${current.name}.mmdb`, `${current.name}.json`, ...current.own.map(one => one.name)];
    if (!files.every(file => existsSync(join(this.#folder, file)))) throw new GeoFileRefused('other data came in between');
    writeWhole(join(this.#folder, 'current.json'), JSON.stringify(current));
    this.#lookedAt = -Infinity;
    this.#problem = null;
    const kept = [current.name, ...current.own.map(one => one.name.replace(/\.mmdb$/, ''))];
    for (const file of readdirSync(this.#folder))
      if (/^(?:places|own)-/.test(file) && !kept.some(name => file.startsWith(`${name}.`)))
        rmSync(join(this.#folder, file), { force: true });
  }

  async #run(order: BuildOrder): Promise<Built> {
    const child = spawn(
      process.execPath,
      [`--max-old-space-size=${geoLimits.buildMemoryMB}`, join(import.meta.dirname, 'build.ts'), JSON.stringify(order)],
      { stdio: ['ignore', 'pipe', 'pipe'], env: {}, timeout: geoLimits.buildSeconds * 1000, killSignal: 'SIGKILL' },
    );
    this.#children.add(child);
    // nobody waits for it: whoever has work to do goes first
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
    const ended = new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', resolve);
    });
    try {
      const [said, complaint, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
      if (code !== 0) {
        logger.warn({ code, complaint: complaint.slice(-2000) }, 'data of where addresses are: the builder failed');
        throw new GeoFileRefused('it takes too long or too much to read');
      }
      // build.ts writes one of these
      const answer = JSON.parse(said) as Built | { bad: string };
      if ('bad' in answer) throw new GeoFileRefused(answer.bad);
      return answer;
    } finally {
      this.#children.delete(child);
    }
  }
}

const markOf = (own: Current['own']) =>
  createHash('sha256')
    .update(JSON.stringify([form, packaged().map(one => [one.source.name, one.source.version]), own.map(one => one.name)]))
    .digest('hex')
    .slice(0, 16);
