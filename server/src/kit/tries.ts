/**
 * Counts tries at passwords, and at the nodes' door. After some that are free each further one waits, twice as long every time: a guesser is
 * slowed, an owner who mistypes is not locked out. In memory, and never more entries of a kind than `max`: what strangers make up washes
 * out nothing that is counted of accounts, or of where wrong passwords come from.
 */
const firstDelayMs = 5000;
const longestDelayMs = 15 * 60_000;
/** Whoever stopped trying starts anew after this long. */
const forgottenMs = 15 * 60_000;

/** `account`: by numbers of ours; `address`: by where wrong tries come from; `other`: by whatever whoever asks thinks up. */
type Kind = 'account' | 'address' | 'other';
export interface Claim {
  key: string;
  /** default `other` */
  kind?: Kind;
  free: number;
  /**
   * What it counted is half as much after this long, and it waits no longer than this: for what many share, of whom one goes on
   * trying. Otherwise all is forgotten once nobody tried for a while.
   */
  halvesMs?: number;
}
interface Entry {
  count: number;
  at: number;
  until: number;
  isTold: boolean;
}

export class Tries {
  readonly #entries: Record<Kind, Map<string, Entry>> = { account: new Map(), address: new Map(), other: new Map() };
  readonly #max: number;
  now: () => number;

  constructor(max = 50_000, now = () => performance.now()) {
    this.#max = max;
    this.now = now;
  }

  /**
   * Counts a try before it is made, so that many at once do not all slip through. Nothing is counted, and the seconds
   * to wait are answered, while one of the claims has to wait; `isFirst`: it is told so for the first time.
   */
  take(claims: readonly Claim[]): { seconds: number; isFirst: boolean } | undefined {
    const wait = this.waits(claims);
    if (!wait) this.count(claims);
    return wait;
  }

  /** What `take` would answer; nothing is counted. */
  waits(claims: readonly Claim[]): { seconds: number; isFirst: boolean } | undefined {
    const now = this.now();
    const entries = claims.map(claim => this.#find(claim, now));
    const waiting = entries.filter(entry => entry && entry.until > now) as Entry[];
    if (!waiting.length) return undefined;
    const isFirst = waiting.some(entry => !entry.isTold);
    for (const entry of waiting) entry.isTold = true;
    return { seconds: Math.ceil((Math.max(...waiting.map(entry => entry.until)) - now) / 1000), isFirst };
  }

  /** Counts a try that is known to be wrong, or one that is about to be made. */
  count(claims: readonly Claim[]): void {
    const now = this.now();
    for (const claim of claims) {
      const { free, halvesMs } = claim;
      const entry = this.#find(claim, now);
      const age = entry && halvesMs ? 2 ** ((entry.at - now) / halvesMs) : 1;
      const count = (entry?.count ?? 0) * age + 1;
      const delay = count < free ? 0 : Math.min(firstDelayMs * 2 ** (count - free), halvesMs ?? longestDelayMs);
      this.#set(claim, { count, at: now, until: now + delay, isTold: false });
    }
  }

  /** A try was right, though not counted before: half of what was counted is forgotten, and nobody waits. */
  halve(claims: readonly Claim[]): void {
    for (const claim of claims) {
      const entry = this.#of(claim).get(claim.key);
      if (!entry) continue;
      entry.count /= 2;
      entry.until = Math.min(entry.until, this.now());
    }
  }

  /** The try was right: what it counted is given back, and the first claim starts anew. */
  giveBack([first, ...others]: readonly Claim[]): void {
    if (first) this.#of(first).delete(first.key);
    this.undo(others);
  }

  /** The try was not looked at: what it counted is given back. */
  undo(claims: readonly Claim[]): void {
    for (const claim of claims) {
      const entry = this.#of(claim).get(claim.key);
      if (!entry) continue;
      entry.count--;
      // the delay that this try itself had brought
      entry.until = Math.min(entry.until, this.now());
    }
  }

  get size() {
    return Object.values(this.#entries).reduce((sum, { size }) => sum + size, 0);
  }

  #of({ kind = 'other' }: Pick<Claim, 'kind'>): Map<string, Entry> {
    return this.#entries[kind];
  }

  #find(claim: Claim, now: number): Entry | undefined {
    const entry = this.#of(claim).get(claim.key);
    if (!entry || Math.max(entry.at, entry.until) + forgottenMs > now) return entry;
    this.#of(claim).delete(claim.key);
    return undefined;
  }

  #set(claim: Claim, entry: Entry) {
    const entries = this.#of(claim);
    entries.delete(claim.key);
    // the one that was idle for longest makes room
    if (entries.size >= this.#max) entries.delete(entries.keys().next().value!);
    entries.set(claim.key, entry);
  }
}
