/**
 * Addresses of origins given by name. nginx is given addresses only, so a name that fails breaks nobody but its own domains:
 * lookups run beside everything else, each answer is kept until a newer one comes, and what was last good survives a restart.
 *
 * Asks the DNS servers of /etc/resolv.conf through c-ares (dns.lookup would occupy libuv's few threads, which our disk writes
 * need, for as long as a dead server keeps it waiting). /etc/hosts is read first, as the system would (nsswitch "files dns").
 */
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { writeWhole } from '#host/files.ts';
import { type Party, Turns } from './turns.ts';

export interface ResolverOptions {
  /** file that keeps the last good addresses */
  file?: string;
  /** default: those of /etc/resolv.conf */
  servers?: string[];
  hostsFile?: string;
  /** the addresses of these names are others now */
  changed(names: string[]): void;
  /** whose origins have this name: lookups are shared out among them. Default: each name is a party of its own */
  parties?: (name: string) => Iterable<Party>;
}

type Kind = 'good' | 'fresh' | 'doubtful';
interface Known {
  addresses: readonly string[];
  /** which tick looks it up next */
  dueAt: number;
  failures: number;
  /** the last answer was long in coming */
  slow: boolean;
  /** it was looked up, or was known from before */
  tried: boolean;
  /** it waits for a place, or is being looked up; resolves when it was */
  asking?: PromiseWithResolvers<void>;
}

interface Lookup {
  name: string;
  known: Known;
}

const tickMs = 500;
const minSeconds = 5;
const maxSeconds = 300;
/** A name that does not resolve is asked again after 1 s, 2 s, 4 s … */
const retryMaxMs = 60_000;
const slowMs = 1000;
/**
 * Lookups at once, of all names and of those of one party. Names that fail or dawdle have places of their own, and so have those that
 * nobody has looked up yet: one customer's dead zone keeps nobody else's origins from being refreshed, found, or found again. A party
 * is a site: labels would not tell, half a country shares `co.uk`, and half the net a cloud's name.
 */
const places: Record<Kind, { all: number; party: number }> = {
  good: { all: 64, party: 32 },
  fresh: { all: 64, party: 32 },
  doubtful: { all: 32, party: 8 },
};
/** A name of more parties than this is reckoned to one of the first. */
const partiesMost = 64;

const kindOf = (known: Known): Kind => {
  if (!known.tried) return 'fresh';
  return !known.addresses.length || known.failures > 0 || known.slow ? 'doubtful' : 'good';
};
const hostsEveryMs = 5000;
/** Writing the file may take this part of our time at most. */
const saving = { leastMs: 2000, share: 0.01 };

