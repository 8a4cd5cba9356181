/** Comma-separated values, as spreadsheets open them. */
export type CsvCell = string | number | boolean | null | undefined;

/**
 * What a spreadsheet would take for a formula stays the text it is: rows hold what visitors and customers wrote. Full-width signs are taken
 * for it too, and what stands before them may be unseen (OWASP, CSV injection).
 */
const formula = /^([\s\p{Cf}]*[=+\-@＝＋－＠]|[\t\r\n])/u;

function cellOf(value: CsvCell): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '';
  const text = typeof value === 'string' && formula.test(value) ? `'${value}` : String(value);
  return /[",\r\n\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Begins with the mark by which spreadsheets know UTF-8. */
export const csvOf = (rows: readonly (readonly CsvCell[])[]): string =>
  `\uFEFF${rows.map(row => `${row.map(cellOf).join(',')}\r\n`).join('')}`;

/** Hands a file to the browser's downloads; `20261122-0915` of the moment is put behind its name. */
export function download(name: string, text: string, now = new Date()): void {
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}`;
  saveFile(
    `${name}-${day}-${two(now.getHours())}${two(now.getMinutes())}.csv`,
    new Blob([text], { type: 'text/csv;charset=utf-8' }),
  );
}

/** The browser keeps it where it keeps what is downloaded. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // the browser has taken it over by then
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
