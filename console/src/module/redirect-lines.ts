/**
 * Redirects as lines of text, as they are pasted: `/old /new 301`, `/shop/* https://shop.test/ 302`, `~^/p/(\\d+)$ /product?id=$1`; out of a
 * sheet with commas between them. A source ending in `*` is a prefix (`/shop/* /store/*` says it on both sides), one beginning with `~` an
 * expression; `noquery` at the end drops the visitor's query. What is left over is refused: nothing is dropped without a word.
 */
import { redirectDefaults } from '#contract/module/url-redirects.ts';
import { answer, broken, type Problem, type Rule } from '#contract/rules/rule.ts';
import { statusCode as threeDigits } from '#contract/rules/values.ts';
import type { Api } from '../kit/client.ts';

type Item = Api['POST /{area}/site/{siteID}/module/urlRedirect/{moduleID}/redirects']['body']['items'][number];

/** How servers write them in their configuration: in another order, and with other meanings. */
const directive = /^(?:redirect\w*|rewrite\w*|return)$/i;

/** An address may have a comma in it: between blanks, only a comma beside a blank parts a line. */
function wordsOf(line: string): string[] {
  const text = line.trim().replace(/;$/, '');
  const isSheet = !/\s/.test(text) || /,\s|\s,/.test(text);
  return (isSheet ? text.split(',') : text.split(/\s+/)).map(word => word.trim().replace(/^"(.*)"$/, '$1')).filter(Boolean);
}

function read(line: string): { item: Item; problems: Problem[] } {
  const [source = '', target = '', ...rest] = wordsOf(line);
  let statusCode: number | undefined;
  let keepQuery = true;
  const extra: string[] = [];
  for (const word of rest)
    if (keepQuery && word.toLowerCase() === 'noquery') keepQuery = false;
    else if (statusCode === undefined && /^\d+$/.test(word)) statusCode = Number(word);
    else extra.push(word);
  const code = threeDigits.check(statusCode ?? redirectDefaults.statusCode);
  const problems = directive.test(source)
    ? broken('redirectOrder')
    : extra.length
      ? broken('leftOver', { text: extra.join(' ').slice(0, 100) })
      : code === true
        ? []
        : code;
  const how = { statusCode: (statusCode ?? redirectDefaults.statusCode) as Item['statusCode'], keepQuery };
  if (source.startsWith('~')) return { item: { matchType: 'advanced', source: source.slice(1), target, ...how }, problems };
  if (source.endsWith('*'))
    return { item: { matchType: 'prefix', source: source.slice(0, -1), target: target.replace(/\*$/, ''), ...how }, problems };
  return { item: { matchType: 'exact', source, target, ...how }, problems };
}

export const redirectOf = (line: string): Item => read(line).item;

/** What a line says beside a redirect; the redirect itself is judged by the contract. */
export const redirectLines: Rule<readonly string[] | undefined> = {
  name: 'redirectLines',
  check: lines =>
    answer((lines ?? []).flatMap((line, index) => read(line).problems.map(problem => ({ ...problem, path: [index] })))),
};
