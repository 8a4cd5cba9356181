/** Things that are done together: what is refused of one keeps no other from being done. */
import { DnsProblem } from '../domain/dns/driver.ts';

/** Everything else was done. */
export class PartRefused<T> extends DnsProblem {
  readonly parts: readonly T[];
  /** of the first of them */
  readonly why: string;

  constructor(parts: readonly T[], why: string) {
    super('refused', parts.length > 1 ? `${why} (and ${parts.length - 1} more)` : why);
    this.parts = parts;
    this.why = why;
  }
}

/** So often it may say no to one change: whoever says it to everything is not asked thing by thing. */
const refusalsMost = 24;
/**
 * All at once; where that is refused in halves, down to the one that is to blame. @param mayBePart whether such a refusal may be for the
 * sake of one of them @throws PartRefused when all others are done, and whatever else `act` throws
 */
export async function inHalves<T>(
  all: readonly T[],
  act: (some: readonly T[]) => Promise<void>,
  mayBePart: (error: DnsProblem) => boolean,
): Promise<void> {
  const queue = [all];
  const refused: T[] = [];
  let why: string | undefined;
  let count = 0;
  for (const some of queue)
    try {
      await act(some);
    } catch (error) {
      if (error instanceof PartRefused) {
        why ??= error.why;
        refused.push(...(error.parts as readonly T[])); // what `act` was given
      } else if (!(error instanceof DnsProblem) || !mayBePart(error) || ++count > refusalsMost) throw error;
      else if (some.length > 1) queue.push(some.slice(0, some.length >> 1), some.slice(some.length >> 1));
      else {
        why ??= error.message;
        refused.push(...some);
      }
    }
  if (why !== undefined) throw new PartRefused(refused, why);
}
