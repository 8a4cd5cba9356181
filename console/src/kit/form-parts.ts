/** What the form's drawer asks about its fields. */
import { ruleText } from '#contract/rules/rule.ts';
import type { Draft } from './drafts.ts';
import type { FieldProblem } from './errors.ts';
import type { Path, PlacedProblem } from './form-paths.ts';
import { isSame } from './form-state.ts';
import type { FormField, Values } from './resource.ts';
import { lineInText } from './row-values.ts';
import { language, t } from './text.ts';

/** Lines have numbers; of words beside each other (`tags`, `asns`) the one that is meant is named. */
export const sentence = (problem: PlacedProblem, value: unknown, field?: FormField) => {
  const kind = field?.kind;
  const text = problem.text ?? field?.told?.(problem.rule) ?? ruleText(problem, language);
  if (problem.line === undefined) return text;
  const one: unknown = Array.isArray(value) ? value[problem.line - 1] : undefined;
  if ((kind === 'tags' || kind === 'custom') && (typeof one === 'string' || typeof one === 'number'))
    return t('form.word', { word: one, text });
  return t('form.line', { line: lineInText(value, problem.line), text });
};

/** What the fields' own rules say, beyond the schema. */
export const ruleProblems = (fields: readonly FormField[], values: Values): FieldProblem[] =>
  fields.flatMap(({ name, rule }) => {
    // what the form does not ask for, no rule is about
    const found = rule && name in values ? rule.check(values[name] as never) : true;
    return found === true ? [] : found.map(problem => ({ ...problem, path: [name, ...problem.path].join('.') }));
  });

/** What becomes of a value when its field is left, and of those beside it: they are judged as if it had been typed there. */
export function mended(field: FormField | undefined, name: Path, value: unknown): [Path, unknown][] {
  if (field?.kind === 'lines' && field.mendLine && Array.isArray(value))
    return [[name, value.map(line => (String(line).trim() ? field.mendLine!(String(line)) : line))]];
  if (typeof value !== 'string' || !field || !(field.mend || ['text', 'mono', 'area', 'code'].includes(field.kind))) return [];
  const values = field.mend && value.trim() ? field.mend(value) : { [field.name]: value.trim() };
  return Object.entries(values).map(([key, next]) => [[...name.slice(0, -1), key], next]);
}

/** What a draft changed, as it was before. */
export const touched = ({ base = {}, values }: Draft, now: Values): Values =>
  Object.fromEntries(
    Object.keys(values)
      .filter(name => name in base && !isSame(base[name], values[name]) && !isSame(base[name], now[name]))
      .map(name => [name, base[name]]),
  );

/** The first thing in a box that takes a key. */
export function focusFirst(box: Element | null | undefined) {
  box
    ?.querySelector<HTMLElement>(
      'input:not([type=hidden], :disabled), textarea, [contenteditable], [role=combobox], button[role=switch]',
    )
    ?.focus({ preventScroll: true });
}

/** The field of a name; of `upstreams.0.port` the one of the list. */
export function fieldAt(fields: readonly FormField[], name: Path): FormField | undefined {
  const field = fields.find(one => one.name === name[0]);
  return field?.kind === 'list' && name.length > 1 ? field.fields.find(one => one.name === name[2]) : field;
}

export function isShown(field: FormField, values: Values, isEdit: boolean) {
  return (!field.only || (field.only === 'edit') === isEdit) && (!field.when || field.when(values));
}

/** Brings a field that refuses into view, with what it says: of one that is higher than the window that stands far below where it begins. */
export function showFirst(field: Element | undefined): void {
  field?.scrollIntoView({ block: field.clientHeight > innerHeight / 2 ? 'start' : 'center' });
  focusFirst(field);
  // Once it is drawn: what draws the message waits a turn of its own. One that stands above what it is about is in view already.
  setTimeout(() => field?.querySelector('.ant-form-item-explain')?.scrollIntoView({ block: 'nearest' }), 150);
}
