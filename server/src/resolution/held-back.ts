/**
 * What a zone's name server refused of single names, each with why and until when it waits: all others go on meanwhile, and a node that fails
 * leaves its group whatever is said of a site's name. A few of them are tried again at a time, and by themselves: with others they would use up
 * how often a provider may say no (apart.ts), and many would take up the time of those that fail.
 */
import { sql } from 'kysely';
import { refusedNamesMost } from '#contract/resolution/dns-setting.ts';
import type { Db } from '../store/db.ts';
import type { Refusal } from './apart.ts';
import type { HeldZone } from './load.ts';
import { jsonOfLines, oneLine } from './servers.ts';

/** What is wanted of something that is to go: as no version, and no group, is called. */
export const gone = -1;

/** A name as it is written down. */
export interface RefusedName {
  name: string;
  why: string;
  said: Refusal<unknown>['said'] | null;
}
/** How long one waits at the most: what stands in its way is taken away by people, who may say so (“Compare everything”). */
const waitsMost = 300;
/** So many are tried again at first, and twice as many after each time that none was refused. */
export const retriesAtOnce = 4;
/** After some were refused again none is tried for so long, of no zone at that name server. */
const pauseMs = 5000;
/** Zones that one waits for. */
const turnsMost = 12;
/** Nor of those that nothing is known of yet, where nearly all were refused. */
const againMs = 15_000;
/** What zones at one name server have in common. */
interface Shared {
  until: number;
  zones: number;
}

interface Held extends RefusedName {
  /** what it was to become: anything else is tried at once */
  wanted: number;
  tries: number;
  until: number;
}

/** By id: groups, or sites. */
class Kind {
  readonly #held = new Map<number, Held>();
  readonly #now: () => number;
  readonly #pausedUntil: () => number;
  #isNews = false;

  constructor(now: () => number, pausedUntil: () => number) {
    this.#now = now;
    this.#pausedUntil = pausedUntil;
  }

