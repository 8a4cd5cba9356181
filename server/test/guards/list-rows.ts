/** What the guard of lists (lists.ts) must know of a list; the folders' files below rows/ say it. */
import type { Area } from '#contract/kit/call.ts';
import { next } from './generate.ts';
import type { Rig, World } from './world.ts';

type Patch = Record<string, unknown>;
/** The row found, the row not found, and what the list is asked. */
export interface Pair {
  rig: Rig;
  world: World;
  found: number;
  other: number;
  ids: Record<string, number>;
}
/** What is asked, what is set in the row it finds, and in the row it does not; or, where no column says it, whatever leads there. */
type Told = readonly [asked: unknown, found: Patch, other: Patch];
export type Finds = Told | ((pair: Pair) => Promise<unknown> | Told);

/** What a guard must know of one list. */
export interface ListRows {
  /** table of the rows */
  kind: string;
  make?: (rig: Rig, world: World, area: Area, ids: Record<string, number>) => Promise<number>;
  filters?: Record<string, Finds>;
  /** where no two values can be made up */
  sort?: Record<string, (pair: Pair) => Promise<readonly [first: unknown, last: unknown]>>;
}

/** A filter on part of a text; signs of patterns stand for themselves, large letters for small ones. */
export const part =
  (...columns: string[]): Finds =>
  () => {
    const n = next();
    const last = columns.at(-1)!;
    return [`w%_${n}.X`, { [last]: `a w%_${n}.x b` }, { [last]: `a wx_${n}.x b` }];
  };
