/** Rows that hang on a site and make one of its documents: table and handlers of a `crud()` family in one line. */
import { sql } from 'kysely';
import { kinds, type PartKind, type RowsKind } from '#contract/edge/kinds/index.ts';
import type { Group } from '#contract/kit/call.ts';
import type { SiteList } from '#contract/kit/site-list.ts';
import { type Before, crudOf, implementMade, type Implementation } from '../kit/implement.ts';
import { table } from '../kit/table.ts';
import type { Sql } from '../store/db.ts';
import { siteTable } from './tables.ts';

/** Rules of which the first that matches counts come in the order in which they are tried. */
export const byPriority = sql`t.priority, t.id`;

/** The table of one list of a site; what it leaves out is as of a new list. */
export const siteListTable = <Row extends Record<string, unknown>>(
  { name, table: rows, most, sort, expires }: SiteList<Exclude<PartKind, 'purges'>>,
  more: { order?: Sql } = {},
) =>
  table<Row>()({
    table: rows,
    scope: { parent: siteTable, column: 'siteID' },
    sort: ['createdAt', 'updatedAt', ...sort],
    edge: { kind: name, column: 'siteID' },
    most,
    bytesMax: kinds[name].rowsBytesMax,
    forgets: true,
    ...(expires === undefined ? {} : { expires }),
    ...more,
  });

/** Whether a group of calls is a list that its declaration alone makes, kind of document and all. */
export const isSiteList = (group: Group): group is Group & { siteList: SiteList<RowsKind> } => 'siteList' in group;

/** `siteRows(blacklists)`; what the resource may refuse beyond its contract goes into `before`. */
export function siteRows<K extends Exclude<PartKind, 'purges'>>(
  group: Group & { siteList: SiteList<K> },
  options: { before?: Before } = {},
): Implementation {
  const { siteList } = group;
  const handlers = crudOf(`/${siteList.name}`, siteListTable<Record<string, unknown>>(siteList), { group, ...options });
  return implementMade(group, handlers);
}
