import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { type ListState, listStateOf, type Search, searchOf } from './list-state.ts';
import { asSearch } from './search.ts';

/**
 * The state of the list on this page and a way to change it; a changed filter or order starts at the first page again. Each change is an
 * entry of the history, but for what the page corrects by itself.
 */
export function useListState(filterNames: readonly string[], defaultSort?: string, list?: string) {
  const before = list === undefined ? '' : `${list}.`;
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const state = useMemo(() => listStateOf(search, filterNames, defaultSort, before), [search, filterNames, defaultSort, before]);
  function change(part: Partial<ListState>, options: { replace?: boolean } = {}) {
    const next = { ...state, ...('filters' in part || 'sortBy' in part ? { page: 1 } : {}), ...part };
    void navigate({
      to: '.',
      search: asSearch(searchOf(next, search, filterNames, defaultSort, before)),
      replace: options.replace ?? false,
    });
  }
  return [state, change] as const;
}
