/** Rewrites: under which path the origin is asked. Visitors, cache and purges go on by the path the visitor asked for. */
import * as z from 'zod/mini';
import { moduleOf } from '../kit/module.ts';
import { obj, one, some, str } from '../kit/schema.ts';
import { matchTypes } from '../limits.ts';
import { patternProblems } from '../rules/regex.ts';
import { answer, broken } from '../rules/rule.ts';
import { zodRule } from '../rules/zod.ts';

/** Most rules of one module: an expression among them may be asked in every request to an origin. */
export const rewriteRulesMax = 100;

/** `/a/../b`, also written `%2e%2e`: no request has such a path when rules see it, and no rule may make one. */
const hasDots = (path: string) =>
  /(?:^|[/\\])\.\.?(?:[/\\;]|$)/.test(path.split('?', 1)[0]!.replace(/%2e/gi, '.').replace(/%2f/gi, '/'));

/** exact and prefix: a path, with or without %XX; advanced: an expression on the path */
const source = zodRule({
  name: 'rewriteSource',
  check: ({ matchType, source: text }: { matchType: string; source: string }) => {
    if (matchType === 'advanced') return answer(patternProblems(text, ['source']));
    if (text.includes('*')) return broken('starInSource', undefined, ['source']);
    return /^\/[^#?]*$/.test(text) && !hasDots(text) ? true : broken('pathOnly', undefined, ['source']);
  },
});
const target = zodRule({
  name: 'rewriteTarget',
  check: (text: string) => (text === '' || (/^\/[!"$-~]*$/.test(text) && !hasDots(text)) ? true : broken('rewriteTarget')),
});
const rule = obj({
  matchType: one(matchTypes),
  source: str(500).check(z.regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u)),
  /**
   * What stands in the place of what was found: of the whole path (exact, advanced; `$1` to `$9` are what the brackets found), or of the
   * prefix, which ends where a segment does (`/a` is `/a` and `/a/b`, not `/about`). Several slashes at its beginning are one. Begins with a slash; as it stands in a request, so what is no ASCII is written in %XX.
   */
  target: str(1000).check(target),
}).check(source);

export const proxyRewriteFields = { rules: some(rule, rewriteRulesMax) };
export const proxyRewrite = moduleOf({
  type: 'proxyRewrite',
  resource: 'modules',
  list: '/module/proxyRewrites',
  one: '/module/proxyRewrite',
  assign: '/domains/module/proxyRewrite',
  idField: 'moduleID',
  items: 'items',
  fields: proxyRewriteFields,
  defaults: { rules: [] },
});
