/**
 * Where addresses are: one MMDB of ours, made of the packages' data and of what the owner uploaded, in the data folder. Several processes may
 * share it: `current.json` (current.ts) says which file counts, and each looks whether that is another one. What an owner uploads counts once all was
 * made of it; until then, and where nothing can be, the one before goes on.
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeLarge } from '#host/files.ts';
import type { GeoHold, GeoIndex, GeoOwn, GeoSource, GeoState, GeoStore, GeoTaken } from '../../kit/services.ts';
import { logger } from '../../log.ts';
import { Builder, BuilderFailed, GeoFileRefused } from './builder.ts';
import { Counting, type Current, ownOf } from './current.ts';
import { Places } from './places.ts';
import { packaged, sentTo } from './sources.ts';

/** Another one: what is made of the same data is something else. */
const form = 1;
const checkMs = 1000;
/** One that cannot be read is read again so much later: it is large. */
const unreadMs = 10_000;
/** A builder that failed for want of time or memory may not next time. */
const retryMs = 600_000;

export { GeoFileRefused };
/** The file that an owner's becomes, by its SHA-256 in hexadecimal digits. */
export const ownNameOf = (sha256: string) => `own-${sha256.slice(0, 32)}.mmdb`;

export interface GeoDataOptions {
  hasPackages?: boolean;
  counted?: () => Promise<readonly GeoOwn[] | undefined>;
}

export class GeoData implements GeoStore {
  readonly #folder: string;
  readonly #hasPackages: boolean;
  readonly #counted: NonNullable<GeoDataOptions['counted']>;
  readonly #counting: Counting;
  #places: Places | undefined;
  #lookedAt = -Infinity;
  #seen = '';
  #loading: Promise<void> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #building = 0;
  #problem: string | null = null;
  #unread: string | null = null;
  #isTaking = false;
  #isStopped = false;
  #retry: NodeJS.Timeout | undefined;
  readonly #builder = new Builder();

  /** `hasPackages` false: what comes with the program does not count; `counted`: files of the owner that count, by the rows */
  constructor(folder: string, { hasPackages = true, counted }: GeoDataOptions = {}) {
    this.#folder = folder;
    this.#hasPackages = hasPackages;
    this.#counted = counted ?? (() => Promise.resolve(undefined));
    this.#counting = new Counting(folder);
  }