export class NameResolver {
  readonly #known = new Map<string, Known>();
  readonly #used = new Set<string>();
  readonly #resolver = new Resolver({ timeout: 2000, tries: 2 });
  readonly #options: ResolverOptions;
  #hosts = new Map<string, string[]>();
  #hostsAt = -Infinity;
  /** number of a tick → names that are due then: no tick looks at the others */
  readonly #calendar = new Map<number, string[]>();
  #tickDone = tickNow();
  readonly #turns = {
    good: new Turns<Lookup>(places.good),
    fresh: new Turns<Lookup>(places.fresh),
    doubtful: new Turns<Lookup>(places.doubtful),
  };
  #dirty = false;
  #saveAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: ResolverOptions) {
    this.#options = options;
    if (options.servers) this.#resolver.setServers(options.servers);
  }

  /** Reads what was last good and starts refreshing. */
  async start(): Promise<void> {
    await this.#readHosts();
    const saved = this.#options.file && (await readFile(this.#options.file, 'utf8').catch(() => undefined));
    try {
      for (const [name, addresses] of Object.entries(JSON.parse(saved || '{}') as Record<string, string[]>))
        this.#known.set(name, { addresses, dueAt: 0, failures: 0, slow: false, tried: true });
    } catch {
      // a damaged file: the names are simply asked again
    }
    for (const name of this.#used) this.#due(name, this.#entry(name), 0);
    this.#timer = setInterval(() => void this.#tick(), tickMs);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    this.#resolver.cancel();
    this.#save();
  }

  /** Names in use: these are kept fresh, all others forgotten. */
  use(names: Iterable<string>): void {
    for (const name of names) {
      if (this.#used.has(name)) continue;
      this.#used.add(name);
      this.#due(name, this.#entry(name), 0);
    }
  }
  release(name: string): void {
    this.#used.delete(name);
    this.#known.delete(name);
  }

  /** What is known now; nothing while a name was never resolved. */
  readonly addresses = (name: string): readonly string[] => this.#known.get(name)?.addresses ?? [];

  /**
   * Waits for the first answers to names nothing is known of, but never longer than `limitMs`.
   * @param names with the party that brings each
   */
  async warm(names: Iterable<readonly [name: string, party: Party]>, limitMs: number): Promise<void> {
    const asking: Promise<void>[] = [];
    for (const [name, party] of names) {
      this.#used.add(name);
      if (!this.#known.has(name)) asking.push(this.#queue(name, this.#entry(name), party));
    }
    if (!asking.length) return;
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([Promise.all(asking), new Promise(done => (timer = setTimeout(done, limitMs)))]);
    clearTimeout(timer);
  }

  #entry(name: string): Known {
    let known = this.#known.get(name);
    if (!known) this.#known.set(name, (known = { addresses: [], dueAt: 0, failures: 0, slow: false, tried: false }));
    return known;
  }

  #due(name: string, known: Known, ms: number): void {
    known.dueAt = Math.max(this.#tickDone + 1, tickNow() + Math.ceil(ms / tickMs));
    const names = this.#calendar.get(known.dueAt);
    if (names) names.push(name);
    else this.#calendar.set(known.dueAt, [name]);
  }

  async #tick(): Promise<void> {
    if (performance.now() - this.#hostsAt > hostsEveryMs) await this.#readHosts();
    for (const now = tickNow(); this.#tickDone < now;) {
      const tick = ++this.#tickDone;
      for (const name of this.#calendar.get(tick) ?? []) {
        const known = this.#used.has(name) ? this.#known.get(name) : undefined;
        // released meanwhile, or released and used again
        if (known?.dueAt === tick) void this.#queue(name, known);
      }
      this.#calendar.delete(tick);
    }
    if (performance.now() > this.#saveAt) this.#save();
  }

  /** @param bringer the party that names it just now, where there is one. @returns when it was looked up */
  #queue(name: string, known: Known, bringer?: Party): Promise<void> {
    if (known.asking) return known.asking.promise;
    known.asking = Promise.withResolvers();
    const kind = kindOf(known);
    const turns = this.#turns[kind];
    // whoever waits for least: another's many names, with this one among them, do not make its own wait
    let party = bringer;
    let seen = 0;
    for (const one of this.#options.parties?.(name) ?? []) {
      if (party === undefined || turns.load(one) < turns.load(party)) party = one;
      if (++seen === partiesMost) break;
    }
    turns.wait(party ?? name, { name, known });
    this.#pump(kind);
    return known.asking.promise;
  }

  #pump(kind: Kind): void {
    const turns = this.#turns[kind];
    while (!this.#stopped) {
      const next = turns.next();
      if (!next) return;
      const { name, known } = next.work;
      if (this.#known.get(name) !== known) {
        turns.done(next.party); // released while it waited
        continue;
      }
      void this.#ask(name, known).then(() => {
        turns.done(next.party);
        this.#pump(kind);
      });
    }
  }

  async #ask(name: string, known: Known): Promise<void> {
    const since = performance.now();
    let again: number;
    try {
      const { addresses, seconds } = await this.#lookup(name);
      known.failures = 0;
      // not all at the same moment for ever
      again = 1000 * Math.max(minSeconds, Math.min(maxSeconds, seconds) * (0.8 + 0.2 * Math.random()));
      if (addresses.join() !== known.addresses.join()) {
        known.addresses = addresses;
        this.#dirty = true;
        if (this.#used.has(name)) this.#options.changed([name]);
      }
    } catch {
      // The last good addresses stay.
      again = Math.min(retryMaxMs, 1000 * 2 ** known.failures++);
    }
    known.slow = performance.now() - since > slowMs;
    known.tried = true;
    known.asking?.resolve();
    known.asking = undefined;
    if (this.#known.get(name) === known) this.#due(name, known, again);
  }

  async #lookup(name: string): Promise<{ addresses: string[]; seconds: number }> {
    const plain = name.replace(/\.$/, '').toLowerCase();
    const fixed = this.#hosts.get(plain);
    if (fixed) return { addresses: fixed, seconds: minSeconds };
    // RFC 6761 §6.3
    if (plain === 'localhost' || plain.endsWith('.localhost')) return { addresses: ['127.0.0.1', '::1'], seconds: maxSeconds };
    const [v4, v6] = await Promise.allSettled([
      this.#resolver.resolve4(plain, { ttl: true }),
      this.#resolver.resolve6(plain, { ttl: true }),
    ]);
    const found = [...(v4.status === 'fulfilled' ? v4.value : []), ...(v6.status === 'fulfilled' ? v6.value : [])];
    if (!found.length) throw new Error(`${name} has no address`);
    // One family failed for another reason than "none": half an answer would take the other half away.
    for (const [family, part] of [
      [4, v4],
      [6, v6],
    ] as const) {
      if (part.status === 'rejected' && !['ENODATA', 'ENOTFOUND'].includes(part.reason.code)) {
        const kept = this.addresses(name).filter(address => isIP(address) === family);
        found.push(...kept.map(address => ({ address, ttl: minSeconds })));
      }
    }
    return { addresses: [...new Set(found.map(one => one.address))].sort(), seconds: Math.min(...found.map(one => one.ttl)) };
  }

  async #readHosts(): Promise<void> {
    this.#hostsAt = performance.now();
    const text = await readFile(this.#options.hostsFile ?? '/etc/hosts', 'utf8').catch(() => '');
    const hosts = new Map<string, string[]>();
    for (const line of text.split('\n')) {
      const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
      if (!address || !isIP(address)) continue;
      for (const name of names) hosts.set(name.toLowerCase(), [...(hosts.get(name.toLowerCase()) ?? []), address]);
    }
    this.#hosts = hosts;
  }

  #save(): void {
    if (!this.#dirty || !this.#options.file) return;
    this.#dirty = false;
    const since = performance.now();
    const good = [...this.#known].filter(([name, { addresses }]) => addresses.length && this.#used.has(name));
    const text = JSON.stringify(Object.fromEntries(good.map(([name, { addresses }]) => [name, addresses])));
    try {
      writeWhole(this.#options.file, text, { durable: false });
    } catch {
      this.#dirty = true; // disk full: it is only a help for the next start
    }
    const now = performance.now();
    this.#saveAt = now + Math.max(saving.leastMs, (now - since) / saving.share);
  }
}

function tickNow(): number {
  return Math.floor(performance.now() / tickMs);
}
