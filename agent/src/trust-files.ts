/**
 * Authorities by which origins are verified: their files, and when nginx reads them. A new one is a reload, so they are taken together and
 * not more often than every few seconds, however many customers bring theirs; until nginx knows one, the record of the domain that wants
 * it waits, and what nginx has of that domain holds. None is taken away before another one comes: who needs it no more does not name it.
 * A customer who brings one after the other waits: reloads leave workers behind that go on with long answers, of all customers.
 */
import { X509Certificate } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeWhole } from '#host/files.ts';
import { Budgets } from './budgets.ts';
import type { EdgeState } from './edge-state.ts';
import { ownTrustsMost, ownTrustsOfParty, publicTrust, type Trust } from './render/trusts.ts';

const usualEveryMs = 2000;
/** Reloads that one customer's new authorities may cause: so many at once, and then one in so long. */
const reloadsOfParty = { most: 5, everyMs: 5 * 60_000 };
/** What a reloaded nginx needs at most until its new workers answer. */
const knownMs = 10_000;
const shortly = (ms: number) => new Promise<void>(done => setTimeout(done, ms));

export interface TrustFilesOptions {
  /** absolute: where the files are kept */
  folder: string;
  state(): Pick<EdgeState, 'trusts' | 'trustsOf' | 'untrusted'>;
  /** Gives nginx its configuration, in which `list` stands. */
  configure(): Promise<void>;
  /** names that the nginx which runs knows. @throws while it does not answer */
  known(): Promise<readonly string[]>;
  /** These keys waited for an authority, and need not wait any more, whether nginx knows it or not. */
  settled(keys: string[]): void;
  log(message: string): void;
  /** between two reloads; default 2000 */
  everyMs?: number;
}

function isReadable(pem: string): boolean {
  try {
    // nginx is asked to start with it: one that OpenSSL cannot read would keep it from any other change
    for (const block of pem.split(/(?<=-----END CERTIFICATE-----)\n/))
      if (block.trim()) void new X509Certificate(block).publicKey;
    return true;
  } catch {
    return false;
  }
}

export class TrustFiles {
  readonly #options: TrustFilesOptions;
  readonly #own = new Map<string, Trust>();
  #known: ReadonlySet<string> = new Set();
  /** What records that are on their way to nginx may name: that goes only with a later one. */
  #held: ReadonlySet<string> = new Set();
  /** What the record that nginx has of a domain names. A domain that waits goes on by that, however long. */
  readonly #serving = new Map<string, readonly string[]>();
  /** Of this round and of the one before: what stays as it is is said once. */
  #said: { now: Set<string>; before: ReadonlySet<string> } = { now: new Set(), before: new Set() };
  readonly #waiting = new Set<string>();
  #working: Promise<void> | undefined;
  #lastAt = -Infinity;
  readonly #budgets = new Budgets(reloadsOfParty);

  constructor(options: TrustFilesOptions) {
    this.#options = options;
  }

