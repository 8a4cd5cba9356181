/**
 * The queue before what there is little of: connections, and threads that hash. Whoever comes waits here, in memory, before anything
 * is taken. Parties stand in a tree (an address in its network, a customer under its operator) below the lanes, and at each
 * level it is the turn of whoever has least under way, then of whoever waits longest since its last turn; where there is no
 * more room to wait, whoever has most waiting gives way. So many parties in one hand get no more than one.
 */
import type { FastifyRequest } from 'fastify';
import { Fail } from '#contract/errors.ts';
import type { Area } from '#contract/kit/call.ts';
import type { Actor } from './actor.ts';
import { type QueueMeter, queueOf } from './metrics.ts';
import { neighbourhoods } from './networks.ts';

export interface TurnsOptions {
  /** names the queue in the metrics */
  name: string;
  /** Under way at once: in the first lane, in the first two together, and so on. What a lane may not take is kept for those after it. */
  lanes: readonly number[];
  /** Of one party. A second one begins only where nobody else could. */
  each: number;
  /** Part of its lane that may be under way when a second one of some party begins; the rest is for whoever comes. By default half. */
  seconds?: number;
  /** of one party that may wait; one more is refused */
  waiting: number;
  /** that may wait in all: what a body holds stays in memory meanwhile */
  waitingAll: number;
  /** who has waited for so long is refused */
  waitMs: number;
  /**
   * The refusal. By default, with Retry-After, 429 where the party has as many waiting as one may: it met its own limit; else 503, as when
   * PostgreSQL is busy.
   */
  refusal?: (isOwnLimit: boolean) => Fail;
}
export interface Party {
  lane: number;
  /** from the widest that counts as one to the narrowest */
  path: readonly string[];
}
/** The connection over which somebody waits: once it is closed nobody does. */
export interface Line {
  destroyed: boolean;
  once(event: 'close', heard: () => void): unknown;
  off(event: 'close', heard: () => void): unknown;
}

interface Waiting {
  begin: () => void;
  refuse: () => void;
}

const retryAfter = 5;
const refusalDefault = (isOwnLimit: boolean): Fail =>
  isOwnLimit
    ? new Fail('parameter', {
        status: 429,
        errorData: [{ path: '', rule: 'tooManyCalls', bounds: { seconds: retryAfter } }],
        extra: { retryAfter },
      })
    : new Fail('database', { status: 503 });

class Group {
  readonly parent: Group | undefined;
  readonly name: string;
  readonly lane: number;
  /** itself, and all that it stands in */
  readonly chain: readonly Group[];
  readonly groups = new Map<string, Group>();
  readonly queue: Waiting[] = [];
  running = 0;
  waiting = 0;
  /** when its last turn began or ended, or when it came */
  last: number;

  constructor(parent: Group | undefined, name: string, lane: number, now: number) {
    this.parent = parent;
    this.name = name;
    this.lane = lane;
    this.last = now;
    this.chain = [this, ...(parent?.chain ?? [])];
    parent?.groups.set(name, this);
  }
}

export class Turns {
  readonly #options: TurnsOptions;
  readonly #all = new Group(undefined, '', -1, 0);
  readonly #lanes: Group[];
  readonly #meter: QueueMeter;
  /** counts what happens */
  #now = 0;

  constructor(options: TurnsOptions) {
    this.#options = options;
    this.#lanes = options.lanes.map((_, lane) => new Group(this.#all, String(lane), lane, 0));
    this.#meter = queueOf(options.name, this, ({ waiting, running }) => ({ waiting, running }));
  }

  get running() {
    return this.#all.running;
  }
  get waiting() {
    return this.#all.waiting;
  }
  /** of whom something is known: those that wait or are under way */
  get parties(): number {
    const below = (group: Group): number =>
      group.groups.size === 0 ? 1 : [...group.groups.values()].reduce((sum, one) => sum + below(one), 0);
    return this.#lanes.reduce((sum, lane) => sum + (lane.groups.size && below(lane)), 0);
  }

  /** Whether anybody waits for room, and not for what they have under way themselves. */
  get isShort(): boolean {
    const { each } = this.#options;
    const waits = (group: Group): boolean =>
      (group.queue.length > 0 && group.running < each) || [...group.groups.values()].some(waits);
    return waits(this.#all);
  }

  async run<T>(party: Party, act: () => Promise<T>, line?: Line): Promise<T> {
    const group = this.#groupOf(party);
    // whoever could begin has begun: nobody who waits is passed by
    if (this.#hasRoom(group)) this.#turn(group, 1);
    else await this.#wait(group, line);
    try {
      return await act();
    } finally {
      this.#turn(group, -1);
      this.#forget(group);
      this.#beginNext();
    }
  }

  #groupOf({ lane, path }: Party): Group {
    let group = this.#lanes[lane]!;
    for (const name of path) group = group.groups.get(name) ?? new Group(group, name, lane, ++this.#now);
    return group;
  }

  #hasRoom({ lane, running }: Group): boolean {
    const { lanes, each, seconds = 0.5 } = this.#options;
    if (running >= each) return false;
    let underWay = 0;
    return lanes.every((most, i) => {
      underWay += this.#lanes[i]!.running;
      return i < lane || underWay < (running ? Math.floor(most * seconds) : most);
    });
  }

  /** begins (1) or ends (-1) */
  #turn(group: Group, change: 1 | -1) {
    this.#now++;
    for (const one of group.chain) {
      one.running += change;
      one.last = this.#now;
    }
  }