  /** Makes the file where it is missing or old; nobody waits for it. */
  start(): void {
    void this.ready()
      .catch((error: unknown) => {
        logger.error({ err: error }, 'data of where addresses are could not be made');
        return false;
      })
      .then(isDone => {
        if (!isDone) this.#startLater();
      });
  }
  #startLater(): void {
    if (this.#isStopped) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.start(), retryMs);
    this.#retry.unref();
  }
  /** False: they are there, but not all that should count does yet. @throws when they cannot be made */
  async ready(): Promise<boolean> {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    return this.#inTurn(async () => {
      // nobody who can say is no reason to begin without data
      const counted = await this.#counted().catch(() => undefined);
      if (counted) this.#counting.settle(counted, false);
      const now = this.#current();
      const waiting = now?.waiting ?? [];
      const isThere = ({ name }: Current['own'][number]) => existsSync(join(this.#folder, name));
      // what says which files count can be lost alone: then those count that did, or of which nobody knows that they did not
      const sent = counted?.map(({ file, layers }) => ({ name: file, layers })) ?? sentTo(this.#folder);
      const own = (now ? [...now.own, ...waiting] : sent).filter(isThere);
      const hasGood = await this.#isReadable(now);
      if (hasGood && now?.mark === markOf(own)) return true;
      try {
        await this.#remake(own, now);
        return true;
      } catch (error) {
        if (!own.length || this.#isStopped) throw error;
        const failed = error instanceof BuilderFailed ? error : await this.#remakeReadable(own, now, error);
        if (!failed) return true;
        // the one before goes on, or what there is without the owner's, whose files stay: they are tried again
        if (!hasGood) await this.#remake([], now, own);
        this.#problem = failed.message;
        return false;
      }
    });
  }
  /** A file that was read once, and is not any more, keeps the others from nobody. @returns why nobody knows which it is */
  async #remakeReadable(own: Current['own'], now: Current | undefined, error: unknown): Promise<BuilderFailed | undefined> {
    try {
      await this.#remake(await this.#readable(own), now);
      this.#problem = `an uploaded file cannot be read any more: ${error instanceof Error ? error.message : ''}`;
      return undefined;
    } catch (failed) {
      if (failed instanceof BuilderFailed) return failed;
      throw failed;
    }
  }
  /** Each by itself. */
  async #readable(own: Current['own']): Promise<Current['own']> {
    const good: Current['own'] = [];
    for (const one of own.length > 1 ? own : []) {
      const made = await this.#make([one]).catch((error: unknown) => {
        if (error instanceof BuilderFailed) throw error;
        return undefined;
      });
      made?.forget();
      if (made) good.push(one);
    }
    return good;
  }
  async #remake(own: Current['own'], before: Current | undefined, waiting: Current['own'] = []): Promise<void> {
    const made = await this.#make(own, waiting);
    // another process may have made the same meanwhile, or taken a file
    if (this.#current()?.name === before?.name) made.count();
    else made.forget();
  }
  /** Both files of it, as they were written. */
  async #isReadable(now: Current | undefined): Promise<boolean> {
    if (!now) return false;
    this.#lookedAt = -Infinity;
    if ((await this.places())?.name !== now.name) return false;
    try {
      JSON.parse(await readFile(`${join(this.#folder, now.name)}.json`, 'utf8'));
      return true;
    } catch {
      return false;
    }
  }
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#retry);
    this.#builder.stop();
  }

  get state(): GeoState {
    const now = this.#current();
    return {
      isBuilding: this.#building > 0,
      current: now && {
        builtAt: now.builtAt,
        networks: now.networks,
        sources: now.sources,
        own: ownOf(now.own),
      },
      problem: this.#problem ?? this.#unread,
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
    const held = this.hold();
    return held.take(bytes).finally(() => held.leave());
  }
  /** Without any of the owner's. @throws GeoFileRefused */
  async drop(): Promise<GeoTaken> {
    const held = this.hold();
    return held.drop().finally(() => held.leave());
  }
  /** @throws GeoFileRefused */
  hold(): GeoHold {
    // each is held in memory until it was read, and takes a core and memory while all is made of it
    if (this.#isTaking) throw new GeoFileRefused('another file is being read');
    this.#isTaking = true;
    let isLeft = false;
    return {
      take: bytes => this.#take(bytes),
      drop: () => this.#drop(),
      leave: () => {
        if (!isLeft) this.#isTaking = false;
        isLeft = true;
      },
    };
  }
  async #take(bytes: Uint8Array): Promise<GeoTaken> {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const name = ownNameOf(createHash('sha256').update(bytes).digest('hex'));
    const path = join(this.#folder, name);
    // also one that is there: it may have been cut since
    await writeLarge(path, file => file.writeFile(bytes));
    const forget = () => {
      if (!this.#counting.knows(name)) rmSync(path, { force: true });
    };
    try {
      const made = await this.#inTurn(() => {
        const { own = [], waiting = [] } = this.#current() ?? {};
        return this.#make([{ name, layers: [] }, ...[...own, ...waiting].filter(one => one.name !== name)]);
      });
      return { ...made, forget: () => (made.forget(), forget()) };
    } catch (error) {
      forget();
      throw error;
    }
  }
  #drop(): Promise<GeoTaken> {
    return this.#inTurn(async () => {
      const now = this.#current();
      if (!now || now.own.length || now.waiting?.length) return this.#make([]);
      // nobody's file is in what there is
      return { check: () => {}, count: () => void (this.#problem = null), forget: () => {} };
    });
  }

  #current(): Current | undefined {
    return this.#counting.current;
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
      this.#unread = null;
    } catch (error) {
      // replaced just now, perhaps: it is looked at again
      if (existsSync(`${path}.mmdb`)) this.#lookedAt = performance.now() + unreadMs;
      // paths of this machine are nobody's business
      this.#unread = 'what was made of them cannot be read';
      logger.warn({ err: error }, 'data of where addresses are cannot be read');
    }
  }

  /** One at a time: each takes a core and memory for a while. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }
  async #make(own: Current['own'], waiting: Current['own'] = []): Promise<GeoTaken> {
    const before = this.#current()?.name;
    const name = `places-${randomBytes(8).toString('hex')}`;
    const out = join(this.#folder, name);
    const forget = () => ['mmdb', 'json'].forEach(end => rmSync(`${out}.${end}`, { force: true }));
    this.#building++;
    try {
      const built = await this.#builder.run({
        out,
        own: own.map(one => join(this.#folder, one.name)),
        hasPackages: this.#hasPackages,
      });
      // one that another says all of is of no use
      const said = new Set<GeoSource['layer']>();
      const used = own.flatMap((one, index) => {
        const layers = built.own[index]!.filter(layer => !said.has(layer));
        for (const layer of layers) said.add(layer);
        return layers.length ? [{ name: one.name, layers }] : [];
      });
      const { sources, networks } = built;
      const current: Current = { name, mark: markOf(used), builtAt: Date.now(), own: used, waiting, sources, networks };
      return {
        sources,
        networks,
        own: ownOf(used),
        check: counted => this.#counting.check(current, before, counted),
        count: () => this.#count(current, before),
        forget: () => (this.#counting.forget(current), forget()),
      };
    } catch (error) {
      forget();
      throw error;
    } finally {
      this.#building--;
    }
  }
  /** @throws GeoFileRefused; after anything else it is tried again */
  #count(current: Current, madeAfter: string | undefined): void {
    try {
      this.#counting.count(current, madeAfter);
    } catch (error) {
      if (!(error instanceof GeoFileRefused)) this.#startLater();
      throw error;
    }
    this.#lookedAt = -Infinity;
    this.#problem = null;
  }
}

const markOf = (own: Current['own']) =>
  createHash('sha256')
    .update(JSON.stringify([form, packaged().map(one => [one.source.name, one.source.version]), own.map(one => one.name)]))
    .digest('hex')
    .slice(0, 16);
