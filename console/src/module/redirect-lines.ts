/**
 * Redirects as lines of text, as they are pasted: `/old /new 301`, `/shop/* https://shop.test/ 302`, `~^/p/(\d+)$ /product?id=$1`.
 * A source ending in `*` is a prefix, one beginning with `~` an expression; `noquery` at the end drops the visitor's query.
 */
import type { Api } from '../kit/client.ts';

type Item = Api['POST /{area}/site/{siteID}/module/urlRedirect/{moduleID}/redirects']['body']['items'][number];

export function redirectOf(line: string): Item {
  const words = line.trim().replace(/;$/, '').split(/\s+/);
  // a sheet saved as text
  const [source = '', target = '', ...rest] = words.length === 1 ? words[0]!.split(',') : words;
  const keepQuery = !rest.some(word => word.toLowerCase() === 'noquery');
  const status = rest.find(word => word.toLowerCase() !== 'noquery');
  const statusCode = (status === undefined ? 301 : Number(status)) as Item['statusCode'];
  if (source.startsWith('~')) return { matchType: 'advanced', source: source.slice(1), target, statusCode, keepQuery };
  if (source.endsWith('*')) return { matchType: 'prefix', source: source.slice(0, -1), target, statusCode, keepQuery };
  return { matchType: 'exact', source, target, statusCode, keepQuery };
}
