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

export interface ResolverOptions {
  /** file that keeps the last good addresses */
  file?: string;
  /** default: those of /etc/resolv.conf */
  servers?: string[];
  hostsFile?: string;
  /** the addresses of these names are others now */
  changed(names: string[]): void;
}

interface Known {
  addresses: readonly string[];
  /** epoch ms of the next lookup */
  dueAt: number;
  failures: number;
  /** the last answer was long in coming */
  slow: boolean;
  asking?: Promise<void>;
}

const tickMs = 500;
const minSeconds = 5;
const maxSeconds = 300;
/** A name that does not resolve is asked again after 1 s, 2 s, 4 s … */
const retryMaxMs = 60_000;
const slowMs = 1000;
/**
 * Lookups at once, of all names and of those under one parent. Names that fail or dawdle have places of their own, so that one
 * customer's dead zone keeps nobody else's origins from being refreshed, nor another's failing name from being found again.
 */
const places = { good: { all: 64, parent: 32 }, doubtful: { all: 32, parent: 8 } };

interface Lookup {
  kind: keyof typeof places;
  parent: string;
}

function lookupOf(name: string, known: Known | undefined): Lookup {
  const doubtful = !known?.addresses.length || known.failures > 0 || known.slow;
  return { kind: doubtful ? 'doubtful' : 'good', parent: name.toLowerCase().split('.').slice(-2).join('.') };
}
const hostsEveryMs = 5000;

export class NameResolver {
  readonly #known = new Map<string, Known>();
  readonly #used = new Set<string>();
  readonly #resolver = new Resolver({ timeout: 2000, tries: 2 });
  readonly #options: ResolverOptions;
  #hosts = new Map<string, string[]>();
  #hostsAt = -Infinity;
  readonly #asking = new Set<Lookup>();
  #dirty = false;
  #timer: NodeJS.Timeout | undefined;

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
        this.#known.set(name, { addresses, dueAt: 0, failures: 0, slow: false });
    } catch {
      // a damaged file: the names are simply asked again
    }
    this.#timer = setInterval(() => void this.#tick(), tickMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#resolver.cancel();
    await this.#save();
  }

  /** Names in use: these are kept fresh, all others forgotten. */
  use(names: Iterable<string>): void {
    for (const name of names) this.#used.add(name);
  }
  release(name: string): void {
    this.#used.delete(name);
    this.#known.delete(name);
  }

  /** What is known now; nothing while a name was never resolved. */
  readonly addresses = (name: string): readonly string[] => this.#known.get(name)?.addresses ?? [];

  /** Waits for the first answers to names nothing is known of, but never longer than `limitMs`. */
  async warm(names: Iterable<string>, limitMs: number): Promise<void> {
    const asking: Promise<void>[] = [];
    for (const name of names) {
      this.#used.add(name);
      if (!this.#known.has(name)) asking.push(this.#ask(name));
    }
    if (asking.length) await Promise.race([Promise.all(asking), new Promise(done => setTimeout(done, limitMs))]);
  }

  async #tick(): Promise<void> {
    if (performance.now() - this.#hostsAt > hostsEveryMs) await this.#readHosts();
    const now = performance.now();
    const due: { name: string; dueAt: number; lookup: Lookup }[] = [];
    for (const name of this.#used) {
      const known = this.#known.get(name);
      const dueAt = known?.dueAt ?? 0;
      if (!known?.asking && dueAt <= now) due.push({ name, dueAt, lookup: lookupOf(name, known) });
    }
    for (const { name, lookup } of due.sort((a, b) => a.dueAt - b.dueAt)) if (this.#room(lookup)) void this.#ask(name);
    await this.#save();
  }

  #room({ kind, parent }: Lookup): boolean {
    let [all, below] = [0, 0];
    for (const other of this.#asking) {
      if (other.kind !== kind) continue;
      all++;
      if (other.parent === parent) below++;
    }
    return all < places[kind].all && below < places[kind].parent;
  }

  #ask(name: string): Promise<void> {
    let known = this.#known.get(name);
    if (!known) this.#known.set(name, (known = { addresses: [], dueAt: 0, failures: 0, slow: false }));
    const entry = known;
    return (entry.asking ??= (async () => {
      const lookup = lookupOf(name, entry);
      this.#asking.add(lookup);
      const since = performance.now();
      try {
        const { addresses, seconds } = await this.#lookup(name);
        entry.failures = 0;
        entry.dueAt = performance.now() + 1000 * Math.min(maxSeconds, Math.max(minSeconds, seconds));
        if (addresses.join() === entry.addresses.join()) return;
        entry.addresses = addresses;
        this.#dirty = true;
        if (this.#used.has(name)) this.#options.changed([name]);
      } catch {
        // The last good addresses stay.
        entry.dueAt = performance.now() + Math.min(retryMaxMs, 1000 * 2 ** entry.failures++);
      } finally {
        this.#asking.delete(lookup);
        entry.slow = performance.now() - since > slowMs;
        entry.asking = undefined;
      }
    })());
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

  async #save(): Promise<void> {
    if (!this.#dirty || !this.#options.file) return;
    this.#dirty = false;
    const good = [...this.#known].filter(([name, { addresses }]) => addresses.length && this.#used.has(name));
    const text = JSON.stringify(Object.fromEntries(good.map(([name, { addresses }]) => [name, addresses])));
    try {
      writeWhole(this.#options.file, text, { durable: false });
    } catch {
      this.#dirty = true; // disk full: it is only a help for the next start
    }
  }
}
