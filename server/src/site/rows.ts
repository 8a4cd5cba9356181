/** Rows that hang on a site and change its document: table and handlers of a `crud()` family in one line. */
import type { Group } from '#contract/kit/call.ts';
import { type Before, crudOf, implement, type Implementation } from '../kit/implement.ts';
import { table } from '../kit/table.ts';
import { siteTable } from './tables.ts';

/** `siteRows(blacklists, '/blacklists', 'blacklist')`; what the resource may refuse beyond its contract goes into `before`. */
export function siteRows<P extends string>(
  group: Group,
  path: P,
  name: string,
  options: { sort?: readonly string[]; before?: Before } = {},
): Implementation {
  const rows = table<Record<string, unknown>>()({
    table: name,
    scope: { parent: siteTable, column: 'siteID' },
    sort: ['createdAt', 'updatedAt', ...(options.sort ?? [])],
    edge: { kind: 'site', column: 'siteID' },
    // five such lists, the cache rules and the purges fit one document (bus/publish.ts, documentBytesMax)
    bytesMax: 150_000,
  });
  return implement(group, crudOf(path, rows, { group, ...(options.before ? { before: options.before } : {}) }) as never);
}
