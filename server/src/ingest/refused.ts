/** Which lines of a batch the store cannot take: found by halves of each node's lines, on tables that hold nothing. */
import { AnalyticsError } from '../store/analytics/client.ts';

/** What the store says when it is in trouble itself; the rows are not to blame (ClickHouse's codes). */
const troubles = new Set([
  -1, 0, 60, 81, 159, 160, 164, 202, 209, 210, 236, 241, 242, 243, 252, 285, 286, 319, 373, 394, 425, 439, 516, 999,
]);
/** Halving of a node's lines ends after so many questions; what is still in doubt then, of this node, is refused as a whole. */
const questionsPerNodeMax = 200;

const blames = (error: unknown) => error instanceof AnalyticsError && !troubles.has(error.code);

/**
 * @param probe inserts lines where nothing is kept
 * @returns empty when the rows are fine, or when the store is in trouble
 */
export async function findRefused(
  said: AnalyticsError,
  byNode: ReadonlyMap<number, Buffer[]>,
  probe: (lines: Buffer[]) => Promise<void>,
): Promise<Set<Buffer>> {
  const refused = new Set<Buffer>();
  if (!blames(said)) return refused;
  let questions = 0;
  const search = async (some: Buffer[]): Promise<void> => {
    if (some.length === 0) return;
    try {
      questions++;
      await probe(some);
      return;
    } catch (error) {
      if (!blames(error)) throw error;
    }
    if (some.length === 1 || questions > questionsPerNodeMax) {
      for (const line of some) refused.add(line);
      return;
    }
    const half = some.length >> 1;
    await search(some.slice(0, half));
    await search(some.slice(half));
  };
  for (const lines of byNode.values()) {
    questions = 0;
    await search(lines);
  }
  return refused;
}
