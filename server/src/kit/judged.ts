/** Lists whose stored rows can be judged as new ones are: said where their handlers are made (system/stored-rules.ts asks). */
import type * as z from 'zod/mini';
import type { DocumentKind } from '#contract/edge/kinds/index.ts';
import type { Bounds, RuleName } from '#contract/rules.ts';
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
