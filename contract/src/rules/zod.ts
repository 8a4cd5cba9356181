/** Rules as checks of zod/mini, and zod's own findings as problems: one vocabulary on the wire. */
import type * as z from 'zod/mini';
import { isReason, isRuleName } from './rule.ts';
import type { Bounds, Problem, Rule, RuleName } from './rule.ts';

/** What is longer than its field, or holds more than it, is not looked at: a body may be a thousand times as long as what rules are made for. */
const isTooLong = (issue: z.core.$ZodRawIssue) =>
  issue.code === 'too_big' && (issue.origin === 'string' || issue.origin === 'array');

/**
 * Puts a rule on a field: `str().check(zodRule(rules.email))`. Runs after the type and the length are right; every problem becomes an
 * issue whose `params` carry the rule and its bounds.
 */
export function zodRule<Value, Context>(rule: Rule<Value, Context>, context?: () => Context): z.core.CheckFn<Value> {
  return payload => {
    if (payload.issues.some(isTooLong)) return;
    const found = rule.check(payload.value, context?.());
    if (found === true) return;
    for (const { path, rule: name, bounds } of found)
      payload.issues.push({
        code: 'custom',
        input: payload.value,
        path,
        message: name,
        params: { rule: name, bounds },
        continue: true,
      });
  };
}

/**
 * zod's issues in our words; `path` as text (`upstreams.0.port`), the form errorData of 101003 has. `input` is what was
 * parsed: zod does not say whether a value of the wrong type was there at all. A field broken twice by one rule is named once.
 */
export function problemsOf(
  issues: readonly z.core.$ZodIssue[],
  input: unknown,
): { path: string; rule: RuleName; bounds?: Bounds }[] {
  const seen = new Set<string>();
  return issues.flatMap(issue => {
    if (issue.code === 'unrecognized_keys')
      return issue.keys
        .slice(0, 100)
        .map(key => ({ path: [...issue.path, key].map(String).join('.').slice(0, 200), rule: 'unknownKey' as const }));
    const { rule, bounds } = problemOf(issue, isMissing(input, issue.path));
    const path = issue.path.map(String).join('.');
    if (seen.has(`${rule} ${path}`)) return [];
    seen.add(`${rule} ${path}`);
    return [bounds ? { path, rule, bounds } : { path, rule }];
  });
}

function isMissing(input: unknown, path: readonly PropertyKey[]): boolean {
  let value = input;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return true;
    value = (value as Record<PropertyKey, unknown>)[step];
  }
  return value === undefined || value === null || value === '';
}

function problemOf(issue: z.core.$ZodIssue, missing: boolean): Omit<Problem, 'path'> {
  switch (issue.code) {
    case 'custom': {
      const params = issue.params as { rule?: unknown; bounds?: Bounds } | undefined;
      return { rule: isRuleName(params?.rule) ? params.rule : 'wrongFormat', bounds: params?.bounds };
    }
    case 'invalid_type':
      return missing ? { rule: 'required' } : typeProblem(issue.expected);
    case 'too_small': {
      const min = Number(issue.minimum);
      if (issue.origin === 'string') return min <= 1 ? { rule: 'required' } : { rule: 'tooShort', bounds: { min } };
      if (issue.origin === 'array') return min <= 1 ? { rule: 'required' } : { rule: 'tooFew', bounds: { min } };
      return { rule: issue.inclusive === false ? 'greaterThan' : 'tooSmall', bounds: { min } };
    }
    case 'too_big': {
      const max = Number(issue.maximum);
      if (issue.origin === 'string') return { rule: 'tooLong', bounds: { max } };
      if (issue.origin === 'array') return { rule: 'tooMany', bounds: { n: max } };
      return { rule: 'tooBig', bounds: { max } };
    }
    case 'invalid_value':
      return missing
        ? { rule: 'required' }
        : { rule: 'invalidChoice', bounds: { allowed: issue.values.map(String).join(', ').slice(0, 200) } };
    default:
      // a pattern may say why
      return isReason(issue.message) ? { rule: 'wrongFormat', bounds: { why: issue.message } } : { rule: 'wrongFormat' };
  }
}

const typeProblem = (expected: string): Omit<Problem, 'path'> =>
  // of 40.5 nobody says that it is no number
  expected === 'int' ? { rule: 'integer' } : { rule: expected === 'number' ? 'numeric' : 'wrongFormat' };
