/** Lists whose stored rows can be judged as new ones are: said where their handlers are made (system/stored-rules.ts asks). */
import * as z from 'zod/mini';
import type { FieldError } from '#contract/errors.ts';
import type { DocumentKind } from '#contract/edge/kinds/index.ts';
import type { Bounds, RuleName } from '#contract/rules.ts';
import { problems } from './schema.ts';
import type { Table } from './table.ts';

type Row = Record<string, unknown>;
export interface JudgedRows {
  table: Table;
  /** what a caller must say of a new row */
  item: z.ZodMiniType;
  /** its fields */
  fields: readonly string[];
  /** a stored row as a list answers it */
  read: (row: Row) => Row;
}

export const judgedRows: JudgedRows[] = [];

export function judged(
  // oxlint-disable-next-line typescript/no-explicit-any -- a table of any rows
  table: Table<any>,
  item: z.ZodMiniType,
  fields: readonly string[],
  read: (row: Row) => Row = row => row,
): void {
  judgedRows.push({ table: table as Table, item, fields, read }); // whatever its rows
}

/** What keeps a stored row from being accepted if it were new; nothing of one that is switched off, which does nothing at the edge. */
export function unfitFields({ table, item, fields, read }: JudgedRows, row: Row): FieldError[] {
  const shown = read(row);
  if (shown['enabled'] === false) return [];
  const whole = Object.fromEntries(fields.flatMap(name => (shown[name] === undefined ? [] : [[name, shown[name]]])));
  const result = z.safeParse(item, whole);
  if (result.success) return [];
  // what is over ends by itself; a field that the database has not yet comes with its default
  return problems(result.error, whole).filter(({ path }) => path !== table.expires && shown[path.split('.')[0]!] !== undefined);
}

/** A field of a stored row, and the rule it breaks. */
export interface Unfit {
  operator: number;
  /** null: of the operator, on all its sites */
  site: number | null;
  name: string;
  table: string;
  kind: DocumentKind;
  id: number;
  field: string;
  rule: RuleName;
  bounds: Bounds | undefined;
}
