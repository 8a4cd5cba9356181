/**
 * Patterns that people write for the edge. nginx reads them with PCRE, forms and server have JavaScript: a pattern is
 * accepted when both will take it. What PCRE alone knows is rewritten before JavaScript judges it; what JavaScript
 * alone would take is refused, for the edge would not load it.
 */
import { broken, isEmpty } from './rule.ts';
import type { Rule } from './rule.ts';

/** Letters that PCRE knows behind a backslash; it refuses any other (\u, \L, \i …). */
const escapes = new Set('dDwWsSbBnrtfvxhHRQEAzZGKNXkcaegpPo0123456789');

/** Characters: longer than any field takes; beyond it nothing is looked at. */
const lengthMax = 4096;

/** In time that grows with the length alone: one call brings thousands of patterns, and they are judged where everybody is served. */
export function isPattern(pattern: string): boolean {
  if (pattern.length > lengthMax || /[\0\n\r]/.test(pattern)) return false;
  for (const [, letter] of pattern.matchAll(/\\([\s\S])/g))
    if (/[A-Za-z0-9]/.test(letter!) && !escapes.has(letter!)) return false;
  const plain = withoutClasses(pattern);
  if (plain === undefined || hasOpenLookbehind(plain)) return false;
  return scriptOf(pattern) !== undefined;
}

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

/** Escapes and classes blanked out, undefined for the empty classes `[]` and `[^]` that PCRE reads differently. */
function withoutClasses(pattern: string): string | undefined {
  const bare = pattern.replace(/\\[\s\S]/g, '__');
  if (/\[\^?\]/.test(bare)) return undefined;
  let plain = '';
  let from = 0;
  for (;;) {
    const open = bare.indexOf('[', from);
    const close = open < 0 ? -1 : bare.indexOf(']', open);
    if (close < 0) return plain + bare.slice(from);
    plain += `${bare.slice(from, open)}_`;
    from = close + 1;
  }
}

/** PCRE wants to know how far to look back. */
function hasOpenLookbehind(plain: string): boolean {
  /** of each bracket that is open: whether it looks back */
  const opened: boolean[] = [];
  let behind = 0;
  for (let i = 0; i < plain.length; i++) {
    const sign = plain[i];
    if (sign === '(') {
      const isBehind = plain.startsWith('?<=', i + 1) || plain.startsWith('?<!', i + 1);
      opened.push(isBehind);
      if (isBehind) behind++;
    } else if (sign === ')') {
      if (opened.pop()) behind--;
    } else if (behind > 0 && (sign === '*' || sign === '+' || /^\{\d+,\}/.test(plain.slice(i, i + 8)))) return true;
  }
  return false;
}

const pattern = (name: string): Rule<string | null | undefined> => ({
  name,
  check: value => (isEmpty(value) ? broken('required') : isPattern(value!) ? true : broken('invalidRegex')),
});
export const regex = pattern('regex');

/** `^https?://…`: what is matched begins with the path, so this never does. */
const hasScheme = (pattern: string) => /^\^?[(?:]*https?\??[)]?:\\?\/\\?\//i.test(pattern);
export const urlRegex: Rule<string | null | undefined> = {
  name: 'urlRegex',
  check: value => {
    const found = regex.check(value);
    return found === true && hasScheme(value!) ? broken('regexWithScheme') : found;
  },
};
export const userAgentRegex = pattern('userAgentRegex');
