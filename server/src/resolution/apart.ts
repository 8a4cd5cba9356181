/** Things that are done together: what is refused of one keeps no other from being done. */
import { shuffled } from '../kit/shuffled.ts';
import { DnsProblem } from '../domain/dns/driver.ts';
import type { DnsSaid } from '../domain/dns/said.ts';

export interface Refusal<T> {
  part: T;
  why: string;
  /** the same in whatever language; undefined: in its own words alone */
  said: DnsSaid | undefined;
}
/** Everything else was done. */
export class PartRefused<T> extends DnsProblem {
  /** of each its own */
  readonly refusals: readonly Refusal<T>[];

  constructor(refusals: readonly Refusal<T>[]) {
    const [first] = refusals;
    const why = first?.why ?? '';
    super('refused', refusals.length > 1 ? `${why} (and ${refusals.length - 1} more)` : why, undefined, first?.said);
    this.refusals = refusals;
  }
  get parts(): T[] {
    return this.refusals.map(one => one.part);
  }
}
export const refusalOf = <T>(part: T, { message, said }: Pick<DnsProblem, 'message' | 'said'>): Refusal<T> => ({
  part,
  why: message,
  said,
});

/** What was refused, where everything else was done. */
export async function exceptRefused<T>(act: Promise<void>): Promise<PartRefused<T> | undefined> {
  try {
    await act;
    return undefined;
  } catch (error) {
    if (error instanceof PartRefused) return error as PartRefused<T>; // of what the driver was given
    throw error;
  }
}

/** The same of a few, each of which was refused before: what is said of all of them is said of each. */
export async function refusedOf<T>(some: readonly T[], act: Promise<void>): Promise<readonly Refusal<T>[]> {
  try {
    return (await exceptRefused<T>(act))?.refusals ?? [];
  } catch (error) {
    if (!(error instanceof DnsProblem) || error.trouble !== 'refused') throw error;
    return some.map(one => refusalOf(one, error));
  }
}

/** So many of which nobody knows anything can all be refused without using up how often it may say no. */
export const triedApartMost = 12;
/**
 * All at once; where that is refused as a whole, as of nearly all it is, a few at a time. @throws DnsProblem where it is refused of a few as
 * well: then it is no part that is to blame
 */
export async function aFewAtATime<T>(
  all: readonly T[],
  act: (some: readonly T[]) => Promise<readonly Refusal<T>[]>,
): Promise<Refusal<T>[]> {
  try {
    return [...(await act(all))];
  } catch (error) {
    if (!(error instanceof DnsProblem) || error.trouble !== 'refused' || all.length <= triedApartMost) throw error;
  }
  const mixed = shuffled(all);
  const refused: Refusal<T>[] = [];
  for (let from = 0; from < mixed.length; from += triedApartMost)
    refused.push(...(await act(mixed.slice(from, from + triedApartMost))));
  return refused;
}
/** So often it may say no: at first, and more for each yes. Whoever says it to everything is not asked thing by thing. */
const refusals = { first: 24, each: 12 };
const halves = <T>(some: readonly T[]) =>
  [some.slice(0, some.length >> 1), some.slice(some.length >> 1)].filter(half => half.length);
/**
 * All at once; where that is refused in halves, down to the one that is to blame. @param mayBePart whether such a refusal may be for the
 * sake of one of them @throws PartRefused when all others are done, and whatever else `act` throws
 */
export async function inHalves<T>(
  all: readonly T[],
  act: (some: readonly T[]) => Promise<void>,
  mayBePart: (error: DnsProblem) => boolean,
): Promise<void> {
  const stack = [all];
  const refused: Refusal<T>[] = [];
  let left = refusals.first;
  // the last first, half by half: those that are good come in between, however many others there are
  for (let some = stack.pop(); some; some = stack.pop())
    try {
      await act(some);
      left += refusals.each;
    } catch (error) {
      if (error instanceof PartRefused) {
        refused.push(...(error.refusals as readonly Refusal<T>[])); // what `act` was given
      } else if (!(error instanceof DnsProblem) || !mayBePart(error) || --left < 0) throw error;
      // those to blame may stand side by side, and would all be met before anybody who is not
      else if (some === all && all.length > 1) stack.push(...halves(shuffled(all)));
      else if (some.length > 1) stack.push(...halves(some));
      else refused.push(...some.map(one => refusalOf(one, error)));
    }
  if (refused.length) throw new PartRefused(refused);
}
