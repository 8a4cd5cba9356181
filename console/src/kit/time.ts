/** Times on the wire are ISO 8601 UTC; people see the browser's zone as YYYY/MM/DD HH:mm:ss (§1). */
const two = (value: number) => String(value).padStart(2, '0');

export function dateTime(value: string | number | Date | null | undefined): string {
  if (value === null || value === undefined || value === '') return '–';
  const date = new Date(value);
  if (Number.isNaN(date.getTime())) return '–';
  return `${dateOnly(date)} ${clock(date)}`;
}
const dateOnly = (date: Date) => `${date.getFullYear()}/${two(date.getMonth() + 1)}/${two(date.getDate())}`;
const clock = (date: Date) => `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;

/** For an axis: the hour within a day, the date at midnight. `stepSeconds` is the distance between two marks. */
export function axisTime(epochSeconds: number, stepSeconds: number): string {
  const date = new Date(epochSeconds * 1000);
  if (stepSeconds >= 86_400 || (date.getHours() === 0 && date.getMinutes() === 0))
    return `${two(date.getMonth() + 1)}/${two(date.getDate())}`;
  return stepSeconds < 60 ? clock(date) : `${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** Statistics ranges snap to steps (§9): the end goes up to the next full step, the start as far back as asked. */
export function snappedRange(now: Date, spanMinutes: number, stepMinutes: number): { startTime: string; endTime: string } {
  const step = stepMinutes * 60_000;
  const end = Math.ceil(now.getTime() / step) * step;
  return { startTime: new Date(end - spanMinutes * 60_000).toISOString(), endTime: new Date(end).toISOString() };
}
