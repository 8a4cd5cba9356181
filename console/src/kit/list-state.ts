/** The state of a list is its address: `?page=2&pageSize=50&sort=-createdAt&status=normal&edit=1003`. Pure: no router. */
import { paging } from '#contract/limits.ts';

export type FilterValue = string | number | boolean | string[];
export interface ListState {
  page: number;
  pageSize: number;
  sortBy?: string;
  orderBy?: 'asc' | 'desc';
  filters: Record<string, FilterValue>;
  /** id of the row whose drawer is open, or `new` */
  edit?: number | 'new';
}
export type Search = Record<string, unknown>;

const sizes: readonly number[] = paging.pageSizes;

/**
 * Reads what can be trusted of an address somebody may have typed. `list`: before each key, of a second list on the same page; else what is
 * opened in one would be opened in the other.
 */
export function listStateOf(search: Search, filterNames: readonly string[], defaultSort?: string, list = ''): ListState {
  const of = (name: string) => search[list + name];
  const page = Number(of('page'));
  const pageSize = Number(of('pageSize'));
  const sorted = of('sort');
  const sort = typeof sorted === 'string' && /^-?\w+$/.test(sorted) ? sorted : defaultSort;
  const edit = of('edit') === 'new' ? 'new' : Number(of('edit'));
  const filters: Record<string, FilterValue> = {};
  for (const name of filterNames) {
    const value = of(name);
    if (isFilterValue(value) && value !== '' && !(Array.isArray(value) && value.length === 0)) filters[name] = value;
  }
  return {
    page: Number.isInteger(page) && page > 0 ? Math.min(page, paging.pageMax) : paging.pageFirst,
    pageSize: sizes.includes(pageSize) ? pageSize : paging.pageSizeDefault,
    ...(sort ? { sortBy: sort.replace(/^-/, ''), orderBy: sort.startsWith('-') ? ('desc' as const) : ('asc' as const) } : {}),
    filters,
    ...(edit === 'new' || (Number.isInteger(edit) && edit > 0) ? { edit } : {}),
  };
}

/** The address of a state: defaults are left out, other keys of the page (its tab) stay. */
export function searchOf(
  state: ListState,
  search: Search,
  filterNames: readonly string[],
  defaultSort?: string,
  list = '',
): Search {
  const next: Search = { ...search };
  for (const name of ['page', 'pageSize', 'sort', 'edit', ...filterNames]) delete next[list + name];
  const say = (name: string, value: unknown) => (next[list + name] = value);
  if (state.page !== paging.pageFirst) say('page', state.page);
  if (state.pageSize !== paging.pageSizeDefault) say('pageSize', state.pageSize);
  const sort = state.sortBy && (state.orderBy === 'desc' ? `-${state.sortBy}` : state.sortBy);
  if (sort && sort !== defaultSort) say('sort', sort);
  for (const [name, value] of Object.entries(state.filters)) say(name, value);
  if (state.edit) say('edit', state.edit);
  return next;
}

/** The query of the list call. */
export function queryOf(state: ListState): Record<string, FilterValue> {
  const { page, pageSize, sortBy, orderBy, filters } = state;
  return { page, pageSize, ...(sortBy && orderBy ? { sortBy, orderBy } : {}), ...filters };
}

function isFilterValue(value: unknown): value is FilterValue {
  return (
    ['string', 'number', 'boolean'].includes(typeof value) ||
    (Array.isArray(value) && value.every(one => typeof one === 'string'))
  );
}
