/**
 * What a validation rule is (§5): a name, and a check that answers true or the problems it found. Forms and server
 * run the same rule; a problem travels as `{path, rule, bounds}` and each side puts it into the reader's language.
 */
import { fill } from '../kit/text.ts';
import type { Language } from '../kit/text.ts';
import { type Reason, reasonTexts } from './reasons.ts';
import { reasons } from '../states-reasons.ts';
import { ruleTexts } from './texts.ts';

export { ruleTexts };

export type Bounds = Readonly<Record<string, string | number>>;
/** `path` leads from the checked value to the broken part of it. */
export type Problem = { path: (string | number)[]; rule: RuleName; bounds?: Bounds };
export type Rule<Value = unknown, Context = unknown> = {
  readonly name: string;
  check(value: Value, context?: Context): true | Problem[];
};

export type RuleName = keyof typeof ruleTexts;
export const isReason = (value: unknown): value is Reason => typeof value === 'string' && Object.hasOwn(reasonTexts, value);

const isOfState = (value: unknown): value is keyof typeof reasons => typeof value === 'string' && Object.hasOwn(reasons, value);

export function isRuleName(value: unknown): value is RuleName {
  return typeof value === 'string' && Object.hasOwn(ruleTexts, value);
}

/** The sentence a form shows under the field. */
export function ruleText(problem: { rule: string; bounds?: Bounds }, language: Language): string {
  const why = problem.bounds?.['why'];
  // refused by the state of what it was asked of (states.ts)
  if (problem.rule === 'refused' && isOfState(why)) return reasons[why].text[language];
  const text =
    problem.rule === 'wrongFormat' && isReason(why)
      ? reasonTexts[why]
      : ruleTexts[isRuleName(problem.rule) ? problem.rule : 'wrongFormat'];
  return fill(text[language], problem.bounds);
}

export const broken = (rule: RuleName, bounds?: Bounds, path: (string | number)[] = []): Problem[] => [
  bounds ? { path, rule, bounds } : { path, rule },
];

/** In the wrong form, and why: that rule's name is the specification's, whatever the reason. */
export const wrong = (why: Reason, path: (string | number)[] = []): Problem[] => broken('wrongFormat', { why }, path);

/** The same problems, seen from one step further out. */
export const at = (step: string | number, found: true | Problem[]): Problem[] =>
  found === true ? [] : found.map(problem => ({ ...problem, path: [step, ...problem.path] }));

export const answer = (problems: Problem[]): true | Problem[] => problems.length === 0 || problems;

export const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');

/** Lines of a text area: trimmed, blank ones left out; `line` counts from 0 in the text as it was typed. */
export function linesOf(text: string): { line: number; value: string }[] {
  return text
    .split(/\r?\n/)
    .map((value, line) => ({ line, value: value.trim() }))
    .filter(entry => entry.value !== '');
}
