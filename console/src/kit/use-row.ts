/** The row of an open drawer, by its id. */
import { useEffect, useState } from 'react';
import { callAny, type ListKey } from './client.ts';
import { isRowGone } from './empty.tsx';
import { present } from './present.tsx';
import { queryClient } from './query.ts';
import type { Params, Resource, Row } from './resource.ts';
import { rowsOf } from './row-search.ts';
import { ApiError } from './transport.ts';

/** A node's `version` is its agent's. */
export function versionOf(row: Row): number | undefined {
  const { version, rowVersion = version } = row as { version?: unknown; rowVersion?: unknown };
  return typeof rowVersion === 'number' ? rowVersion : undefined;
}

/**
 * A row by its id: asked for by itself where it has a call, else one of those on screen, else asked for of its list; null when it is
 * gone. It stays as it was when the drawer opened.
 */
export function useRow<R extends Row>(
  { list, query: asked, one }: { list: ListKey; query?: object; one?: Resource['one'] },
  params: Params,
  id: number,
  onFailure?: () => void,
): R | null | undefined {
  // of what is on screen: a page from before a sort or a filter may be older than the person's own last save
  const inCache = () =>
    queryClient
      .getQueryCache()
      .findAll({ queryKey: [list], type: 'active' })
      .filter(({ state }) => !state.isInvalidated && state.fetchStatus === 'idle')
      .flatMap(({ state }) => (state.data as { data?: R[] } | undefined)?.data ?? [])
      .find(row => row.id === id);
  const [row, setRow] = useState<R | null>();
  useEffect(() => {
    let isOpen = true;
    const asking = one
      ? callAny<R>(one.call, { ...params, [one.param]: id })
      : Promise.resolve(inCache() ?? rowsOf<R>(list, { ...params, query: asked }, [id]).then(([found]) => found ?? null));
    asking.then(
      found => isOpen && setRow(found),
      (error: unknown) => {
        if (!isOpen) return;
        const isGone =
          error instanceof ApiError && (error.status === 404 || isRowGone(error, { ...params, ...(one && { [one.param]: id }) }));
        if (isGone) return setRow(null);
        present(error);
        onFailure?.();
      },
    );
    return () => {
      isOpen = false;
    };
    // oxlint-disable-next-line react/exhaustive-deps -- once: what others do meanwhile is told by the version when it is saved
  }, [list, id]);
  return row;
}
