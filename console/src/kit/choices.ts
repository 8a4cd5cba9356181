/**
 * What can be chosen: values with their texts, the rows of a `meta…` call, or the rows of a list that may be longer than anybody scrolls:
 * then the server searches, and further pages come as the person scrolls.
 */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { paging } from '#contract/limits.ts';
import { call, type CallKey } from './client.ts';
import { useCan } from './permissions.ts';
import { query } from './query.ts';
import type { Params, RemoteChoices } from './resource.ts';
import { tOf } from './text.ts';

type Source = { values: readonly (string | number)[]; texts?: string } | RemoteChoices;
type Row = Record<string, unknown>;

export interface Choice {
  value: string | number;
  label: string;
}
export interface Found {
  options: Choice[];
  isPending: boolean;
  /** There are too many to send at once: what the person types is looked for by the server. */
  search?: (text: string) => void;
  /** The next page, when the end of this one is in sight. */
  more?: () => void;
}

const nameOf = (row: Row) => String(row['name'] ?? row['siteName'] ?? row['email'] ?? row['domainName'] ?? row['id']);
const pageSize = paging.pageSizes[2];
const typedMs = 250;

export function useChoices(source: Source, params: Params): Found {
  const remote = 'from' in source ? source : undefined;
  const whole = useWhole(remote?.searchBy ? undefined : remote, params);
  const paged = usePaged(remote?.searchBy ? remote : undefined, params);
  if (!('from' in source))
    return {
      options: source.values.map(value => ({ value, label: source.texts ? tOf(source.texts, value) : String(value) })),
      isPending: false,
    };
  const { rows, ...rest } = source.searchBy ? paged : whole;
  const none = source.none ? [{ value: source.none.value, label: source.none.text() }] : [];
  return {
    options: [...none, ...rows.map(row => ({ value: row[source.value ?? 'id'] as number, label: (source.text ?? nameOf)(row) }))],
    ...rest,
  };
}

function useWhole(source: RemoteChoices | undefined, params: Params) {
  const can = useCan();
  const isAsked = source !== undefined && can(source.from);
  const answer = useQuery({
    ...(query((source?.from ?? 'GET /{area}/account/self') as CallKey, { ...params, query: source?.query } as never) as object),
    enabled: isAsked,
    staleTime: 30_000,
  } as never) as { data?: unknown; isPending: boolean };
  const found = isAsked ? answer.data : undefined;
  return {
    rows: (Array.isArray(found) ? found : ((found as { data?: unknown[] })?.data ?? [])) as Row[],
    isPending: isAsked && answer.isPending,
  };
}

function usePaged(source: RemoteChoices | undefined, params: Params) {
  const can = useCan();
  const [typed, search] = useState('');
  const looked = useSettled(typed.trim());
  const isAsked = source !== undefined && can(source.from);
  const answer = useInfiniteQuery({
    queryKey: ['choices', source?.from, params, source?.query, looked],
    enabled: isAsked,
    staleTime: 30_000,
    placeholderData: keepPreviousData,
    initialPageParam: 1,
    queryFn: ({ pageParam, signal }) =>
      call(
        source!.from,
        ...([
          {
            ...params,
            query: { ...source!.query, page: pageParam, pageSize, ...(looked && { [source!.searchBy!]: looked }) },
          },
          { signal },
        ] as unknown as [never]),
      ) as Promise<{ data: Row[]; total: number }>,
    getNextPageParam: (last, pages) => (pages.length * pageSize < last.total ? pages.length + 1 : undefined),
  });
  return {
    rows: answer.data?.pages.flatMap(page => page.data) ?? [],
    isPending: isAsked && answer.isFetching,
    search,
    more: () => {
      if (answer.hasNextPage && !answer.isFetchingNextPage) void answer.fetchNextPage({ cancelRefetch: false });
    },
  };
}

/** A value that has stopped changing for a moment. */
function useSettled(value: string): string {
  const [settled, settle] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => settle(value), typedMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** How far from its end a list of choices asks for more. */
const aheadPx = 200;

/** What a select of antd is given for these choices. */
export const selectProps = ({ options, isPending, search, more }: Found, isAlwaysSearchable = false) => ({
  options,
  loading: isPending,
  showSearch: search
    ? { filterOption: false as const, onSearch: search }
    : isAlwaysSearchable || options.length > 8
      ? { optionFilterProp: 'label' }
      : false,
  ...(more && {
    // Arrow keys scroll too, so paging works by keyboard.
    onPopupScroll: ({ currentTarget: list }: { currentTarget: HTMLElement }) => {
      if (list.scrollHeight - list.scrollTop - list.clientHeight < aheadPx) more();
    },
  }),
});
