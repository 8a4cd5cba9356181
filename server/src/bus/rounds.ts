/** Many rounds, put together to few as long as they are light: what a document weighs is known when it has been compiled. */
import type { Queryable } from '../compile/load.ts';
import { type Press, publishRound } from './publish.ts';
import type { Round } from './round.ts';

/** What is many at once, in entities or sites. */
export const roundMost = 2000;

/**
 * Publishes them in their order. Each stays whole, however heavy it is; each is recorded with those it goes out with, so what failed goes on
 * from there.
 * @throws as publishRound
 */
export async function publishRounds(db: Queryable, press: Press, rounds: Round[]): Promise<void> {
  for (let i = 0; i < rounds.length;) {
    press.turn();
    const some = rounds.slice(i, i + press.atOnce);
    const bytes = await publishRound(db, press, together(some), some.length > 1);
    press.atOnce = nextAtOnce(press, some.length, bytes);
    if (bytes !== undefined) i += some.length;
  }
}

/** How many go together after so many weighed so much; `undefined`: too much, so they did not go out. */
export function nextAtOnce(
  { atOnce, bounds }: Pick<Press, 'atOnce' | 'bounds'>,
  tried: number,
  bytes: number | undefined,
): number {
  if (bytes === undefined) return Math.max(1, tried >> 2);
  return bytes * 2 <= bounds.roundBytes ? Math.min(roundMost, atOnce * 2) : atOnce;
}

const together = (rounds: Round[]): Round => ({
  ...rounds[0],
  entities: rounds.flatMap(round => round.entities),
  changes: rounds.flatMap(round => round.changes),
  outboxIDs: rounds.flatMap(round => round.outboxIDs),
});
