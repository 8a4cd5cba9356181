/**
 * What bodies hold of memory: from when they arrive until their call is answered. Whoever has an account may send large ones, and half of
 * them, on as many connections as its address has; so of one root account, and of all customers of one operator, so much is held at a time.
 */
import type { FastifyRequest } from 'fastify';
import { Fail } from '#contract/errors.ts';
import { partyOf } from './turns.ts';

/** Bytes, of whatever is more than what anybody may send. The largest body there is has 4 MB (url redirects). */
const most = { operator: 64 * 2 ** 20, root: 16 * 2 ** 20 } as const;
const seconds = 5;
const held = new Map<string, number>();

/** Those of one call. Whoever has no account sends nothing that is counted here. */
export class BodyBytes {
  readonly #names: readonly string[];
  #bytes = 0;
  #isOver = false;

  constructor({ actor }: Pick<FastifyRequest, 'actor'>) {
    this.#names = actor ? partyOf(actor).path : [];
  }

  /** @throws 429, with Retry-After */
  add(bytes: number): void {
    if (this.#isOver) return;
    const last = this.#names.length - 1;
    const isFull = this.#names.some((name, n) => (held.get(name) ?? 0) + bytes > (n === last ? most.root : most.operator));
    if (isFull)
      throw new Fail('parameter', {
        status: 429,
        errorData: [{ path: '', rule: 'tooManyCalls', bounds: { seconds } }],
        extra: { retryAfter: seconds },
      });
    this.#bytes += bytes;
    for (const name of this.#names) held.set(name, (held.get(name) ?? 0) + bytes);
  }

  /** Once the call is answered, or its connection is closed. */
  letGo(): void {
    this.#isOver = true;
    for (const name of this.#names) {
      const left = (held.get(name) ?? 0) - this.#bytes;
      if (left > 0) held.set(name, left);
      else held.delete(name);
    }
    this.#bytes = 0;
  }
}
