/** Where a code of the present second factor is asked for beside the password: what the server said of it. */
import { ruleText } from '#contract/rules/rule.ts';
import { fieldsOf } from '../kit/errors.ts';
import { language } from '../kit/text.ts';
import { ApiError } from '../kit/transport.ts';

/** `isAsked`: none was given; else it was wrong. */
export function factorProblem(failed: unknown): { isAsked: boolean; text: string } | undefined {
  const found =
    failed instanceof ApiError && fieldsOf(failed.errorData).find(({ path }) => path === 'code' || path === 'presentCode');
  if (!found) return undefined;
  return { isAsked: found.rule === 'factorByApp' || found.rule === 'factorByMail', text: ruleText(found, language) };
}
/** pasted, it brings the spaces along that an app shows it with */
export const codeOf = (typed: string) => typed.replaceAll(/\s/g, '');
