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
import { oneLine } from './servers.ts';

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
/** After some were refused again, none is tried for so long. */
const pauseMs = 5000;

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
  #isNews = false;
  #pausedUntil = -Infinity;

  constructor(now: () => number) {
    this.#now = now;
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
    return Math.max(first, this.#pausedUntil) - this.#now();
  }
  takeNews(): boolean {
    const had = this.#isNews;
    this.#isNews = false;
    return had;
  }
  /** All are tried again with whatever comes next. */
  hurry(): void {
    for (const one of this.#held.values()) one.until = -Infinity;
    this.#pausedUntil = -Infinity;
  }
  /** Some were refused again. */
  pause(): void {
    this.#pausedUntil = this.#now() + pauseMs;
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
        if (one.until <= now && this.#pausedUntil <= now) due.push([one.until, id]);
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

  /** `now`: in milliseconds, of a clock that nobody sets */
  constructor(now: () => number = () => performance.now()) {
    this.groups = new Kind(now);
    this.sites = new Kind(now);
  }

  get areSitesDue(): boolean {
    return this.sites.dueMs <= 0;
  }
  hurry(): void {
    this.groups.hurry();
    this.sites.hurry();
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
    await sql`update cname set tries = 0, error = ${why}, "errorSaid" = ${first?.said ? JSON.stringify(first.said) : null}::jsonb,
        refused = ${JSON.stringify(names.slice(0, refusedNamesMost))}::jsonb, "refusedCount" = ${names.length},
        "failingSince" = case when ${names.length > 0} then coalesce("failingSince", clock_timestamp()) end,
        "nextAt" = clock_timestamp() + ${seconds} * interval '1 second' where id = ${zone.id}`.execute(db);
  }
}

/** By zone. */
export class HeldBacks {
  readonly #all = new Map<number, HeldBack>();

  /** `isAnew`: nothing of it waits. */
  of(zoneID: number, isAnew: boolean): HeldBack {
    const back = this.#all.get(zoneID) ?? new HeldBack();
    this.#all.set(zoneID, back);
    if (isAnew) back.hurry();
    return back;
  }
  keep(zones: readonly HeldZone[]): void {
    const ids = new Set(zones.map(one => one.zone.id));
    for (const id of this.#all.keys()) if (!ids.has(id)) this.#all.delete(id);
  }
}
