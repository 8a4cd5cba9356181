import { randomInt } from 'node:crypto';

/** Another list of the same, in any order. */
export function shuffled<T>(all: readonly T[]): T[] {
  const some = [...all];
  for (let i = some.length - 1; i > 0; i--) {
    const j = randomInt(i + 1);
    [some[i], some[j]] = [some[j]!, some[i]!];
  }
  return some;
}