  get ids(): number[] {
    return [...this.#held.keys()];
  }
  get names(): RefusedName[] {
    return [...this.#held.values()].map(({ name, why, said }) => ({ name, why, said }));
  }
  /** milliseconds from now; Infinity: nothing waits */
  get dueMs(): number {
    let first = Infinity;
    for (const { until } of this.#held.values()) first = Math.min(first, until);
    return Math.max(first, this.#pausedUntil()) - this.#now();
  }
  takeNews(): boolean {
    const had = this.#isNews;
    this.#isNews = false;
    return had;
  }
  /** All are tried again with whatever comes next. */
  hurry(): void {
    // in the order in which they were tried last: else those in front would be tried again and again, and the others never
    for (const one of this.#held.values()) one.until = Math.min(one.until, this.#now());
  }

  /**
   * Those that were refused and are wanted as they were: `all`, and of them those whose turn it is, who waited longest first. What is wanted of
   * nothing any more is forgotten; what is wanted otherwise is none of them.
   */
  of(wanted: ReadonlyMap<number, number>): { all: Set<number>; due: number[] } {
    const all = new Set<number>();
    const due: [number, number][] = [];
    const now = this.#now();
    for (const [id, one] of this.#held) {
      if (!wanted.has(id)) this.#isNews = this.#held.delete(id);
      else if (one.wanted === wanted.get(id)) {
        all.add(id);
        if (one.until <= now && this.#pausedUntil() <= now) due.push([one.until, id]);
      }
    }
    return { all, due: due.sort((a, b) => a[0] - b[0]).map(([, id]) => id) };
  }

  tried(
    ids: readonly number[],
    wanted: ReadonlyMap<number, number>,
    refusals: readonly Refusal<number>[],
    nameOf: (id: number) => string,
  ): void {
    const refused = new Map(refusals.map(one => [one.part, one]));
    for (const id of ids) {
      const why = refused.get(id);
      const before = this.#held.get(id);
      if (!why) {
        if (before) this.#isNews = this.#held.delete(id);
        continue;
      }
      const is = wanted.get(id) ?? gone;
      const tries = before?.wanted === is ? before.tries : 0;
      const seconds = Math.min(waitsMost, 2 ** Math.min(tries, 10));
      this.#held.set(id, {
        name: nameOf(id),
        why: oneLine(why.why),
        said: why.said ?? null,
        wanted: is,
        tries: tries + 1,
        until: this.#now() + seconds * 1000,
      });
      this.#isNews = true;
    }
  }
}

export class HeldBack {
  readonly groups: Kind;
  readonly sites: Kind;
  /** what nobody knows any more, and is not to be taken away: tried with each comparison */
  #strange: RefusedName[] = [];
  #isNews = false;

  readonly #now: () => number;
  readonly #shared: Shared;
  #pausedUntil = -Infinity;
  #hadTurnAt = -Infinity;
  /** names that are tried at a time, of those that nothing is known of */
  #namesMost = Infinity;
  #againAt = Infinity;

  /** `now`: in milliseconds, of a clock that nobody sets */
  constructor(now: () => number = () => performance.now(), shared: Shared = { until: -Infinity, zones: 1 }) {
    this.#now = now;
    this.#shared = shared;
    const pausedUntil = () => Math.max(this.#pausedUntil, shared.until);
    this.groups = new Kind(now, pausedUntil);
    this.sites = new Kind(now, pausedUntil);
  }

  /** While only a few are tried at a time nobody is tried in between, whose turn it might be otherwise. */
  get areSitesDue(): boolean {
    return Number.isFinite(this.#againAt) ? this.#againAt <= this.#now() : this.sites.dueMs <= 0;
  }
  /** when some of its names were refused again last, or were more than its turn had time for */
  get hadTurnAt(): number {
    return this.#hadTurnAt;
  }
  get namesMost(): number {
    return this.#namesMost;
  }
  begin(): void {
    this.#againAt = Infinity;
  }
  /** Nearly all of many names were refused, or some of a few: a few are tried the next time. */
  again(most: number): void {
    this.#namesMost = most;
    this.#againAt = this.#now() + againMs;
  }
  /** None of those that nothing was known of was refused, or not more than some. */
  more(): void {
    this.#namesMost *= 2;
  }
  /** Other zones have their turn first. */
  endTurn(): void {
    this.#hadTurnAt = this.#now();
  }
  /** Some were refused again: other zones there have their turn first. */
  pause(): void {
    this.endTurn();
    this.#shared.until = this.#now() + pauseMs;
    this.#pausedUntil = this.#now() + pauseMs * Math.min(this.#shared.zones, turnsMost);
  }
  hurry(): void {
    this.groups.hurry();
    this.sites.hurry();
    this.#pausedUntil = -Infinity;
  }
  setStrange(all: readonly RefusedName[]): void {
    this.#isNews ||= all.length > 0 || this.#strange.length > 0;
    this.#strange = [...all];
  }
  get names(): RefusedName[] {
    return [...this.groups.names, ...this.sites.names, ...this.#strange];
  }

  /**
   * The zone is through: its row says what was refused, or what else is to be said (`lacks`). `isAnew`: that may be something else than before.
   */
  async note(db: Db, { zone, isFailing, error }: HeldZone, isAnew: boolean, lacks: () => string): Promise<void> {
    const news = [this.groups.takeNews(), this.sites.takeNews(), this.#isNews].includes(true);
    this.#isNews = false;
    if (!news && !isAnew) return;
    const names = this.names;
    const [first] = names;
    const why = first?.why ?? oneLine(lacks());
    // a zone that was made to try again at once is failing without a try
    if (!news && error === why && isFailing === names.length > 0) return;
    const waitMs = Math.min(this.groups.dueMs, this.sites.dueMs);
    const seconds = Number.isFinite(waitMs) ? Math.max(0, waitMs / 1000) : 0;
    // that it failed as a whole before says nothing of since when names of sites have been refused
    const isNow = this.groups.names.length === 0;
    await sql`update cname set tries = 0, error = ${why}, "errorSaid" = ${first?.said ? jsonOfLines(first.said) : null}::jsonb,
        refused = ${jsonOfLines(names.slice(0, refusedNamesMost))}::jsonb, "refusedCount" = ${names.length},
        "failingSince" = case when ${!names.length} then null when ${isNow} and tries > 0 then clock_timestamp() else coalesce("failingSince", clock_timestamp()) end,
        "nextAt" = clock_timestamp() + ${seconds} * interval '1 second' where id = ${zone.id}`.execute(db);
  }
}

/** An operator's zones at one name server. */
export const placeOf = ({ server, clientID }: Pick<HeldZone, 'server' | 'clientID'>): string => `${server} ${clientID}`;

/** By zone. */
export class HeldBacks {
  readonly #all = new Map<number, { server: string; back: HeldBack }>();
  readonly #shared = new Map<string, Shared>();
  readonly #now: (() => number) | undefined;

  constructor(now?: () => number) {
    this.#now = now;
  }

  /** `isAnew`: nothing of it waits. */
  of(held: Pick<HeldZone, 'zone' | 'server' | 'clientID'>, isAnew: boolean): HeldBack {
    const { id } = held.zone;
    const server = placeOf(held);
    const known = this.#all.get(id);
    const one = known?.server === server ? known : { server, back: new HeldBack(this.#now, this.#sharedOf(server)) };
    this.#all.set(id, one);
    if (isAnew) one.back.hurry();
    return one.back;
  }
  /** Who had a turn longest ago is first: however many zones there are, each has its turn. */
  inTurn(zones: readonly HeldZone[]): HeldZone[] {
    const at = ({ zone }: HeldZone) => this.#all.get(zone.id)?.back.hadTurnAt ?? -Infinity;
    return zones.toSorted((one, other) => (at(one) < at(other) ? -1 : at(one) > at(other) ? 1 : 0));
  }
  /**
   * Zones at one name server, one after the other. @returns whether one of them had its turn since: no names of the others are begun then, so
   * that no group waits for names of more than one. They come first in the next: each of them had its own longer ago.
   */
  turnOf(zones: readonly HeldZone[]): () => boolean {
    const since = (this.#now ?? (() => performance.now()))();
    return () => zones.some(({ zone }) => (this.#all.get(zone.id)?.back.hadTurnAt ?? -Infinity) >= since);
  }
  #sharedOf(server: string): Shared {
    const shared = this.#shared.get(server) ?? { until: -Infinity, zones: 1 };
    this.#shared.set(server, shared);
    return shared;
  }
  keep(zones: readonly HeldZone[]): void {
    const ids = new Set(zones.map(one => one.zone.id));
    for (const id of this.#all.keys()) if (!ids.has(id)) this.#all.delete(id);
    const servers = Map.groupBy(zones, placeOf);
    for (const [server, shared] of this.#shared) {
      const held = servers.get(server);
      if (held) shared.zones = held.length;
      else this.#shared.delete(server);
    }
  }
}
