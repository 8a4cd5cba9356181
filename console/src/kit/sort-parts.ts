/** Rows in an order of one's own: which of thousands are drawn, and where one goes. Pure. */

/** The rows in sight, and some beyond so that scrolling shows no gap. */
export function inSight(
  scrollTop: number,
  heightPx: number,
  rowPx: number,
  count: number,
  beyond = 4,
): [from: number, to: number] {
  const from = Math.min(count, Math.max(0, Math.floor(scrollTop / rowPx) - beyond));
  const to = Math.min(count, Math.ceil((scrollTop + heightPx) / rowPx) + beyond);
  return [from, Math.max(from, to)];
}

/** The same rows with one of them elsewhere. */
export function moved<T>(rows: readonly T[], from: number, to: number): T[] {
  const next = [...rows];
  const [row] = next.splice(from, 1);
  if (row !== undefined) next.splice(Math.max(0, Math.min(to, next.length)), 0, row);
  return next;
}

/** Where a key takes a row, undefined for a key that means nothing here. */
export function placeBy(key: string, at: number, count: number, page: number): number | undefined {
  const steps: Record<string, number> = {
    ArrowUp: at - 1,
    ArrowDown: at + 1,
    PageUp: at - page,
    PageDown: at + page,
    Home: 0,
    End: count - 1,
  };
  const place = steps[key];
  return place === undefined ? undefined : Math.max(0, Math.min(count - 1, place));
}