  #wait(group: Group, line?: Line): Promise<void> {
    return new Promise((resolve, reject) => {
      const since = performance.now();
      const leave = () => {
        clearTimeout(timer);
        line?.off('close', left);
        for (const each of group.chain) each.waiting--;
        group.queue.splice(group.queue.indexOf(one), 1);
      };
      const refuse = (why: 'own' | 'room' | 'left') => {
        leave();
        this.#meter.refused(why);
        this.#forget(group);
        reject((this.#options.refusal ?? refusalDefault)(why === 'own'));
      };
      const left = () => refuse('left');
      const one: Waiting = {
        begin: () => {
          leave();
          this.#meter.waited((performance.now() - since) / 1000);
          this.#turn(group, 1);
          resolve();
        },
        refuse: () => refuse('room'),
      };
      const timer = setTimeout(one.refuse, this.#options.waitMs).unref();
      line?.once('close', left);
      group.queue.push(one);
      for (const each of group.chain) each.waiting++;
      if (line?.destroyed) left();
      else if (group.queue.length > this.#options.waiting) refuse('own');
      else if (this.waiting > this.#options.waitingAll) this.#fullest(group).queue.at(-1)!.refuse();
    });
  }

  #beginNext() {
    let next: Group | undefined;
    while ((next = this.#next(this.#all, 0) ?? this.#next(this.#all, 1))) next.queue[0]!.begin();
  }

  /** Whose turn it is below a group, of those that have as many under way (0: none, 1: some). */
  #next(group: Group, underWay: 0 | 1): Group | undefined {
    if (group.queue.length && Math.min(group.running, 1) === underWay && this.#hasRoom(group)) return group;
    let first: Group | undefined;
    let found: Group | undefined;
    for (const one of group.groups.values()) {
      if (!one.waiting || (first && (one.running - first.running || one.last - first.last) > 0)) continue;
      const below = this.#next(one, underWay);
      if (below) [first, found] = [one, below];
    }
    return found;
  }

  /** The party with most waiting, at each level; of those that have as many it is `mine`, else the newest. */
  #fullest(mine: Group): Group {
    let group = this.#all;
    while (!group.queue.length) {
      let most: Group | undefined;
      for (const one of group.groups.values())
        if (!most || one.waiting > most.waiting || (one.waiting === most.waiting && !mine.chain.includes(most))) most = one;
      group = most!;
    }
    return group;
  }

  #forget(group: Group) {
    for (const one of group.chain) {
      if (one.running || one.waiting || one.parent === this.#all) break;
      one.parent!.groups.delete(one.name);
    }
  }
}

const lanes: Record<Area, number> = { user: 0, client: 1, admin: 2 };
/**
 * Customers never have everything in their hands, nor do operators: what an operator must do about a customer's flood goes on
 * during the flood, and so does what an admin must do about an operator's.
 */
export const lanesOf = (most: number): number[] => [0.6, 0.8, 1].map(share => Math.ceil(most * share));

/** A root account is one party; the customers of one operator are one beside those of another. */
export const partyOf = ({ area, clientID, rootID }: Pick<Actor, 'area' | 'clientID' | 'rootID'>): Party => ({
  lane: lanes[area],
  path: area === 'user' ? [`operator ${clientID}`, `root ${rootID}`] : [`root ${rootID}`],
});

/** Does what a call does when it is its turn. */
export type Turn = <T>(request: FastifyRequest, act: () => Promise<T>) => Promise<T>;

/** Whoever writes waits for the rows of its root account, or of its site, and would hold a connection meanwhile. */
export const turnsToWrite = (most: number): Turn => turnsOf(most, { name: 'writes', each: 2, waiting: 30, waitingAll: 500 });
/** Each statement that reads. What waits is small, and a page asks for much at once. */
export const turnsToRead = (most: number): Turn =>
  turnsOf(most, { name: 'reads', each: most, seconds: 0.75, waiting: 300, waitingAll: 3000 });

function turnsOf(most: number, options: Omit<TurnsOptions, 'lanes' | 'waitMs'>): Turn {
  const turns = new Turns({ ...options, lanes: lanesOf(most), waitMs: 10_000 });
  return ({ actor, ip, raw }, act) =>
    turns.run(actor ? partyOf(actor) : { lane: 0, path: ['strangers', ...neighbourhoods(ip)] }, act, raw.socket);
}
