/** Rows of a list by their ids, wherever they stand in it. One that the list does not show is not among them. */
import type { CallKey } from './client.ts';
import { query, queryClient } from './query.ts';
import type { Row } from './resource.ts';
import type { Input } from './transport.ts';

/** Ids of one question: they stand in its address. */
const together = 100;

export async function rowsOf<R extends Row>(key: CallKey, input: Input, ids: readonly number[]): Promise<R[]> {
  const found: R[] = [];
  for (let from = 0; from < ids.length; from += together) {
    const asked = { ...input.query, ids: ids.slice(from, from + together), pageSize: together };
    const answer = (await queryClient.fetchQuery(query(key, { ...input, query: asked } as never) as never)) as { data: R[] };
    found.push(...answer.data);
  }
  return found;
}