  /** What stands in nginx's configuration. */
  list(): Trust[] {
    const machine = publicTrust();
    const own = [...this.#own.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    return machine ? [machine, ...own] : own;
  }

  /** Takes out the domains that have to wait, and sees to it that they need not. */
  hold(keys: Set<string>): void {
    for (const key of this.#options.state().untrusted(keys, this.#known)) {
      keys.delete(key);
      this.#waiting.add(key);
    }
    this.#served(keys);
    if (this.#waiting.size) this.look();
  }

  /** nginx is about to have these as they are wanted now. */
  #served(keys: Iterable<string>): void {
    const by = this.#options.state().trustsOf(keys);
    for (const key of this.#serving.size ? keys : []) if (!by.has(key)) this.#serving.delete(key);
    for (const [key, names] of by) this.#serving.set(key, names);
    for (const key of keys) this.#waiting.delete(key);
  }

  #sayOnce(line: string): void {
    if (!this.#said.before.has(line) && !this.#said.now.has(line)) this.#options.log(line);
    this.#said.now.add(line);
  }

  /**
   * Files of what is wanted now.
   * @param isFree nginx is about to be started: there is no reload, and nobody's budget is spent
   * @returns whether there is one that was not there, and which have to wait. @throws where the disk does not take them
   */
  async write(isFree = false): Promise<{ isNew: boolean; later: Set<string> }> {
    const { folder, state } = this.#options;
    this.#said = { now: new Set(), before: this.#said.now };
    const all = state().trusts();
    const missing = [...all.keys()].filter(name => !this.#own.has(name));
    const later = new Set<string>();
    if (!missing.length) return { isNew: false, later };
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const used = new Set([...this.#held, ...[...this.#waiting].flatMap(key => this.#serving.get(key) ?? [])]);
    for (const name of this.#own.keys()) if (!all.has(name) && !used.has(name)) this.#own.delete(name);
    const shares = new Map<string, number>();
    const share = (party: string) => shares.get(party) ?? 0;
    const count = (parties: Iterable<string>) => {
      for (const party of parties) shares.set(party, share(party) + 1);
    };
    for (const name of this.#own.keys()) count(all.get(name)?.parties ?? []);
    let isNew = false;
    const charged = new Set<string>();
    for (const name of missing) {
      const { pem, parties } = all.get(name)!;
      if (this.#own.size >= ownTrustsMost)
        this.#sayOnce(
          `${ownTrustsMost} authorities of customers are as many as nginx is told: origins of the next are not asked`,
        );
      else if ([...parties].every(party => share(party) >= ownTrustsOfParty))
        this.#sayOnce(
          `${ownTrustsOfParty} authorities are as many as nginx is told of one customer (${[...parties].join(', ')}): origins of the next are not asked`,
        );
      else if (!isFree && [...parties].every(party => !charged.has(party) && !this.#budgets.has(party))) {
        later.add(name);
        continue;
      } else if (isReadable(pem)) {
        const file = join(folder, `${name}.pem`);
        writeWhole(file, pem);
        this.#own.set(name, { name, file });
        count(parties);
        isNew = true;
        const payer =
          isFree || [...parties].some(party => charged.has(party))
            ? undefined
            : [...parties].find(party => this.#budgets.has(party));
        if (payer === undefined) continue;
        charged.add(payer);
        this.#budgets.spend(payer);
      }
    }
    return { isNew, later };
  }

  /** Before nginx is started, so that it knows them from the beginning. */
  async first(): Promise<void> {
    await this.write(true).catch((error: Error) => this.#options.log(`authorities of origins: ${error.message}`));
    for (const [key, names] of this.#options.state().trustsOf()) this.#serving.set(key, names);
  }

  /** A domain may want one that nginx does not know. */
  look(): void {
    if (!this.#waiting.size && [...this.#options.state().trusts().keys()].every(name => this.#known.has(name))) return;
    if (this.#working) return;
    this.#working = this.#take().finally(() => {
      this.#working = undefined;
      if (this.#waiting.size) this.look(); // they came meanwhile
    });
  }

  /** nginx runs: what it knows is to be asked. */
  async up(): Promise<void> {
    try {
      this.#known = new Set(await this.#options.known());
    } catch {
      this.#known = new Set(); // it ends again, and comes up later
    }
    this.look();
  }

  async #take(): Promise<void> {
    const { configure, known, settled, log, folder, everyMs = usualEveryMs } = this.#options;
    await shortly(Math.max(0, this.#lastAt + everyMs - performance.now()));
    this.#lastAt = performance.now();
    const wanted = new Set(this.#options.state().trusts().keys());
    let tried: ReadonlySet<string> = wanted;
    try {
      const { isNew, later: unpaid } = await this.write();
      tried = new Set([...wanted].filter(name => !unpaid.has(name)));
      if (isNew) {
        await configure();
        const own = [...this.#own.keys()];
        for (const end = performance.now() + knownMs; performance.now() < end; await shortly(20)) {
          this.#known = new Set(await known());
          if (own.every(name => this.#known.has(name))) break;
        }
        for (const name of await readdir(folder)) if (!this.#own.has(name.replace(/\.pem$/, ''))) await rm(join(folder, name));
      }
    } catch (error) {
      log(`authorities of origins: ${String(error)}`);
    }
    const later = new Set(this.#options.state().untrusted(this.#waiting, new Set([...tried, ...this.#known])));
    const waited = [...this.#waiting].filter(key => !later.has(key));
    this.#served(waited);
    this.#held = wanted;
    settled(waited);
  }
}
