/** Why, as the audit keeps it, in the reader's words: words of sign-ins, names of the catalogue's errors, and rules with their fields. */
import { errorCodes, type ErrorName } from '#contract/errors/codes.ts';
import { ruleText } from '#contract/rules/rule.ts';
import { type AuditReason, auditReasons } from '#contract/states-audit.ts';
import { codeOf } from '../kit/error-code.ts';
import { language, t, textOf, tOf } from '../kit/text.ts';

/** A field of any table: what a screen calls its own field of that name may mean nothing here. */
export const fieldName = (name: string): string => tOf('auditField', name, tOf('field', name));

const isReason = (word: string): word is AuditReason => auditReasons.some(reason => reason === word);
const isError = (word: string): word is ErrorName => Object.hasOwn(errorCodes, word);

/** A later server may know more words. */
const wordText = (word: string): string =>
  isReason(word) ? t(`auditReason.${word}`) : isError(word) ? (textOf(`error.${codeOf(word)}`) ?? word) : word;

/** `items.0.expiredAt isOver`, or the rule alone. What a rule counts is not kept. */
function fieldText(said: string): string {
  const [, path = '', rule = said] = /^(\S*) (\S+)$/.exec(said) ?? [];
  const sentence = ruleText({ rule }, language).replaceAll(/\{\w+\}/g, '…');
  const name = path.split('.').findLast(step => step && !/^\d+$/.test(step));
  return name ? t('audit.fieldReason', { field: fieldName(name), rule: sentence }) : sentence;
}

/** `signedIn byPasskey`; `parameter; name required; items.0.ips duplicateIP`. */
export function reasonText(reason: string | null): string {
  const [words = '', ...fields] = (reason ?? '').split('; ');
  return [words.split(' ').filter(Boolean).map(wordText).join(' '), ...fields.map(fieldText)]
    .filter(Boolean)
    .join(t('audit.then'));
}
