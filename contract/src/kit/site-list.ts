/** A list of a site whose rows make one document: calls, table and kind of document have one name, which the kind says. */
import { endIn, zodRule } from '../rules.ts';
import { calls } from './call.ts';
import { crud, type CrudOptions } from './crud.ts';
import type { Shape } from './schema.ts';

export interface SiteList<N extends string = string> {
  /** of the path, and of the kind of document (contract/src/edge/kinds) */
  name: N;
  /** of its rows in the database */
  table: string;
  /** rows of one site: what each costs a node hangs on their number, not on what they weigh */
  most: number;
  /** columns a caller may sort by, beside the times */
  sort: readonly string[];
  /** the field that says when a row is removed by itself (server/src/work/expiry.ts) */
  expires?: string;
  /** of a row, as POST takes it */
  fields?: Shape;
}

/** Rows that are items as they stand: which table they are in, and under which other name a column stands in the item. */
export interface ListRows {
  table: string;
  /** field of the item → column, where they differ */
  columns?: Readonly<Record<string, string>>;
  /** the column that says when a row ends: what is over is in no document, also before it is removed */
  expires?: string;
}

/** What a list takes from its kind of document (contract/src/edge/kinds). */
interface Kind<N extends string> {
  name: N;
  item: { shape: object };
  rows: ListRows;
}

export function siteList<const N extends string, const B extends string, F extends Shape>(
  options: {
    kind: Kind<N>;
    most: number;
    base: B;
    resource: string;
    fields: F;
    sort?: readonly string[];
  } & Pick<CrudOptions<F, Record<never, never>, 'items'>, 'check'>,
) {
  const { kind, most, base, resource, fields, check, sort = [] } = options;
  const { name, item, rows } = kind;
  const { table, columns = {}, expires } = rows;
  for (const field of [...Object.keys(item.shape).map(field => columns[field] ?? field), ...(expires ? [expires] : [])])
    if (field !== 'id' && !(field in fields))
      throw new Error(`${name}: the document takes ${field}, which no row of the list has`);
  // of what is written alone: for a moment a row may be there whose time is over
  const ending: typeof check =
    expires === undefined
      ? check
      : item =>
          // the rule takes any record, and names its field
          (check ?? (one => one))(item.check(zodRule(endIn(expires)) as never));
  const group = calls(
    { base, areas: ['user', 'client'], resource },
    crud(`/${name}`, { fields, ...(ending ? { check: ending } : {}) }),
  );
  return Object.assign(group, {
    siteList: { name, table, most, sort, fields, ...(expires === undefined ? {} : { expires }) } satisfies SiteList<N>,
  });
}
