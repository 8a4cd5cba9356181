/**
 * What bodies hold of memory: from when they arrive until their call is answered. Whoever has an account may send large ones, and half of
 * them, on as many connections as its address has; so of one root account, and of all customers of one operator, so much is held at a time.
 * Where an operator's customers hold all that, a root account still comes to its share: what arrives slowly, or for one that holds more
 * than its own share, gives way.
 */
import type { FastifyRequest } from 'fastify';
import { Fail } from '#contract/errors.ts';
import { partyOf } from './turns.ts';

/** Bytes, of whatever is more than what anybody may send. The largest body there is has 4 MB (url redirects): a share holds it. */
const most = { operator: 64 * 2 ** 20, root: 16 * 2 ** 20, share: 4 * 2 ** 20 } as const;
/** A body that takes longer is slow: 4 MB come in it by 560 kbit/s. */
const slowMs = 60_000;
const seconds = 5;
const held = new Map<string, number>();
/** from the one that began first */
const arriving = new Set<BodyBytes>();

/** Those of one call. Whoever has no account sends nothing that is counted here. */
export class BodyBytes {
  readonly #operator: string | undefined;
  readonly #root: string | undefined;
  readonly #names: readonly string[];
  readonly #since = performance.now();
  readonly #givesWay: () => void;
  #bytes = 0;
  #isOver = false;

  /** @param givesWay ends its call: what of it has come is let go */
  constructor({ actor }: Pick<FastifyRequest, 'actor'>, givesWay: () => void) {
    this.#names = actor ? partyOf(actor).path : [];
    this.#root = this.#names.at(-1);
    this.#operator = this.#names.at(-2);
    this.#givesWay = givesWay;
  }

  /** @throws Fail 429 where its root account holds as much as one may, 503 where its operator's customers do; with Retry-After */
  add(bytes: number): void {
    if (this.#isOver) return;
    if (this.#root !== undefined && of(this.#root) + bytes > most.root)
      throw new Fail('parameter', {
        status: 429,
        errorData: [{ path: '', rule: 'tooManyCalls', bounds: { seconds } }],
        extra: { retryAfter: seconds },
      });
    while (this.#isShort(bytes)) {
      const other = this.#firstToGive(bytes);
      if (!other) throw new Fail('database', { status: 503 });
      other.letGo();
      other.#givesWay();
    }
    this.#bytes += bytes;
    for (const name of this.#names) held.set(name, of(name) + bytes);
    if (this.#operator !== undefined) arriving.add(this);
  }

  #isShort(bytes: number): boolean {
    return this.#operator !== undefined && of(this.#operator) + bytes > most.operator;
  }

  /** Who gives way to a body that goes on for so many bytes: within the share of its root account. */
  #firstToGive(bytes: number): BodyBytes | undefined {
    if (of(this.#root!) + bytes > most.share) return undefined;
    const now = performance.now();
    for (const one of arriving)
      if (one.#operator === this.#operator && one.#root !== this.#root)
        if (of(one.#root!) > most.share || now - one.#since > slowMs) return one;
    return undefined;
  }

  /** All of it is here: its call will be answered. */
  hasArrived(): void {
    arriving.delete(this);
  }

  /** Once the call is answered, or its connection is closed. */
  letGo(): void {
    this.#isOver = true;
    arriving.delete(this);
    for (const name of this.#names) {
      const left = of(name) - this.#bytes;
      if (left > 0) held.set(name, left);
      else held.delete(name);
    }
    this.#bytes = 0;
  }
}
const of = (name: string) => held.get(name) ?? 0;
