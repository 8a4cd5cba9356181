/**
 * Where this machine is: when its addresses are others than those it told the control plane, it tells the new ones, so that names are
 * answered with these (its renewal carries them). Not at once: addresses come and go while a network is set up, and of a copied disk it is
 * to be seen first that two machines speak in one name.
 */
const lookMs = 5000;
/** So long they stay the same before they are told; and from one telling to the next. */
const steadyMs = { change: 20_000, again: 60_000 } as const;

export interface WhereOptions {
  /** what was told last; undefined: there is nobody to tell */
  told(): readonly string[] | undefined;
  tell(): void;
  /** where it is now (addresses.ts) */
  own(): readonly string[];
  now?(): number;
}

export class Where {
  readonly #options: Required<WhereOptions>;
  #seen = '';
  #since: number;
  #toldAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: WhereOptions) {
    this.#options = { now: () => performance.now(), ...options };
    this.#since = this.#options.now();
  }

  start(): void {
    this.#timer = setInterval(() => this.look(), lookMs);
    this.#timer.unref();
  }
  stop(): void {
    clearInterval(this.#timer);
  }

  look(): void {
    const { told, own, now, tell } = this.#options;
    const said = told();
    const here = named(own());
    const at = now();
    if (here !== this.#seen) [this.#seen, this.#since] = [here, at];
    // without a network it knows loopback alone, and can tell nobody
    if (!said || here === named(said) || here === '127.0.0.1') return;
    if (at - this.#since < steadyMs.change || at - this.#toldAt < steadyMs.again) return;
    this.#toldAt = at;
    tell();
  }
}

const named = (addresses: readonly string[]) => addresses.toSorted().join(' ');
