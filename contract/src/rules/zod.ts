/** Rules as checks of zod/mini, and zod's own findings as problems: one vocabulary on the wire. */
import type * as z from 'zod/mini';
import { isRuleName } from './rule.ts';
import type { Bounds, Problem, Rule } from './rule.ts';

/**
 * Puts a rule on a field: `str().check(zodRule(rules.email))`. Runs after the type is right; every problem becomes an
 * issue whose `params` carry the rule and its bounds.
 */
export function zodRule<Value, Context>(rule: Rule<Value, Context>, context?: () => Context): z.core.CheckFn<Value> {
  return payload => {
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

/** zod's issues in our words; `path` as text (`upstreams.0.port`), the form errorData of 101003 has. */
export function problemsOf(issues: readonly z.core.$ZodIssue[]): { path: string; rule: string; bounds?: Bounds }[] {
  return issues.map(issue => {
    const { rule, bounds } = problemOf(issue);
    const path = issue.path.map(String).join('.');
    return bounds ? { path, rule, bounds } : { path, rule };
  });
}

function problemOf(issue: z.core.$ZodIssue): Omit<Problem, 'path'> {
  switch (issue.code) {
    case 'custom': {
      const params = issue.params as { rule?: unknown; bounds?: Bounds } | undefined;
      return { rule: isRuleName(params?.rule) ? params.rule : 'wrongFormat', bounds: params?.bounds };
    }
    case 'invalid_type':
      return issue.input === undefined || issue.input === null ? { rule: 'required' } : typeProblem(issue.expected);
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
    case 'unrecognized_keys':
      return { rule: 'unknownKey', bounds: { keys: issue.keys.slice(0, 10).join(', ').slice(0, 200) } };
    case 'invalid_value':
      return issue.input === undefined ? { rule: 'required' } : { rule: 'invalidChoice' };
    default:
      return { rule: 'wrongFormat' };
  }
}

const typeProblem = (expected: string): Omit<Problem, 'path'> =>
  expected === 'number' || expected === 'int' ? { rule: 'numeric' } : { rule: 'wrongFormat' };
