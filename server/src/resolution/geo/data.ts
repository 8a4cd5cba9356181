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
import { readJson, writeLarge, writeWhole } from '#host/files.ts';
import type { GeoHold, GeoIndex, GeoSource, GeoState, GeoStore, GeoTaken } from '../../kit/services.ts';
import { logger } from '../../log.ts';
import type { BuildOrder, Built } from './build-order.ts';
import { Places } from './places.ts';
import { packaged, sentTo } from './sources.ts';

/** Another one: what is made of the same data is something else. */
const form = 1;
const checkMs = 1000;
/** One that cannot be read is read again so much later: it is large. */
const unreadMs = 10_000;
/** A builder that failed for want of time or memory may not next time. */
const retryMs = 600_000;
/** What nobody knows of goes when nobody can be making it any more. */
const strayMs = 3_600_000;

interface Current extends Omit<Built, 'own'> {
  /** without its ending */
  name: string;
  /** of what it was made */
  mark: string;
  /** milliseconds since 1970 */
  builtAt: number;
  /** files of the owner */
  own: { name: string; layers: GeoSource['layer'][] }[];
  /** of the owner as well, and not read, for want of time or memory: they are tried again */
  waiting?: Current['own'];
}
export class GeoFileRefused extends Error {
  override name = 'GeoFileRefused';
}
/** Nobody's file is to blame: the builder was killed, or had no time or no room. */
class BuilderFailed extends GeoFileRefused {}

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

/** The file that an owner's becomes, by its SHA-256 in hexadecimal digits. */
export const ownNameOf = (sha256: string) => `own-${sha256.slice(0, 32)}.mmdb`;

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
  #unread: string | null = null;
  #isTaking = false;
  #isStopped = false;
  #retry: NodeJS.Timeout | undefined;
  #children = new Set<ReturnType<typeof spawn>>();

  /** `hasPackages` false: what comes with the program does not count */
  constructor(folder: string, { hasPackages = true } = {}) {
    this.#folder = folder;
    this.#hasPackages = hasPackages;
  }

  /** Makes the file where it is missing or old; nobody waits for it. */
  start(): void {
    void this.ready()
      .catch((error: unknown) => {
        logger.error({ err: error }, 'data of where addresses are could not be made');
        return false;
      })
      .then(isDone => {
        if (isDone || this.#isStopped) return;
        this.#retry = setTimeout(() => this.start(), retryMs);
        this.#retry.unref();
      });
  }
  /** False: they are there, but not all that should count does yet. @throws when they cannot be made */
  async ready(): Promise<boolean> {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    return this.#inTurn(async () => {
      const now = this.#current();
      const waiting = now?.waiting ?? [];
      // what says which files count can be lost alone: those that are there are what the owner sent
      const own = now ? [...now.own, ...waiting].filter(one => existsSync(join(this.#folder, one.name))) : sentTo(this.#folder);
      const hasGood = await this.#isReadable(now);
      if (hasGood && now?.mark === markOf(own)) return true;
      try {
        await this.#remake(own, now);
        return true;
      } catch (error) {
        if (!own.length || this.#isStopped) throw error;
        if (!(error instanceof BuilderFailed)) {
          // a file that was read once, and is not any more, keeps the others from nobody
          await this.#remake(await this.#readable(own), now);
          this.#problem = `an uploaded file cannot be read any more: ${error instanceof Error ? error.message : ''}`;
          return true;
        }
        // the one before goes on, or what there is without the owner's, whose files stay: they are tried again
        if (!hasGood) await this.#remake([], now, own);
        this.#problem = error.message;
        return false;
      }
    });
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
      const { own = [], waiting = [] } = this.#current() ?? {};
      if (![...own, ...waiting].some(one => one.name === name)) rmSync(path, { force: true });
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
      const built = await this.#run({ out, own: own.map(one => join(this.#folder, one.name)), hasPackages: this.#hasPackages });
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
        check: () => this.#check(current, before),
        count: () => this.#count(current, before),
        forget,
      };
    } catch (error) {
      forget();
      throw error;
    } finally {
      this.#building--;
    }
  }
  /** @throws GeoFileRefused when it was not made of what counts now: what came meanwhile would be lost */
  #check(current: Current, madeAfter: string | undefined): Current | undefined {
    const before = this.#current();
    // a transaction that is tried again counts it again
    if (before && before.name !== madeAfter && before.name !== current.name)
      throw new GeoFileRefused('other data came meanwhile: send it again');
    return before;
  }
  /** @throws GeoFileRefused */
  #count(current: Current, madeAfter: string | undefined): void {
    const before = this.#check(current, madeAfter);
    writeWhole(join(this.#folder, 'current.json'), JSON.stringify(current));
    this.#lookedAt = -Infinity;
    this.#problem = null;
    const filesOf = ({ name, own, waiting = [] }: Current) => [
      name,
      ...[...own, ...waiting].map(one => one.name.replace(/\.mmdb$/, '')),
    ];
    const kept = filesOf(current);
    const old = before ? filesOf(before) : [];
    for (const file of readdirSync(this.#folder)) {
      const isOf = (names: readonly string[]) => names.some(name => file.startsWith(`${name}.`));
      if (!/^(?:places|own)-/.test(file) || isOf(kept)) continue;
      const path = join(this.#folder, file);
      // what else is there another process may be making just now
      const made = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
      if (isOf(old) || made < Date.now() - strayMs) rmSync(path, { force: true });
    }
  }

  async #run(order: BuildOrder): Promise<Built> {
    if (this.#isStopped) throw new BuilderFailed('the server is about to end');
    const node = [
      `--max-old-space-size=${geoLimits.buildMemoryMB}`,
      // what is made and forgotten of each network goes soon, not when there is much of it
      '--max-semi-space-size=4',
      join(import.meta.dirname, 'build.ts'),
      JSON.stringify(order),
    ];
    const child = spawn(
      // with whoever waits for it, and keeps its time, it ends
      'setpriv',
      ['--pdeathsig', 'KILL', '--', process.execPath, ...node],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { PATH: '/usr/bin:/bin' },
        timeout: geoLimits.buildSeconds * 1000,
        killSignal: 'SIGKILL',
      },
    );
    this.#children.add(child);
    // nobody waits for it: whoever has work to do goes first
    try {
      if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
    } catch (error) {
      // it has ended already, or a container's filter forbids it: it is made all the same
      logger.debug({ error: String(error) }, 'data of where addresses are: made at the usual priority');
    }
    const ended = new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', resolve);
    });
    try {
      const [said, complaint, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
      if (code !== 0) {
        logger.warn({ code, complaint: complaint.slice(-2000) }, 'data of where addresses are: the builder failed');
        throw new BuilderFailed('it takes too long or too much to read');
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

const ownOf = (own: Current['own']) => own.map(({ name, layers }) => ({ file: name, layers }));
const markOf = (own: Current['own']) =>
  createHash('sha256')
    .update(JSON.stringify([form, packaged().map(one => [one.source.name, one.source.version]), own.map(one => one.name)]))
    .digest('hex')
    .slice(0, 16);
