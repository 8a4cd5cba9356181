/** Name servers as whoever steers speaks to them: one driver each, for as long as it is the same. */
import { type Told, troubleOf } from '../domain/dns/accounts.ts';
import { DnsProblem } from '../domain/dns/driver.ts';
import type { NameDriver } from './driver.ts';
import type { ServerSetting } from './drivers.ts';
import { embedded, type HeldZone } from './load.ts';

/** Whoever said nothing of when is asked again after so many seconds at most. */
export const retrySecondsMost = 15;

/** It needs no more than its kind. */
const embeddedSetting: ServerSetting = {
  driver: embedded,
  server: '',
  keyName: '',
  algorithm: 'hmacSHA256',
  credentials: null,
  facts: { operator: [], environment: [], own: [] },
};

/** What whoever steers knows of one. */
export interface ServerNotes {
  /** when it was looked whether its zones are there */
  lookedAt: number;
  /** zones that it was told last; and those that it has taken, none yet: undefined */
  list: ReadonlyMap<number, { zone: HeldZone['zone']; told: string }> | undefined;
  taken: readonly number[] | undefined;
}

/** Of what is no more nothing is kept. */
export function keepOnly<T>(known: Pick<Map<T, unknown>, 'keys' | 'delete'>, wanted: readonly T[]): void {
  const all = new Set(wanted);
  for (const one of known.keys()) if (!all.has(one)) known.delete(one);
}

export class Servers {
  /** by `HeldZone.server` */
  readonly #drivers = new Map<string, NameDriver>();
  readonly #notes = new Map<string, ServerNotes>();
  readonly #make: (setting: ServerSetting) => NameDriver | undefined;

  constructor(make: (setting: ServerSetting) => NameDriver | undefined) {
    this.#make = make;
  }

  /** Undefined: this installation has none of the kind. @throws DnsProblem where it cannot be spoken to at all */
  of({ server, setting }: Pick<HeldZone, 'server' | 'setting'>): NameDriver | undefined {
    const known = this.#drivers.get(server);
    if (known) return known;
    const made = this.#make(setting);
    if (made) this.#drivers.set(server, made);
    return made;
  }

  notesOf(server: string): ServerNotes {
    const known = this.#notes.get(server) ?? { lookedAt: -Infinity, list: undefined, taken: undefined };
    this.#notes.set(server, known);
    return known;
  }
  /** Somebody else may have told them something since. */
  forget(): void {
    this.#notes.clear();
  }

  embedded = () => this.of({ server: embedded, setting: embeddedSetting });

  /** All that are to be told their zones: the embedded one also where it has none any more. */
  all(zones: readonly HeldZone[]): string[] {
    const all = new Set(zones.map(one => one.server));
    if (this.embedded()) all.add(embedded);
    // with another key it is another
    for (const known of [this.#drivers, this.#notes]) keepOnly(known, [...all]);
    return [...all];
  }
}

/** What went wrong in words, and in how many seconds it may be asked again where it says so. */
export function whyOf(error: unknown): Told {
  if (typeof error === 'string') return { why: error, said: undefined };
  try {
    return troubleOf(error);
  } catch {
    // whatever else is thrown is an error
    return { why: (error as Error).message, said: undefined };
  }
}

/** What somebody else's name server says goes into a row and onto a screen: PostgreSQL takes no NUL, and nobody wants more than a line. */
export const oneLine = (said: string) =>
  said
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, 500)
    .toWellFormed();
/** The same of each text in it: names that stand there are somebody else's words, too. */
export const jsonOfLines = (told: unknown): string =>
  JSON.stringify(told, (_, one: unknown) => (typeof one === 'string' ? oneLine(one) : one));

export const split = <T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] => [
  all.filter(isFirst),
  all.filter(one => !isFirst(one)),
];

/**
 * What a provider refuses of one thing keeps no other from it: neither a node that fails from leaving, nor a new site from its name. `wrong`:
 * what was, the first of it first.
 */
export function partsOf() {
  const wrong: unknown[] = [];
  /** of whatever goes wrong */
  const anyway = <T>(act: Promise<T>): Promise<T | undefined> =>
    act.catch((error: unknown) => {
      wrong.push(error);
      return undefined;
    });
  const apart = <T>(act: Promise<T>): Promise<T | undefined> =>
    act.catch((error: unknown) => {
      if (!(error instanceof DnsProblem) || error.trouble !== 'refused') throw error;
      wrong.push(error);
      return undefined;
    });
  return { apart, anyway, wrong };
}
