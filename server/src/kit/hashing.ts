/**
 * Whose password is hashed next. Each hash takes a thread for a while, and there are four of them for everything: one is for
 * new passwords, two are for signing in, one is left for all else. Whoever has many hashed waits behind its own.
 */
import { Fail } from '#contract/errors.ts';
import { Turns } from './turns.ts';

const retryAfter = 5;
const busy = { waitMs: 10_000 };

export class Hashing {
  readonly #set = new Turns({ ...busy, most: 1, each: 1, waiting: 8, refusal: () => tooManyPasswords('password', retryAfter) });
  readonly #check = new Turns({ ...busy, most: 2, each: 2, waiting: 20, refusal: () => tooManySignIns(retryAfter) });

  /** New passwords, by root account. */
  set<T>(rootID: number, act: () => Promise<T>): Promise<T> {
    return this.#set.run(String(rootID), act);
  }

  /** Signing in, by the known device or the address it comes from. */
  check<T>(from: string, act: () => Promise<T>): Promise<T> {
    return this.#check.run(from, act);
  }
}

export const tooManySignIns = (seconds: number) => new Fail('credentialFailed', { status: 429, extra: { retryAfter: seconds } });

export const tooManyPasswords = (path: string, seconds: number) =>
  new Fail('parameter', {
    status: 429,
    errorData: [{ path, rule: 'tooManyTries', bounds: { seconds } }],
    extra: { retryAfter: seconds },
  });
