/**
 * Patterns that people write for the edge. nginx reads them with PCRE, forms and server have JavaScript: a pattern is
 * accepted when both will take it. What of PCRE's language the edge takes, and how large, expression.ts says; what PCRE
 * alone knows is rewritten before JavaScript judges it.
 */
import { expressionFault } from './expression.ts';
import { answer, broken, isEmpty } from './rule.ts';
import type { Problem, Rule } from './rule.ts';

/** Characters: longer than any field takes; beyond it nothing is looked at. */
const lengthMax = 4096;

/**
 * Why a pattern cannot be one. In time that grows with the length alone: one call brings thousands of patterns, and they are judged where
 * everybody is served. @param path of the field, where it is not the value itself
 */
export function patternProblems(pattern: string, path?: string[]): Problem[] {
  if (pattern.length > lengthMax || /[\0\n\r]/.test(pattern)) return broken('invalidRegex', undefined, path);
  const fault = expressionFault(pattern);
  if (fault?.why === 'tooLarge') return broken('regexTooLarge', undefined, path);
  // an empty class is one more sign to PCRE
  if (scriptOf(pattern) === undefined || /\[\^?\]/.test(pattern.replace(/\\[\s\S]/g, '__')))
    return broken('invalidRegex', undefined, path);
  return fault ? broken('regexUnreadable', { part: fault.part }, path) : [];
}

export const isPattern = (pattern: string): boolean => patternProblems(pattern).length === 0;

/** What PCRE alone knows, rewritten: near enough to show what a pattern does, and to judge whether it is one. */
export function scriptOf(pattern: string): RegExp | undefined {
  const flags = /^\(\?([imsx]+)\)/.exec(pattern);
  const script = pattern
    .slice(flags?.[0].length ?? 0)
    .replaceAll('(?>', '(?:')
    .replaceAll('(?P<', '(?<')
    .replace(/(?<!\\)([*+?}])\+/g, '$1');
  try {
    // x has no counterpart
    return new RegExp(script, [...new Set(flags?.[1]?.replaceAll('x', ''))].join(''));
  } catch {
    return undefined;
  }
}

const pattern = (name: string): Rule<string | null | undefined> => ({
  name,
  check: value => (isEmpty(value) ? broken('required') : answer(patternProblems(value!))),
});
export const regex = pattern('regex');

/** `^https?://…`: what is matched begins with the path, so this never does. */
export const hasScheme = (pattern: string): boolean =>
  /^(?:\(\?[imsx]+\))?[\^(]*(?:\?:)?http(?:s\??|\(s\)\?|\[s\]\?)?(?:\|https?)?\)?\??\\?:(?:\\?\/|\[\/\]){2}/i.test(pattern);
export const urlRegex: Rule<string | null | undefined> = {
  name: 'urlRegex',
  check: value => {
    const found = regex.check(value);
    return found === true && hasScheme(value!) ? broken('regexWithScheme') : found;
  },
};
export const userAgentRegex = pattern('userAgentRegex');
