/** What a list finds: one page of it, or all of its pages. */
import { paging } from '#contract/limits.ts';
import { callAny } from './client.ts';
import { type ListState, queryOf } from './list-state.ts';
import type { Params, Resource, Row } from './resource.ts';

const pageSize = paging.pageSizeMax;
/** So many rows are gone through for a file, or are chosen at once. */
export const allRowsMax = 20 * pageSize;

/** What a state of the list finds. */
export function rowsAt(resource: Resource<never, Row>, params: Params, state: ListState, signal?: AbortSignal) {
  const input = resource.input?.(state) ?? { query: { ...resource.query, ...queryOf(state) } };
  return callAny<{ data: Row[]; total: number }>(resource.list, { ...params, ...input }, { signal });
}

/** All that the list finds with its filters and in its order, on every page of it: the first `allRowsMax` of `total`. */
export async function allRows(resource: Resource<never, Row>, params: Params, state: ListState, signal?: AbortSignal) {
  // a row that moves to a later page meanwhile is still one row
  const rows = new Map<number, Row>();
  let total = 0;
  for (let page = 1; (page - 1) * pageSize < allRowsMax; page++) {
    const answer = await rowsAt(resource, params, { ...state, page, pageSize }, signal);
    for (const row of answer.data) rows.set(row.id, row);
    total = answer.total;
    if (!answer.data.length || page * pageSize >= total) break;
  }
  return { rows: [...rows.values()], total };
}
