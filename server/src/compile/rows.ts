/** Lists whose rows are items as they stand (contract/src/edge/kinds/kind.ts, `rows`): their statement and compiler. */
import { type DocumentOf, kinds, type RowsKind } from '#contract/edge/kinds/index.ts';
import type { ListRows } from '#contract/kit/site-list.ts';
import { byID, type PartSource, siteList } from './source.ts';

type Item<K extends RowsKind> = DocumentOf<K> extends Record<K, (infer I)[]> ? I : never;
type Columns<K extends RowsKind> = (typeof kinds)[K]['rows'] extends { columns: infer C } ? C : Record<never, never>;
/** What the statement gives, and the compiler reads. */
export type RowsRow<K extends RowsKind> = { id: number } & {
  [F in keyof Item<K> as F extends keyof Columns<K> ? Columns<K>[F] & string : F]: Item<K>[F];
};
export type RowsSource<K extends RowsKind> = PartSource<K, RowsRow<K>[]>;

/** [field of the item, column] */
function fieldsOf(kind: RowsKind): [string, string][] {
  const { item, rows }: { item: { shape: object }; rows: ListRows } = kinds[kind];
  return Object.keys(item.shape).map(field => [field, rows.columns?.[field] ?? field]);
}
export const columnsOf = (kind: RowsKind): string[] => fieldsOf(kind).map(([, column]) => column);

/** Rows in the order they were made, as items. */
export function itemsOf<K extends RowsKind>(kind: K, rows: readonly RowsRow<K>[]): Item<K>[] {
  const fields = fieldsOf(kind);
  // each field is there, by the type of the row
  return rows.toSorted(byID).map(
    // the columns of the kind’s own table
    row => Object.fromEntries(fields.map(([field, column]) => [field, (row as Record<string, unknown>)[column]])) as Item<K>,
  );
}

export function itemRows<K extends RowsKind>(kind: K): RowsSource<K> {
  const { table, expires }: ListRows = kinds[kind].rows;
  return siteList<K, RowsRow<K>>(
    table,
    // the type of the row has the same names
    columnsOf(kind) as (keyof RowsRow<K> & string)[],
    // the document has the items under the kind's own name
    (rows, head) => ({ ...head, [kind]: itemsOf(kind, rows) }) as DocumentOf<K>,
    expires,
  );
}
