/** Rows that hang on a site and make one of its documents: table and handlers of a `crud()` family in one line. */
import { kinds, type PartKind } from '#contract/edge/kinds/index.ts';
import type { Group } from '#contract/kit/call.ts';
import type { SiteList } from '#contract/kit/site-list.ts';
import { type Before, crudOf, implement, type Implementation } from '../kit/implement.ts';
import { table } from '../kit/table.ts';
import { siteTable } from './tables.ts';

/** `siteRows(blacklists)`; what the resource may refuse beyond its contract goes into `before`. */
export function siteRows<K extends Exclude<PartKind, 'purges'>>(
  group: Group & { siteList: SiteList<K> },
  options: { before?: Before } = {},
): Implementation {
  const { name, table: rows, most, sort } = group.siteList;
  const target = table<Record<string, unknown>>()({
    table: rows,
    scope: { parent: siteTable, column: 'siteID' },
    sort: ['createdAt', 'updatedAt', ...sort],
    edge: { kind: name, column: 'siteID' },
    most,
    bytesMax: kinds[name].rowsBytesMax,
    forgets: true,
  });
  return implement(group, crudOf(`/${name}`, target, { group, ...options }) as never);
}
