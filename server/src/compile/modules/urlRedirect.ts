import type { Redirect } from '#contract/module/redirect-table.ts';
import { arrayOf, byID } from '../source.ts';
import type { ModuleSource } from './source.ts';

type Row = Redirect & { id: number; statusCode: 301 | 302 | 307 | 308 };
export const urlRedirect: ModuleSource<'urlRedirect', Row[]> = {
  rows: arrayOf(`select x.id, x."matchType", x.source, x.target, x."statusCode", x."keepQuery"
    from redirect x where x."moduleID" = m.id and x."deletedAt" is null and x.enabled`),
  compile: (_settings, rows) => ({
    redirects: [...rows].sort(byID).map(({ id, matchType, source, target, statusCode, keepQuery }) => ({
      id,
      match: matchType,
      source,
      target,
      status: statusCode,
      query: keepQuery,
    })),
  }),
};
