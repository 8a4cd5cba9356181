/** Things that are done together: what is refused of one keeps no other from being done. */
import { randomInt } from 'node:crypto';
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

/** So often it may say no: at first, and more for each yes. Whoever says it to everything is not asked thing by thing. */
const refusals = { first: 24, each: 12 };
const halves = <T>(some: readonly T[]) =>
  [some.slice(0, some.length >> 1), some.slice(some.length >> 1)].filter(half => half.length);
/** Those to blame may stand side by side, and would all be met before anybody who is not. */
function shuffled<T>(all: readonly T[]): T[] {
  const some = [...all];
  for (let i = some.length - 1; i > 0; i--) {
    const j = randomInt(i + 1);
    [some[i], some[j]] = [some[j]!, some[i]!];
  }
  return some;
}

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
  const refused: T[] = [];
  let why: string | undefined;
  let left = refusals.first;
  // the last first, half by half: those that are good come in between, however many others there are
  for (let some = stack.pop(); some; some = stack.pop())
    try {
      await act(some);
      left += refusals.each;
    } catch (error) {
      if (error instanceof PartRefused) {
        why ??= error.why;
        refused.push(...(error.parts as readonly T[])); // what `act` was given
      } else if (!(error instanceof DnsProblem) || !mayBePart(error) || --left < 0) throw error;
      else if (some === all && all.length > 1) stack.push(...halves(shuffled(all)));
      else if (some.length > 1) stack.push(...halves(some));
      else {
        why ??= error.message;
        refused.push(...some);
      }
    }
  if (why !== undefined) throw new PartRefused(refused, why);
}
