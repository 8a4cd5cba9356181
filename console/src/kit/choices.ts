/** What can be chosen: values with their texts, or rows of a `meta…` call. */
import { useQuery } from '@tanstack/react-query';
import type { CallKey } from './client.ts';
import { useCan } from './permissions.ts';
import { query } from './query.ts';
import type { Params } from './resource.ts';
import { tOf } from './text.ts';

type Source =
  | { values: readonly (string | number)[]; texts?: string }
  | { from: CallKey; query?: object; text?: (row: Record<string, unknown>) => string; value?: string };

export interface Choice {
  value: string | number;
  label: string;
}
const nameOf = (row: Record<string, unknown>) =>
  String(row['name'] ?? row['siteName'] ?? row['email'] ?? row['domainName'] ?? row['id']);

export function useChoices(source: Source, params: Params): { options: Choice[]; isPending: boolean } {
  const can = useCan();
  const from = 'from' in source ? source : undefined;
  const isAsked = from !== undefined && can(from.from);
  const answer = useQuery({
    ...(query((from?.from ?? 'GET /{area}/account/self') as CallKey, { ...params, query: from?.query } as never) as object),
    enabled: isAsked,
    staleTime: 30_000,
  } as never) as { data?: unknown; isPending: boolean };
  if (!('from' in source))
    return {
      options: source.values.map(value => ({ value, label: source.texts ? tOf(source.texts, value) : String(value) })),
      isPending: false,
    };
  const found = answer.data;
  const rows = (Array.isArray(found) ? found : ((found as { data?: unknown[] })?.data ?? [])) as Record<string, unknown>[];
  return {
    options: rows.map(row => ({ value: row[source.value ?? 'id'] as number, label: (source.text ?? nameOf)(row) })),
    isPending: isAsked && answer.isPending,
  };
}
