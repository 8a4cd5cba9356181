/**
 * What is asked of whoever holds a customer's names (site DNS): which zones are there, and a TXT record of ours put and taken away. A record
 * is told from others of the same name by its value: several orders of one name have one each, side by side.
 */

import { type DnsSaid, saidText } from './said.ts';

/** As the provider knows it. */
export interface Zone {
  /** without a dot at its end */
  name: string;
  /** '': its name is all it has */
  id: string;
  /** why it answers nobody: what is written there nobody would see */
  off?: DnsSaid;
  /** it is or was delegated although it answers nobody now: names in it stand nowhere else */
  isDelegated?: boolean;
}

/** Where a record is: the account, its zone, and the name there. */
export interface Place {
  dnsID: number;
  zone: string;
  zoneID: string;
  /** `_acme-challenge.…`, or where that leads */
  name: string;
}

/** Each may be asked twice: what is there already is fine, and so is what is gone. @throws DnsProblem, OutboundError */
export interface DnsDriver {
  /** The zones that these names lie in; a name without one is left out. One that is `off` is not to be written into. */
  zones(names: readonly string[]): Promise<Map<string, Zone>>;
  put(zone: Zone, name: string, value: string): Promise<void>;
  /** This value alone. */
  take(zone: Zone, name: string, value: string): Promise<void>;
}

/** `credentials`: they are not taken. `limited`: it wants to be left alone. `away`: it, or the way to it, is down. `refused`: it said no. */
export type DnsTrouble = 'credentials' | 'limited' | 'away' | 'refused';
export class DnsProblem extends Error {
  override name = 'DnsProblem';
  readonly trouble: DnsTrouble;
  /** when it may be asked again; undefined: it did not say */
  readonly retrySeconds: number | undefined;
  /** the same in whatever language; undefined: nobody but the provider has words for it */
  readonly said: DnsSaid | undefined;

  constructor(trouble: DnsTrouble, message: string, retrySeconds?: number, said?: DnsSaid) {
    super(shown(message));
    this.trouble = trouble;
    this.retrySeconds = retrySeconds;
    this.said = said && {
      ...said,
      bounds: Object.fromEntries(
        Object.entries(said.bounds ?? {}).map(([name, bound]) => [name, typeof bound === 'string' ? shown(bound) : bound]),
      ),
    };
  }
}
/** A provider's words are shown to people, and kept: one line, as logs have room for. */
const shown = (words: string) =>
  words
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, 300)
    .toWellFormed();
/** With words in each language; its message is for the log. */
export const problemOf = (trouble: DnsTrouble, said: DnsSaid, retrySeconds?: number): DnsProblem =>
  new DnsProblem(trouble, saidText(said, 'en_US'), retrySeconds, said);

/** Whoever wants to be left alone for longer, in seconds, is asked all the same. */
export const limitSecondsMost = 900;

/** Seconds that resolvers keep a record of ours: the next order of the name has another. */
export const recordSeconds = 60;

/** `a.b.test` → a.b.test, b.test, test */
export function suffixesOf(name: string): string[] {
  const labels = name.split('.');
  return labels.map((_, i) => labels.slice(i).join('.'));
}

/**
 * Of all zones of an account those that these names lie in: the longest that fits and answers. Where none of them answers, or two of one name
 * do, it is `off`, and says why as people are told.
 */
export function zonesFor(provider: string, names: readonly string[], all: readonly Zone[]): Map<string, Zone> {
  const off = all.filter(one => one.off !== undefined);
  // one that is paused is not given up: written into the zone above, names would stand where nobody looks, and there for good
  const byName = Map.groupBy(
    [...all.filter(one => one.off === undefined), ...off.filter(one => one.isDelegated)],
    one => one.name,
  );
  const found = (name: string): Zone | undefined => {
    const suffixes = suffixesOf(name);
    const [zone, second] = suffixes.flatMap(one => byName.get(one) ?? []);
    // which of them is delegated nobody here knows
    if (zone && zone.off === undefined && second?.name === zone.name && second.off === undefined)
      return { ...zone, off: { code: 'zoneTwice', bounds: { provider, zone: zone.name } } };
    return zone ?? off.find(one => suffixes.includes(one.name));
  };
  return new Map(
    names.flatMap(name => {
      const zone = found(name);
      return zone ? [[name, zone] as const] : [];
    }),
  );
}

/** What stands before the zone in a name; '@' or what the provider says for nothing. */
export const within = (zone: Zone, name: string, bare = '@') =>
  name === zone.name ? bare : name.slice(0, -zone.name.length - 1);
