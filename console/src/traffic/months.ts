import { type ListState, queryOf } from '../kit/list-state.ts';

/** Where a month begins first on earth: it is the operator's month, whatever the clock of this browser says. */
const earliestMs = 14 * 3_600_000;
/** Months to choose from: `2026-11`, the newest first. */
const shown = 24;
export function monthsBefore(now: Date): string[] {
  const newest = new Date(now.getTime() + earliestMs);
  return Array.from({ length: shown }, (_, back) =>
    new Date(Date.UTC(newest.getUTCFullYear(), newest.getUTCMonth() - back, 1)).toISOString().slice(0, 7),
  );
}
/** What the call is asked for the one that was chosen; none: all of them. */
export function monthQuery(chosen: unknown): { year?: number; month?: number } {
  const [year, month] = /^(\d{4})-(\d{2})$/.exec(String(chosen))?.slice(1).map(Number) ?? [];
  return year && month ? { year, month } : {};
}
/** What a list of months asks for. */
export function monthInput(state: ListState) {
  const { period, ...query } = queryOf(state);
  return { ...query, ...monthQuery(period) };
}
