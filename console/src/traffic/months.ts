/** Months to choose from: `2026-11`, the newest first. */
const shown = 24;
export const monthsBefore = (now: Date): string[] =>
  Array.from({ length: shown }, (_, back) => {
    const month = new Date(now.getFullYear(), now.getMonth() - back, 1);
    return `${month.getFullYear()}-${String(month.getMonth() + 1).padStart(2, '0')}`;
  });
/** What the call is asked for the one that was chosen; none: all of them. */
export function monthQuery(chosen: unknown): { year?: number; month?: number } {
  const [year, month] = /^(\d{4})-(\d{2})$/.exec(String(chosen))?.slice(1).map(Number) ?? [];
  return year && month ? { year, month } : {};
}
