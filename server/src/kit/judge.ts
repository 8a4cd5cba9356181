/** Many messages in one statement, without one of them spoiling it for the others. */

export interface Judgement<T> {
  /** The fault lies in what was given, not in who was to take it: trying again without the culprit helps. */
  isTheirFault(error: unknown): boolean;
  /** This one alone cannot be taken, and is left out. */
  refuse(item: T, error: Error): void;
}

/**
 * Gives all items at once; when that fails through their own fault, each half alone, down to the single one, which is refused.
 * One bad item among n costs about 2·log2(n) further tries.
 * @returns what the tries that succeeded returned
 * @throws when the taker itself fails (it is away, say): nothing is refused then, and what was taken stays taken
 */
export async function judged<T, R>(
  items: readonly T[],
  take: (items: readonly T[]) => Promise<R>,
  { isTheirFault, refuse }: Judgement<T>,
): Promise<R[]> {
  const taken: R[] = [];
  const waiting: (readonly T[])[] = items.length ? [items] : [];
  for (let part; (part = waiting.pop());) {
    try {
      taken.push(await take(part));
    } catch (error) {
      if (!isTheirFault(error)) throw error;
      const half = part.length >> 1;
      if (half === 0) refuse(part[0]!, error as Error);
      else waiting.push(part.slice(half), part.slice(0, half));
    }
  }
  return taken;
}

/** PostgreSQL's classes for values it cannot take: data exceptions, broken constraints, limits of the program. */
export const isDataFault = (error: unknown): boolean => /^(?:22|23|54)/.test(String((error as { code?: unknown }).code ?? ''));
