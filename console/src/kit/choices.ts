/**
 * What can be chosen: values with their texts, the rows of a `meta…` call, or the rows of a list that may be longer than anybody scrolls:
 * then the server searches, and further pages come as the person scrolls.
 */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { paging } from '#contract/limits.ts';
import { callAny, type CallKey } from './client.ts';
import { useCan } from './permissions.ts';
import { query } from './query.ts';
import type { Params, RemoteChoices } from './resource.ts';
import { rowsOf } from './row-search.ts';
import { tOf } from './text.ts';

type Source = { values: readonly (string | number)[]; texts?: string } | RemoteChoices;
type Row = Record<string, unknown>;

export interface Choice {
  value: string | number;
  label: string;
  disabled?: boolean;
}
export interface Found {
  options: Choice[];
  isPending: boolean;
  /** There are too many to send at once: what the person types is looked for by the server. */
  search?: (text: string) => void;
  /** The next page, when the end of this one is in sight. */
  more?: () => void;
  /** How many match, of which perhaps only some have come. */
  total?: number;
  error?: unknown;
  retry?: () => void;
}

const nameOf = (row: Row) => String(row['name'] ?? row['siteName'] ?? row['email'] ?? row['domainName'] ?? row['id']);
const pageSize = paging.pageSizes[2];
const typedMs = 250;

/** `chosen`: what is chosen already, one or several; it is named although it may stand far behind what is loaded. */
export function useChoices(source: Source, params: Params, chosen?: unknown): Found {
  const remote = 'from' in source ? source : undefined;
  const whole = useWhole(remote?.searchBy ? undefined : remote, params);
  const paged = usePaged(remote?.searchBy ? remote : undefined, params, chosen);
  if (!('from' in source))
    return {
      options: source.values.map(value => ({ value, label: source.texts ? tOf(source.texts, value) : String(value) })),
      isPending: false,
    };
  const { rows, ...rest } = source.searchBy ? paged : whole;
  const none = source.none ? [{ value: source.none.value, label: source.none.text() }] : [];
  return {
    options: [...none, ...rows.map(row => choiceOf(source, row))],
    ...rest,
  };
}

function choiceOf({ value = 'id', text = nameOf, why }: RemoteChoices, row: Row): Choice {
  const reason = why?.(row);
  return {
    value: row[value] as number,
    ...(reason === undefined ? { label: text(row) } : { label: `${text(row)} · ${reason}`, disabled: true }),
  };
}

function useWhole(source: RemoteChoices | undefined, params: Params) {
  const can = useCan();
  const isAsked = source !== undefined && can(source.from);
  const answer = useQuery({
    ...(query((source?.from ?? 'GET /{area}/account/self') as CallKey, { ...params, query: source?.query } as never) as object),
    enabled: isAsked,
    staleTime: 30_000,
  } as never) as { data?: unknown; isPending: boolean; error: unknown; refetch: () => Promise<unknown> };
  const found = isAsked ? answer.data : undefined;
  return {
    rows: (Array.isArray(found) ? found : ((found as { data?: unknown[] })?.data ?? [])) as Row[],
    isPending: isAsked && answer.isPending,
    error: isAsked && !found ? answer.error : undefined,
    retry: () => void answer.refetch(),
  };
}

/** Texts one may choose among, or none where no call answers them or it may not be made. */
export function useTexts(from: CallKey | undefined): string[] {
  return useWhole(from && { from }, {}).rows as unknown as string[];
}

function usePaged(source: RemoteChoices | undefined, params: Params, chosen: unknown) {
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
      callAny<{ data: Row[]; total: number }>(
        source!.from,
        { ...params, query: { ...source!.query, page: pageParam, pageSize, ...(looked && { [source!.searchBy!]: looked }) } },
        { signal },
      ),
    getNextPageParam: (last, pages) => (pages.length * pageSize < last.total ? pages.length + 1 : undefined),
  });
  const rows = answer.data?.pages.flatMap(page => page.data) ?? [];
  const beyond = useBeyond(source, params, isAsked && answer.isSuccess && !looked ? missing(rows, chosen) : []);
  return {
    rows: looked ? rows : [...rows, ...beyond.rows],
    isPending: isAsked && (answer.isFetching || beyond.isPending || typed.trim() !== looked),
    total: answer.data?.pages[0]?.total,
    error: isAsked ? answer.error : undefined,
    retry: () => void answer.refetch(),
    search,
    more: answer.hasNextPage
      ? () => void (answer.isFetchingNextPage || answer.fetchNextPage({ cancelRefetch: false }))
      : undefined,
  };
}

/** Ids that are chosen and stand on none of the pages so far: of an address, of a draft, of the row that is edited. */
const missing = (rows: readonly Row[], chosen: unknown): number[] =>
  (Array.isArray(chosen) ? chosen : [chosen]).filter(
    (one): one is number => typeof one === 'number' && one > 0 && !rows.some(row => row['id'] === one),
  );

function useBeyond(source: RemoteChoices | undefined, params: Params, ids: number[]) {
  const answer = useQuery({
    queryKey: ['chosen', source?.from, params, source?.query, ids],
    // a choice by another value than its id is its own name
    enabled: ids.length > 0 && source !== undefined && source.value === undefined,
    staleTime: 30_000,
    queryFn: () => rowsOf<Row & { id: number }>(source!.from, { ...params, query: source!.query }, ids),
  });
  return { rows: (ids.length ? answer.data : undefined) ?? [], isPending: answer.isFetching };
}

/** A value that has stopped changing for a moment. */
export function useSettled(value: string): string {
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
