/**
 * Whose password is hashed next. Each hash takes a thread for a while, and there are four of them for everything: one is for
 * new passwords, one for strangers who sign in, one for whoever signs in from a device we know (which may have the strangers' too
 * while they need it less), one is left for all else.
 */
import { Fail } from '#contract/errors.ts';
import { unwritten } from './quiet.ts';
import type { Claim, Tries } from './tries.ts';
import { type Line, type Party, Turns } from './turns.ts';

const retryAfter = 5;
const common = { each: 1, waitMs: 10_000, waitingAll: 300 };

/** Who asks for a hash, and what it counted as a try: whom the queue refuses has not tried, and leaves no line. */
export interface Asked {
  party: Party;
  claims: readonly Claim[];
  line: Line | undefined;
}

export class Hashing {
  readonly #tries: Tries;
  readonly #set = new Turns({
    ...common,
    name: 'newPasswords',
    lanes: [1, 1, 1],
    waiting: 8,
    refusal: () => tooManyPasswords('password', retryAfter),
  });
  readonly #check = new Turns({
    ...common,
    name: 'signIns',
    lanes: [1, 2],
    waiting: 20,
    refusal: () => tooManySignIns(retryAfter),
  });

  constructor(tries: Tries) {
    this.#tries = tries;
  }

  /** New passwords, by root account. */
  set<T>(asked: Asked, act: () => Promise<T>): Promise<T> {
    return this.#hash(this.#set, asked, act);
  }

  /** Signing in: in lane 0 strangers, in lane 1 known devices. */
  check<T>(asked: Asked, act: () => Promise<T>): Promise<T> {
    return this.#hash(this.#check, asked, act);
  }

  async #hash<T>(turns: Turns, { party, claims, line }: Asked, act: () => Promise<T>): Promise<T> {
    let hasBegun = false;
    const begin = () => {
      hasBegun = true;
      return act();
    };
    try {
      return await turns.run(party, begin, line);
    } catch (error) {
      if (hasBegun) throw error;
      this.#tries.undo(claims);
      throw unwritten(error as Fail);
    }
  }
}

export const tooManySignIns = (seconds: number) => new Fail('credentialFailed', { status: 429, extra: { retryAfter: seconds } });

export const tooManyPasswords = (path: string, seconds: number) =>
  new Fail('parameter', {
    status: 429,
    errorData: [{ path, rule: 'tooManyTries', bounds: { seconds } }],
    extra: { retryAfter: seconds },
  });
