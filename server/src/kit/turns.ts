/**
 * Who may use what there is little of: connections that write, threads that hash. Whoever comes waits here, in memory,
 * before anything is taken; whose turn it is goes round by key, so that a thousand calls of one hold up nobody but itself.
 */
import type { FastifyRequest } from 'fastify';
import { Fail } from '#contract/errors.ts';
import type { Area } from '#contract/kit/call.ts';
import { neighbourhood } from './networks.ts';

export interface TurnsOptions {
  /** under way at once */
  most: number;
  /** of one key */
  each: number;
  /** of one key that may wait; one more is refused */
  waiting: number;
  /** who has waited for so long is refused */
  waitMs: number;
  /** the refusal; by default 503 with Retry-After, as when PostgreSQL is busy */
  refusal?: () => Fail;
}
/** Of all keys together. What a body holds stays in memory meanwhile. */
const waitingMax = 1000;

interface Waiting {
  share: number;
  begin: () => void;
}
interface Lane {
  running: number;
  /** when it had its last turn, in turns */
  last: number;
  waiting: Waiting[];
}

export class Turns {
  readonly #lanes = new Map<string, Lane>();
  readonly #options: TurnsOptions;
  #running = 0;
  #begun = 0;
  #waiting = 0;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  get running() {
    return this.#running;
  }
  get waiting() {
    return this.#waiting;
  }

  /** `share`: the part of `most`, up to 1, beyond which this one does not begin: the rest is kept for others. */
  async run<T>(key: string, act: () => Promise<T>, share = 1): Promise<T> {
    await this.#take(key, Math.max(1, Math.ceil(this.#options.most * share)));
    try {
      return await act();
    } finally {
      this.#giveBack(key);
    }
  }

  #take(key: string, share: number): Promise<void> | undefined {
    const { each, waiting, waitMs } = this.#options;
    let lane = this.#lanes.get(key);
    if (!lane) this.#lanes.set(key, (lane = { running: 0, last: 0, waiting: [] }));
    if (!lane.waiting.length && lane.running < each && this.#running < share) {
      this.#begin(lane);
      return undefined;
    }
    if (lane.waiting.length >= waiting || this.#waiting >= waitingMax) {
      this.#forget(key, lane);
      throw this.#refusal();
    }
    const mine = lane;
    return new Promise((resolve, reject) => {
      const one: Waiting = {
        share,
        begin: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        mine.waiting.splice(mine.waiting.indexOf(one), 1);
        this.#waiting--;
        this.#forget(key, mine);
        reject(this.#refusal());
      }, waitMs).unref();
      mine.waiting.push(one);
      this.#waiting++;
    });
  }

  #giveBack(key: string) {
    const lane = this.#lanes.get(key)!;
    lane.running--;
    this.#running--;
    this.#forget(key, lane);
    while (this.#next());
  }

  /** The one whose key has waited for longest since its last turn. */
  #next(): boolean {
    let next: Lane | undefined;
    for (const lane of this.#lanes.values()) {
      const [first] = lane.waiting;
      if (!first || lane.running >= this.#options.each || this.#running >= first.share) continue;
      if (!next || lane.last < next.last) next = lane;
    }
    if (!next) return false;
    this.#waiting--;
    this.#begin(next);
    next.waiting.shift()!.begin();
    return true;
  }

  #begin(lane: Lane) {
    lane.last = ++this.#begun;
    lane.running++;
    this.#running++;
  }

  #forget(key: string, lane: Lane) {
    if (!lane.running && !lane.waiting.length) this.#lanes.delete(key);
  }

  #refusal = () => this.#options.refusal?.() ?? new Fail('database', { status: 503 });
}

/** Does what a call does when it is its turn. */
export type Turn = <T>(request: FastifyRequest, act: () => Promise<T>) => Promise<T>;

/**
 * Whoever writes waits for the rows of its root account, or of its site, and would hold a connection meanwhile. So each
 * root has two that write at once, and the connections are never all in the hands of customers: what an operator must
 * do about a customer's flood goes on during the flood, and so does what an admin must do about an operator's.
 */
export function turnsToWrite(most: number): Turn {
  const turns = new Turns({ most, each: 2, waiting: 30, waitMs: 10_000 });
  return ({ actor, ip }, act) =>
    turns.run(actor ? `root ${actor.rootID}` : `address ${neighbourhood(ip)}`, act, shares[actor?.area ?? 'user']);
}
const shares: Record<Area, number> = { user: 0.6, client: 0.8, admin: 1 };
