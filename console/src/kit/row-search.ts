/**
 * Rows of a list by their ids, wherever they stand in it: no list of the API asks for ids. None is said to be gone before the last page
 * was read.
 */
import { paging } from '#contract/limits.ts';
import type { CallKey } from './client.ts';
import { query, queryClient } from './query.ts';
import type { Row } from './resource.ts';

const pageSize = paging.pageSizeMax;

/** Those of the ids that were found, looked for page by page. */
export async function rowsOf<R extends Row>(key: CallKey, input: { query?: object }, ids: readonly number[]): Promise<R[]> {
  const found: R[] = [];
  for (let page = 1; found.length < ids.length; page++) {
    const answer = (await queryClient.fetchQuery(
      query(key, { ...input, query: { ...input.query, page, pageSize } } as never) as never,
    )) as { data: R[]; total: number };
    found.push(...answer.data.filter(row => ids.includes(row.id)));
    if (!answer.data.length || page * pageSize >= answer.total) break;
  }
  return found;
}
