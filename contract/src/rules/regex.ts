/**
 * Patterns that people write for the edge. nginx reads them with PCRE, forms and server have JavaScript: a pattern is
 * accepted when both will take it. What PCRE alone knows is rewritten before JavaScript judges it; what JavaScript
 * alone would take is refused, for the edge would not load it.
 */
import { broken, isEmpty } from './rule.ts';
import type { Rule } from './rule.ts';

/** Letters that PCRE knows behind a backslash; it refuses any other (\u, \L, \i …). */
const escapes = new Set('dDwWsSbBnrtfvxhHRQEAzZGKNXkcaegpPo0123456789');

export function isPattern(pattern: string): boolean {
  if (/[\0\n\r]/.test(pattern)) return false;
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
  return bare.replace(/\[[^\]]*\]/g, '_');
}

/** PCRE wants to know how far to look back. */
function hasOpenLookbehind(plain: string): boolean {
  for (const { index } of plain.matchAll(/\(\?<[=!]/g)) {
    let depth = 0;
    for (let i = index; i < plain.length; i++) {
      if (plain[i] === '(') depth++;
      if (plain[i] === ')' && --depth === 0) break;
      if (i > index + 3 && (plain[i] === '*' || plain[i] === '+' || /^\{\d+,\}/.test(plain.slice(i, i + 8)))) return true;
    }
  }
  return false;
}

const pattern = (name: string): Rule<string | null | undefined> => ({
  name,
  check: value => (isEmpty(value) ? broken('required') : isPattern(value!) ? true : broken('invalidRegex')),
});
export const regex = pattern('regex');
export const urlRegex = pattern('urlRegex');
export const userAgentRegex = pattern('userAgentRegex');
