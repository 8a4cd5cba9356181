/** The largest input a schema takes, made out of one that is right: longest strings of the strangest characters, most items, largest numbers. */
import * as z from 'zod/mini';
import { bare, defOf, fieldsOf, put } from './generate.ts';

/** Two units each, right to left, joined, combining, direction marks, signs of SQL, HTML, LIKE and templates. */
const strange = '😀𠮷שלוםعربي👩‍👩‍👧é\u202eabc\u202c台北門市%_\\\'"<b>&amp;$1{}`;--\u2028İßﬃ';
/** Exactly so many UTF-16 units, whole characters. */
function units(text: string, length: number): string {
  const long = text.repeat(Math.ceil(length / text.length)).slice(0, length);
  return long.isWellFormed() ? long : `${long.slice(0, -1)}x`;
}
const host = (length: number, n: number) => {
  let name = `h${n}.test`;
  while (name.length + 2 <= length) name = `${'x'.repeat(Math.min(63, length - name.length - 1))}.${name}`;
  return name;
};

/** Texts of at most `max` units that rules like to see; no two alike for different `n`. */
const makers: readonly ((max: number, n: number, sample: string) => string)[] = [
  (max, n) => units(`${n}${strange}`, max),
  (max, n) => units(`${n}${strange.replaceAll('\u2028', '')}`, max),
  (max, n) => units(`台北${n}門市`, max),
  (max, n) => `${n}`.padEnd(max, 'x'),
  (max, n) => `x${n}`.padEnd(max, 'X'),
  (max, n, sample) => `${sample}${n}`.padEnd(max, 'x'),
  (max, n) => `/${n}/`.padEnd(max, 'x'),
  (max, n) => `^/${n}`.padEnd(max, 'x'),
  (max, n) => `https://h${n}.test/`.padEnd(max, 'x'),
  (max, n, sample) => (/^https?:\/\//.test(sample) ? `${sample}/${n}`.padEnd(max, 'x') : ''),
  (max, n) => `${'m'.repeat(60)}${n}@${host(Math.min(max, 254) - 61 - `${n}`.length, n)}`,
  (max, n) => host(Math.min(max, 253), n),
  (max, n) => host(Math.min(max, 253), n).replace(/^x/, '*'),
  (_, n) => `2001:0db8:ffff:ffff:ffff:ffff:ffff:${(n + 4096).toString(16)}`,
  (_, n) => `203.0.${(n >> 8) & 255}.${n & 255}`,
  (_, n) => `${10 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}.0/24`,
];
const size = (text: string) => Buffer.byteLength(text);
const bound = (schema: z.ZodMiniType, check: string) => defOf(schema).checks?.find(one => one._zod.def.check === check)?._zod.def;

const takes = (schema: z.ZodMiniType, value: unknown) => z.safeParse(schema, value).success;
const at = (value: unknown, path: readonly string[]) =>
  path.reduce((inner: unknown, step) => (inner as Record<string, unknown> | undefined)?.[step], value);

/**
 * @param sample an input that is right
 * @param keep fields that name rows, or that must stay for the call to succeed
 * @param bytesMax what all of it may weigh as JSON
 * @param order which lists are filled first, where lists stand in lists
 */
export function largest(
  schema: z.ZodMiniType,
  sample: unknown,
  bytesMax: number,
  keep: (path: readonly string[]) => boolean = () => false,
  order: 'inner' | 'outer' = 'inner',
): unknown {
  let body = sample;
  const made = new Map<string, (n: number) => string>();
  const fields = fieldsOf(schema).filter(({ path }) => at(body, path) !== undefined);
  for (const { path, schema: field } of fields) {
    if (keep(path)) continue;
    const { type, format } = defOf(field);
    const choices: unknown[] = [];
    if (type === 'string' && format !== 'datetime') {
      const max = bound(field, 'max_length')?.maximum ?? 255;
      const before = String(at(body, path));
      const texts = makers.map(make => (n: number) => make(max, n, before));
      // the strangest of all first, then by weight
      const rest = texts.splice(2).sort((a, b) => size(b(1)) - size(a(1)));
      const found = [...texts, ...rest].find(make => {
        const text = make(1);
        return size(text) > size(before) && takes(field, text) && takes(schema, put(body, path, text));
      });
      if (!found) continue;
      made.set(path.join('.'), found);
      choices.push(found(1));
    } else if (type === 'number') choices.push(bound(field, 'less_than')?.value ?? Number.MAX_SAFE_INTEGER);
    for (const choice of choices)
      if (takes(schema, put(body, path, choice))) {
        body = put(body, path, choice);
        break;
      }
  }
  const lists = fields.filter(({ schema: field }) => defOf(field).type === 'array');
  if (order === 'inner') lists.reverse();
  for (const { path, schema: field } of lists) {
    const inner = bare(defOf(field).element!);
    const [first] = at(body, path) as unknown[];
    const most = bound(field, 'max_length')?.maximum ?? 1000;
    const element = (n: number) => {
      if (n === 1) return first;
      let copy = structuredClone(first);
      for (const [key, make] of made) {
        const steps = key.split('.');
        const own = steps.slice(path.length + 1);
        if (steps.length <= path.length || steps.slice(0, path.length).join('.') !== path.join('.')) continue;
        if (!own.length) copy = make(n);
        else if (!own.includes('0')) copy = put(copy, own, make(n));
      }
      return copy;
    };
    const weight = Buffer.byteLength(JSON.stringify(first));
    for (let count = Math.min(most, Math.ceil(bytesMax / weight)); count > 1; count = Math.floor(count / 2)) {
      const many = Array.from({ length: count }, (_, index) => element(index + 1));
      const next = put(body, path, many);
      if (takes(inner, many.at(-1)) && Buffer.byteLength(JSON.stringify(next)) <= bytesMax && takes(schema, next)) {
        body = next;
        break;
      }
    }
  }
  return body;
}
