/**
 * The door of the two calls that anybody may make, since nodes have no session. Wrong tries are counted by what they try (a token, a
 * node's name) and by address. Who comes wrong again and again waits, before the database is asked, unless it is one whom we expect: many
 * nodes may stand behind one address with somebody who knocks all day. And few are let in at once, address by address in turn.
 */
import { Fail } from '#contract/errors.ts';
import { neighbourhoods } from '../kit/networks.ts';
import { type Claim, Tries } from '../kit/tries.ts';
import { Turns, type TurnsOptions } from '../kit/turns.ts';

/** Wrong tries that cost no time: with one token or in one node's name from one address, and from one address. */
const free = { same: 10, address: 60 } as const;
/** Half of an address's wrong tries are forgotten after this long. */
const halvesMs = 60_000;
/** A node waits 10 s for its answer. */
const limits: TurnsOptions = { name: 'nodesAtTheDoor', lanes: [8], each: 4, waiting: 600, waitingAll: 1000, waitMs: 8000 };

export class Door {
  readonly tries: Tries;
  readonly #turns: Turns;

  constructor(tries = new Tries(), most: Partial<TurnsOptions> = {}) {
    this.tries = tries;
    this.#turns = new Turns({ ...limits, refusal: () => tooMany(5), ...most });
  }

  /**
   * @param what the token or the node that the caller names: counted apart, so that a wrong one slows its neighbours later than itself
   * @param isExpected whether we know the caller for one who is right, found out without cost worth speaking of
   * @throws Fail invalidToken with status 429, and whatever `act` and `isExpected` throw
   */
  async enter<T>(ip: string, what: string, isExpected: () => Promise<boolean>, act: () => Promise<T>): Promise<T> {
    const path = neighbourhoods(ip);
    const [, address] = path;
    const same: Claim = { key: `${what} ${address}`, free: free.same };
    const all: Claim = { key: address, free: free.address, halvesMs };
    const wait = this.tries.waits([same, all]);
    const isKnown = wait !== undefined && (await isExpected());
    if (wait && !isKnown) throw tooMany(wait.seconds);
    // of whom we expect too: an open token may be of somebody who may add nothing any more
    const mine: Claim = isKnown ? { key: `expected ${same.key}`, free: free.same } : same;
    // counted while it is under way: a thousand at once with one token are not looked at a thousand times
    const first = this.tries.take([mine]);
    if (first) throw tooMany(first.seconds);
    let isSeen = false;
    try {
      return await this.#turns.run({ lane: 0, path }, async () => {
        // what came in before it may have been wrong
        const late = isKnown ? undefined : this.tries.waits([all]);
        if (late && !(await isExpected())) throw tooMany(late.seconds);
        isSeen = true;
        const answer = await act();
        this.tries.giveBack([mine]);
        this.tries.halve([all]);
        return answer;
      });
    } catch (error) {
      // a failure of ours is no wrong try
      const isWrong = isSeen && error instanceof Fail && error.status < 500;
      if (isWrong) this.tries.count([all]);
      else this.tries.undo([mine]);
      throw error;
    }
  }
}

const tooMany = (seconds: number) =>
  new Fail('invalidToken', {
    status: 429,
    errorData: [{ path: '', rule: 'tooManyTries', bounds: { seconds } }],
    extra: { retryAfter: seconds },
  });
