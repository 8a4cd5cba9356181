/** Rows below a module: handlers of `moduleRowsOf` (contract/src/kit/module-rows.ts) over one table. */
import { Fail, failFields } from '#contract/errors.ts';
import type { Group } from '#contract/kit/call.ts';
import type { ModuleRows } from '#contract/kit/module-rows.ts';
import type { Context } from '../kit/context.ts';
import type { AnyHandler, Implementation } from '../kit/implement.ts';
import { judged } from '../kit/judged.ts';
import { listOf } from '../kit/listed.ts';
import { removeAll } from '../kit/removal.ts';
import { table, type Table } from '../kit/table.ts';
import { wholeProblems } from '../kit/whole.ts';
import { moduleTable } from './tables.ts';

type Row = Record<string, unknown>;
/** What a call would leave, seen before anything is written. */
export interface Change<R> {
  siteID: number;
  moduleID: number;
  /** all rows of the module as they would be; new ones have no id, and stand last */
  rows: (R & { id?: number })[];
  /** those that are made or changed, by their place in the body */
  changed: (R & { id?: number })[];
  /** as they are, by their id */
  before: ReadonlyMap<number, R>;
}
interface Options<R> extends Pick<Table, 'filters'> {
  /** Refuses, with the field named, what does not go together. */
  judge?(ctx: Context, change: Change<R>): Promise<void>;
}

const tooMany = 10_000;

interface CopyRows {
  /** Makes the rows of a module those of another one, of another site perhaps. */
  copy(ctx: Context, fromID: number, to: { siteID: number; moduleID: number }): Promise<void>;
  /** All rows of a module, as they are judged. */
  rows(ctx: Context, moduleID: number): Promise<Row[]>;
  table: string;
}
/** By the type of the module they hang on. */
export const copiers = new Map<string, CopyRows>();

export function rowsBelow<R extends object>(declared: ModuleRows, options: Options<R> = {}): Implementation {
  const { type, path, names, item, defaults } = declared;
  const { judge, ...limits } = options;
  const target = table<Row & { id: number }>()({
    table: declared.table,
    scope: { parent: moduleTable(type) as Table, column: 'moduleID' },
    sort: declared.sort,
    edge: { kind: 'module', column: 'moduleID' },
    forgets: true,
    ...limits,
  });
  judged(target, item, names);
  const store = (ctx: Context, moduleID: number) => ctx.store(target, { moduleID });
  const only = (row: Row) => Object.fromEntries(names.map(name => [name, row[name]]));
  /** What is judged: rows as they would be, and as they are. The columns are the declared fields. */
  const changeOf = (
    place: { siteID: number; moduleID: number },
    rows: readonly Row[],
    changed: readonly Row[],
    stored: readonly Row[],
  ) => ({ ...place, rows, changed, before: new Map(stored.map(row => [row['id'], row])) }) as unknown as Change<R>; // as declared
  /** As they are now; the module of the path is held, so they stay so. */
  const all = async (ctx: Context, moduleID: number) =>
    (await store(ctx, moduleID).pick(['id', ...names], [], undefined, tooMany)) as (Row & { id: number })[];
  const check = (before: Row, after: Row, index: number) =>
    wholeProblems(item, only(before), only(after)).map(one => ({ ...one, path: `items.${index}.${one.path}` }));

  copiers.set(type, {
    async copy(ctx, fromID, { siteID, moduleID }) {
      const rows = (await all(ctx, fromID)).map(only);
      const before = (await all(ctx, moduleID)).map(({ id }) => id);
      if (before.length) await store(ctx, moduleID).remove(before);
      if (!rows.length) return;
      await judge?.(ctx, changeOf({ siteID, moduleID }, rows, rows, []));
      await store(ctx, moduleID).add(rows);
    },
    rows: all,
    table: declared.table,
  });

  const handlers: Record<string, AnyHandler> = {
    [`GET ${path}`]: listOf(target, async ({ ctx, params, query }) => {
      const { data, total } = await store(ctx, params.moduleID).page(query);
      return { data: data.map(({ moduleID: _module, ...row }) => row), total };
    }),
    [`POST ${path}`]: async ({ ctx, params, body }) => {
      const { siteID, moduleID } = params;
      const changed = (body.items as Row[]).map(given => ({ ...defaults, ...defined(given) }));
      const stored = await all(ctx, moduleID);
      await judge?.(ctx, changeOf({ siteID, moduleID }, [...stored, ...changed], changed, stored));
      return { ids: await store(ctx, moduleID).add(changed) };
    },
    [`PUT ${path}`]: async ({ ctx, params, body }) => {
      const { siteID, moduleID } = params;
      const given = body.items as (Row & { id: number })[];
      const ids = given.map(({ id }) => id);
      if (new Set(ids).size !== ids.length)
        throw failFields([{ path: `items.${ids.findIndex((id, i) => ids.indexOf(id) !== i)}.id`, rule: 'duplicateValue' }]);
      await store(ctx, moduleID).need(ids, 'items');
      const patches = new Map(given.map(patch => [patch.id, defined(patch)]));
      const stored = await all(ctx, moduleID);
      const before = new Map(stored.map(row => [row.id, row]));
      const rows = stored.map(row => ({ ...row, ...patches.get(row.id) }));
      const byID = new Map(rows.map(row => [row.id, row]));
      const changed = ids.map(id => byID.get(id)!);
      // rules over several fields hold for the row as it will be
      const wrong = changed.flatMap((row, index) => check(before.get(row.id)!, row, index));
      if (wrong.length) throw failFields(wrong);
      await judge?.(ctx, changeOf({ siteID, moduleID }, rows, changed, stored));
      for (const { id, ...patch } of given) await store(ctx, moduleID).set(id, patch, 'items');
      return {};
    },
    [`DELETE ${path}`]: async ({ ctx, params, body }) => {
      if (body.moduleId !== undefined && body.moduleId !== params.moduleID)
        throw new Fail('parameter', { status: 404, errorData: [{ path: 'moduleId', rule: 'unknown' }] });
      return removeAll(store(ctx, params.moduleID), body.ids);
    },
  };
  return { group: declared.calls as Group, handlers, params: { moduleID: moduleTable(type) as Table } };
}

const defined = <T extends Row>(row: T): T =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as T;
