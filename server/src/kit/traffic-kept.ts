/**
 * What was counted once stays: the store of figures may be new, empty, behind or brought back without its rows, and nobody could count again.
 * A day of a month is never less than it was, with two exceptions: its month has other bounds (the operator's clock is another one), and a
 * site is sold as another product since that day, so that what it used goes from one line to another of the same customer.
 */
export interface CountedLine {
  userID: number;
  productID: number;
  year: number;
  month: number;
  /** begins of its days, and of the month after: epoch seconds */
  bounds: readonly number[];
  days: number[];
}
export interface StoredLine extends Omit<CountedLine, 'bounds'> {
  /** its month, epoch seconds */
  from: number;
  to: number;
}
/** A site became another product at `at`, epoch seconds. */
export interface Move {
  userID: number;
  at: number;
}
/** What a change finds counted already is at most so old, seconds. */
const lateSeconds = 600;

const keyOf = ({ userID, productID, year, month }: Omit<StoredLine, 'days' | 'from' | 'to'>) =>
  `${userID} ${productID} ${year} ${month}`;

/** The lines as they are to be written; for every stored one there is a counted one. */
export function kept(counted: readonly CountedLine[], stored: readonly StoredLine[], moves: readonly Move[]): CountedLine[] {
  const before = new Map(stored.map(one => [keyOf(one), one]));
  /** of a customer's day, over all of its products */
  const [now, then] = [new Map<string, number>(), new Map<string, number>()];
  const add = (sums: Map<string, number>, key: string, bytes: number) => sums.set(key, (sums.get(key) ?? 0) + bytes);
  for (const line of counted)
    for (const [i, bytes] of line.days.entries()) {
      const key = `${line.userID} ${line.bounds[i]}`;
      add(now, key, bytes);
      add(then, key, before.get(keyOf(line))?.days[i] ?? 0);
    }
  const movesOf = Map.groupBy(moves, ({ userID }) => userID);
  return counted.map(line => {
    const { userID, bounds } = line;
    const old = before.get(keyOf(line));
    if (!old || old.from !== bounds[0] || old.to !== bounds.at(-1)) return line;
    const isMoved = (i: number) =>
      now.get(`${userID} ${bounds[i]}`)! >= then.get(`${userID} ${bounds[i]}`)! &&
      (movesOf.get(userID) ?? []).some(({ at }) => at < bounds[i + 1]! && at + lateSeconds >= bounds[i]!);
    return { ...line, days: line.days.map((bytes, i) => Math.max(bytes, isMoved(i) ? 0 : (old.days[i] ?? 0))) };
  });
}
