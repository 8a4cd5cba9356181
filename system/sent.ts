/** Which errors the server really answered while the tests ran: noted in the file TEST_SENT names, one line for each code and each rule. */
import { appendFileSync } from 'node:fs';
import { errorByCode } from '#contract/errors.ts';

const noted = new Set<string>();

function note(line: string): void {
  const file = process.env.TEST_SENT;
  if (!file || noted.has(`${file} ${line}`)) return;
  noted.add(`${file} ${line}`);
  appendFileSync(file, `${line}\n`); // short and at the end: processes that write at once do not mix their lines
}

interface Line {
  code?: unknown;
  rule?: unknown;
}

/** Notes the errors of one answer, of each of its items too (101009). What is no error body says nothing. */
export function noteAnswer(body: unknown): void {
  const { isError, code, errorData } = (body ?? {}) as { isError?: unknown; code?: unknown; errorData?: unknown };
  if (isError !== true) return;
  const items: Line[] = Array.isArray(errorData) ? errorData : [];
  for (const line of [{ code }, ...items]) {
    const name = typeof line.code === 'number' ? errorByCode(line.code) : undefined;
    if (name) note(`code ${name}`);
    if (typeof line.rule === 'string') note(`rule ${line.rule}`);
  }
}

/** The same of an answer's text; one that is no JSON says nothing. */
export function noteText(text: unknown): void {
  if (typeof text !== 'string' || !text.startsWith('{"isError":true')) return;
  noteAnswer(JSON.parse(text));
}
