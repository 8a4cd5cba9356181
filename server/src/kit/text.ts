/** Text that JSON can say and PostgreSQL cannot keep: it is refused by the name of its field, never stored or cut. */
import type { FieldError } from '#contract/errors.ts';

const depthMax = 64;
// all of it needs an escape, or this name; so most bodies are not walked at all
const suspicious = /\\u|__proto__/;

/** U+0000 is no text for PostgreSQL, half a surrogate pair is none for anybody. */
export const isText = (value: string) => !value.includes('\0') && value.isWellFormed();

/** What others say, as it may be stored and shown: well-formed, in one line, without control characters, at most so long. */
export function plainText(value: string, max = Infinity): string {
  const text = value.toWellFormed().replaceAll(/\p{Cc}+/gu, ' ');
  return text.length > max ? `${text.slice(0, max - 1).toWellFormed()}…` : text;
}

/** Problems of a parsed body; `source` is the text it came from. */
export function badText(source: string, body: unknown): FieldError[] {
  if (!suspicious.test(source)) return [];
  const problems: FieldError[] = [];
  const walk = (value: unknown, path: string[]) => {
    if (problems.length >= 100) return;
    if (typeof value === 'string') {
      if (!isText(value)) problems.push({ path: path.join('.'), rule: 'wrongFormat' });
    } else if (typeof value === 'object' && value !== null) {
      if (path.length > depthMax) problems.push({ path: path.slice(0, 10).join('.'), rule: 'wrongFormat' });
      else
        for (const [key, item] of Object.entries(value)) {
          if (key === '__proto__' || !isText(key)) problems.push({ path: path.join('.'), rule: 'unknownKey' });
          else walk(item, [...path, key]);
        }
    }
  };
  walk(body, []);
  return problems;
}

/** The same for a query: names and texts, one level deep. */
export function badQuery(query: Record<string, unknown>): FieldError[] {
  const problems: FieldError[] = [];
  for (const [name, value] of Object.entries(query))
    if ((Array.isArray(value) ? value : [value]).some(one => typeof one === 'string' && !isText(one)))
      problems.push({ path: name, rule: 'wrongFormat' });
  return problems;
}
