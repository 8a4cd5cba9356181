/**
 * The door of the two calls that anybody may make, since nodes have no session. Who comes wrong again and again waits, by address, before
 * the database is asked; and few are let in at once, so that many addresses together do not take its connections from everybody.
 */
import { Fail } from '#contract/errors.ts';
import { neighbourhood } from '../kit/networks.ts';
import { type Claim, Tries } from '../kit/tries.ts';

/** Wrong tries that cost no time: for one node's name from one address, and from one address. A whole fleet may stand behind one. */
const free = { pair: 10, address: 60 } as const;
const limits = { inside: 8, waiting: 200 } as const;

export class Door {
  readonly tries: Tries;
  readonly #limits: { inside: number; waiting: number };
  #inside = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(tries = new Tries(), most: { inside: number; waiting: number } = limits) {
    this.tries = tries;
    this.#limits = most;
  }

  /**
   * @param who whom the caller claims to be: counted apart, so that a wrong one slows its neighbours later than itself
   * @throws Fail invalidToken with status 429, and whatever `act` throws
   */
  async enter<T>(ip: string, who: string, act: () => Promise<T>): Promise<T> {
    const address = neighbourhood(ip);
    const claims: Claim[] = [
      { key: `${who} ${address}`, free: free.pair },
      { key: address, free: free.address },
    ];
    const wait = this.tries.take(claims);
    if (wait) throw tooMany(wait.seconds);
    try {
      await this.#goIn();
    } catch (error) {
      this.tries.giveBack(claims); // it was not looked at
      throw error;
    }
    try {
      const answer = await act();
      this.tries.giveBack(claims);
      return answer;
    } catch (error) {
      // a failure of ours is no wrong try
      if (!(error instanceof Fail) || error.status >= 500) this.tries.giveBack(claims);
      throw error;
    } finally {
      // the place is handed on, so that nobody slips in between
      const next = this.#waiting.shift();
      if (next) next();
      else this.#inside--;
    }
  }

  async #goIn(): Promise<void> {
    if (this.#inside < this.#limits.inside) return void this.#inside++;
    if (this.#waiting.length >= this.#limits.waiting) throw tooMany(5);
    await new Promise<void>(next => this.#waiting.push(next));
  }
}

const tooMany = (seconds: number) =>
  new Fail('invalidToken', {
    status: 429,
    errorData: [{ path: '', rule: 'tooManyTries', bounds: { seconds } }],
    extra: { retryAfter: seconds },
  });
