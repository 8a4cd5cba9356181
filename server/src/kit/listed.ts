/** Whose history can be told: which rows a list shows, which setting a call reads. Said where the handler is made, read by the calls of the history. */
import type { Table } from './table.ts';

type Values = Record<string, unknown>;
export type Listed =
  /** `shape`: stored values as the list answers them */
  { table: Table; shape?: (values: Values) => Values } | { setting: string };

// beside the handlers, which are made and copied in many ways
const known = new WeakMap<object, Listed>();

/** The handler of a list whose rows are rows of this table. */
// oxlint-disable-next-line typescript/no-explicit-any -- a table of any rows
export function listOf<H extends object>(table: Table<any>, handler: H, options: { shape?: (values: Values) => Values } = {}): H {
  known.set(handler, { table: table as Table, ...options });
  return handler;
}

/** The handler that reads a setting; `named`: as the audit calls it. */
export function settingAt<H extends object>(named: string, handler: H): H {
  known.set(handler, { setting: named });
  return handler;
}

export const listedBy = (handler: object): Listed | undefined => known.get(handler);
