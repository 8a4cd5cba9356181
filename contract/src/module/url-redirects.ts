/** Redirects (§3 "URL redirect modules and redirects", §9 cap): modules that hold nothing but rows. */
import * as z from 'zod/mini';
import { moduleOf } from '../kit/module.ts';
import { moduleRowsOf } from '../kit/module-rows.ts';
import { bool, int, one, oneOf, opt, str } from '../kit/schema.ts';
import { caps, matchTypes, redirectStatuses } from '../limits.ts';
import { hasScheme, patternProblems } from '../rules/regex.ts';
import { isTooLong } from './redirect-table.ts';
import { answer, broken, type Problem, wrong } from '../rules/rule.ts';
import { zodRule } from '../rules/zod.ts';

/** What a redirect is of which nothing more is said. */
export const redirectDefaults = { matchType: 'exact', statusCode: 301, keepQuery: true } as const;
/** Expressions of one module: each may be asked in a request that no other redirect meets. */
export const redirectPatternsMax = 100;
/** What the redirects of one site weigh in their documents; those of one module have room in its own. */
export const redirectBytesMax = 880_000;
/** `{"id":…,"match":"…","source":…,"target":…,"status":…,"query":…},` without source and target, and a little room */
export const redirectOwnBytes = 110;

export const urlRedirect = moduleOf({
  type: 'urlRedirect',
  resource: 'modules',
  list: '/module/urlRedirects',
  one: '/module/urlRedirect/{moduleID}',
  assign: '/domains/module/urlRedirect',
  idField: 'moduleID',
  items: 'modules',
  fields: {},
  defaults: {},
  read: { redirectCount: int() },
});

interface Given {
  /** exact where nothing is said */
  matchType?: string;
  source: string;
  target: string;
}
/**
 * exact and prefix: a path, for exact with a query perhaps (a star would stand for itself, and nobody means that); advanced: an expression on the path, or on path?query. The target is a path,
 * or an address whose host nothing of the request becomes part of.
 */
const fits = zodRule({
  name: 'redirect',
  check: ({ matchType, source, target }: Given) => {
    const problems: Problem[] = [];
    const isPath = (matchType === 'prefix' ? /^\/[^#?\s]*$/ : /^\/[^#\s]*$/).test(source);
    if (matchType === 'advanced') {
      problems.push(...patternProblems(source, ['source']));
      if (problems.length === 0 && hasScheme(source)) problems.push(...broken('regexWithScheme', undefined, ['source']));
    } else if (source.includes('*')) problems.push(...broken('starInSource', undefined, ['source']));
    else if (!isPath) problems.push(...wrong('redirectSource', ['source']));
    if (!/^(?:\/(?![/\\])|https?:\/\/[^\s/?#$@\\]+(?:[/?#]|$))\S*$/i.test(target))
      problems.push(...broken('redirectTarget', undefined, ['target']));
    else if (isTooLong(target)) problems.push(...broken('tooLarge', undefined, ['target']));
    // before its query; to an expression's it is a character like any other
    else if (matchType !== 'advanced' && target.split('?')[0]!.includes('*'))
      problems.push(...broken('starInTarget', undefined, ['target']));
    return answer(problems);
  },
});
const line = (max: number) => str(max).check(z.regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u));

export const redirects = moduleRowsOf({
  type: 'urlRedirect',
  resource: 'modules',
  path: '/module/urlRedirect/{moduleID}/redirects',
  table: 'redirect',
  fields: {
    matchType: one(matchTypes),
    source: line(1024),
    target: line(2048),
    statusCode: oneOf(redirectStatuses),
    /** the visitor's query is put behind the target's */
    keepQuery: bool(),
  },
  defaults: redirectDefaults,
  check: item => item.check(fits as never),
  filters: { keyword: opt(str(255)), matchType: opt(one(matchTypes)) },
  sort: ['source', 'target', 'matchType', 'statusCode', 'enabled', 'createdAt', 'updatedAt'],
  max: { add: caps.redirectRulesPerSiteMax, change: 500 },
  bodyLimit: 4_000_000,
});
