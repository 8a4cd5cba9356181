/** Values of rows as a form shows and sends them: what several rows have together, and what was there and no longer is. Pure. */
import { linesOf } from '#contract/rules/rule.ts';
import { isBlank, isSame } from './form-state.ts';
import type { FormField, Values } from './resource.ts';

/** What the rows of a batch have in a field where they differ, most frequent first. */
export type Differing = readonly { value: unknown; count: number }[];
/** By the name of the field. */
export type Mixed = Readonly<Record<string, Differing>>;

/** Values that all rows have, and those in which they differ. */
export function together(rows: readonly Values[], fields: readonly FormField[]): { values: Values; mixed: Mixed } {
  const values: Values = {};
  const mixed: Record<string, Differing> = {};
  for (const { name } of fields) {
    const found: { value: unknown; count: number }[] = [];
    for (const row of rows) {
      const known = found.find(one => isSame(one.value, row[name]));
      if (known) known.count++;
      else found.push({ value: row[name], count: 1 });
    }
    if (found.length === 1) values[name] = found[0]!.value;
    else mixed[name] = found.sort((a, b) => b.count - a.count);
  }
  return { values, mixed };
}

/** The lines of a text area that say something. */
export const filledLines = (value: unknown): string[] =>
  Array.isArray(value) ? linesOf(value.join('\n')).map(line => line.value) : [];

/** Where such a line stands in the text area, both from 1: blank lines count for whoever looks at it. */
export const lineInText = (value: unknown, line: number): number =>
  (Array.isArray(value) ? (linesOf(value.join('\n'))[line - 1]?.line ?? line - 1) : line - 1) + 1;

/** What a field begins with that is to overwrite different values: a choice is made by the person, never by us. */
export const overwriting = (field: FormField): unknown =>
  ['select', 'segments', 'remote', 'number', 'switch'].includes(field.kind) ? undefined : field.initial;

/**
 * Paths within a row of what it had and no longer has. A PUT says nothing of what it leaves out, so the old value would stay, and the
 * person would be told that it was saved.
 * @param body the row as it would be sent
 */
export function emptied(fields: readonly FormField[], before: Values, body: unknown): (string | number)[][] {
  const row = (typeof body === 'object' && body !== null ? body : {}) as Values;
  return fields.flatMap(field => {
    const value = row[field.name];
    if (field.kind !== 'list') return field.name in row && isLeftOut(value) && !isBlank(before[field.name]) ? [[field.name]] : [];
    const made = field.template();
    return (Array.isArray(value) ? (value as Values[]) : []).flatMap((one, index) =>
      field.fields
        .filter(({ name }) => isLeftOut(one[name]) && !isBlank(made[name]))
        .map(({ name }) => [field.name, index, name]),
    );
  });
}
const isLeftOut = (value: unknown) => value === undefined;

type Listed = Values & { id?: number };
const isListed = (value: unknown): value is Listed[] =>
  Array.isArray(value) && value.some(row => typeof (row as Listed | null)?.id === 'number');

/**
 * What a person changed in a list of rows, on top of what stands there now. A row that somebody else took away while it was changed here
 * comes back as a new one, so that nothing typed is lost.
 */
export function mergeRows(base: readonly Listed[], mine: readonly Listed[], now: readonly Listed[]): Listed[] {
  const find = (rows: readonly Listed[], id: number | undefined) => rows.find(row => row.id === id);
  const kept = now.flatMap(row => {
    const before = find(base, row.id);
    const here = find(mine, row.id);
    if (!before) return [row];
    if (!here) return [];
    return [mergeValues(before, here, row)];
  });
  // What was added here and stands now came with a save whose answer was lost: a second one would be a double.
  const others = now.filter(row => !find(base, row.id)).map(({ id: _id, ...row }) => row);
  const stands = (row: Values) => {
    const index = others.findIndex(one => isSame(one, row));
    if (index >= 0) others.splice(index, 1);
    return index >= 0;
  };
  const added = mine.flatMap(({ id, ...row }) => {
    if (id === undefined) return stands(row) ? [] : [row];
    const before = find(base, id);
    return find(now, id) || (before && isSame(before, { id, ...row })) ? [] : [row];
  });
  return [...kept, ...added];
}

/** Whether two lists say the same, in whatever order and under whatever ids. */
export function saySame(a: readonly Listed[], b: readonly Listed[]): boolean {
  const said = (rows: readonly Listed[]) =>
    rows
      .map(({ id: _id, ...row }) => JSON.stringify(Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1))))
      .sort();
  return isSame(said(a), said(b));
}

/** The same of one row: what was left alone is as it stands now. */
export function mergeValues(base: Values, mine: Values, now: Values): Values {
  const merged: Values = { ...now };
  for (const [name, value] of Object.entries(mine)) {
    if (isSame(base[name], value)) continue;
    const lists = [base[name], value, now[name]];
    merged[name] = lists.some(isListed)
      ? mergeRows(...(lists.map(list => (Array.isArray(list) ? list : [])) as [Listed[], Listed[], Listed[]]))
      : value;
  }
  return merged;
}

/** Thrown by a form's `send`: the rows it began with are others now. `values`: what was typed, on top of them; `cause`: why it went no further. */
export class Rebased extends Error {
  readonly values: Values;
  constructor(values: Values, cause?: unknown) {
    super('the rows are others now', { cause });
    this.values = values;
  }
}
