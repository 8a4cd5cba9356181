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
    if (bytes === undefined) press.atOnce = Math.max(1, some.length >> 2);
    else {
      i += some.length;
      if (bytes * 2 <= press.bounds.roundBytes) press.atOnce = Math.min(roundMost, press.atOnce * 2);
    }
  }
}

const together = (rounds: Round[]): Round => ({
  ...rounds[0],
  entities: rounds.flatMap(round => round.entities),
  changes: rounds.flatMap(round => round.changes),
  outboxIDs: rounds.flatMap(round => round.outboxIDs),
});
