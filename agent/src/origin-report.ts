/**
 * What a node says of the origins it asks, in its heartbeat. There is room for some of them alone, and customers may have any number that
 * are not well: they take turns, so that nobody's crowd out another's. Pure.
 */
import type { Party } from './turns.ts';

export interface OriginTrouble {
  host: string;
  /** as the domain names it */
  origin: string;
  address: string;
  port: number;
  error: string;
  /** ISO 8601: since when it is so */
  since: string;
  isDown: boolean;
}
/** One that was down and is not any more. */
export type OriginBack = Pick<OriginTrouble, 'host' | 'origin' | 'port' | 'since'>;
export interface OriginReport {
  checked: number;
  wrong: number;
  troubles: OriginTrouble[];
  back: OriginBack[];
  /** what it does not name is well: all were asked since it began, and none is left out */
  whole: boolean;
}
/** How one that is asked is now. */
export interface OriginState {
  party: Party;
  host: string;
  origin: string;
  address: string;
  port: number;
  error: string | null;
  since: string;
  isDown: boolean;
  /** ISO 8601: since when it is down no more; null: it was not */
  backAt: string | null;
}
export interface ReportRoom {
  troubles: number;
  back: number;
  /** of both together */
  bytes: number;
}

/** As many as there is room for, one of each party in turn, of each in the order given. */
function inTurn<T, Said>(
  all: readonly T[],
  partyOf: (one: T) => Party,
  say: (one: T) => Said,
  most: number,
  bytes: number,
): [Said[], number] {
  const rounds: T[][] = [];
  const counts = new Map<Party, number>();
  for (const one of all) {
    const round = counts.get(partyOf(one)) ?? 0;
    counts.set(partyOf(one), round + 1);
    (rounds[round] ??= []).push(one);
  }
  const said: Said[] = [];
  let left = bytes;
  for (const one of rounds.flat()) {
    if (said.length >= most) break;
    const words = say(one);
    const size = Buffer.byteLength(JSON.stringify(words)) + 1;
    if (size > left) continue;
    left -= size;
    said.push(words);
  }
  return [said, left];
}

const newest = <T>(all: T[], at: (one: T) => string): T[] => all.sort((a, b) => (at(a) < at(b) ? 1 : -1));
const originOf = ({ host, origin, port }: OriginState) => `${host} ${origin} ${port}`;

/** @param settled whether all were asked since the agent began, and all are among `states` that should be asked */
export function originReport(states: Iterable<OriginState>, settled: boolean, room: ReportRoom): OriginReport {
  const all = [...states];
  const wrong = newest(
    all.filter(one => one.isDown || one.error !== null),
    one => one.since,
  );
  const ill = new Set(wrong.map(originOf));
  // a name has several addresses: it is back when none of them fails
  const well = new Map(
    all.flatMap(one => (one.backAt !== null && !ill.has(originOf(one)) ? [[originOf(one), one] as const] : [])),
  );
  const partyOf = ({ party }: OriginState) => party;
  const [troubles, left] = inTurn(
    wrong,
    partyOf,
    ({ host, origin, address, port, error, since, isDown }) => ({
      host,
      origin,
      address,
      port,
      error: error ?? 'RISING',
      since,
      isDown,
    }),
    room.troubles,
    Math.round((room.bytes * 3) / 4),
  );
  const [back] = inTurn(
    newest([...well.values()], one => one.backAt ?? ''),
    partyOf,
    ({ host, origin, port, backAt }) => ({ host, origin, port, since: backAt ?? '' }),
    room.back,
    left + Math.round(room.bytes / 4),
  );
  return { checked: all.length, wrong: wrong.length, troubles, back, whole: settled && troubles.length === wrong.length };
}
