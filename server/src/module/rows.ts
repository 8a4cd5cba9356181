/** Modules of a site: handlers of `moduleOf` (contract/src/kit/module.ts) over one table, and who of the domains has which. */
import { sql } from 'kysely';
import { failFields } from '#contract/errors.ts';
import type { Group } from '#contract/kit/call.ts';
import type { Module } from '#contract/kit/module.ts';
import { moduleNone } from '#contract/limits.ts';
import type { Context } from '../kit/context.ts';
import type { AnyHandler, Before, Implementation } from '../kit/implement.ts';
import { judged } from '../kit/judged.ts';
import { listOf } from '../kit/listed.ts';
import { removeAll } from '../kit/removal.ts';
import { type Table, underName } from '../kit/table.ts';
import { wholeProblems } from '../kit/whole.ts';
import { rows } from '../store/db.ts';
import { domainTable } from '../domain/tables.ts';
import { startCopy } from './copy.ts';
import { type ModuleRow, moduleTable, touchDomains } from './tables.ts';

/** `moduleRows(cors)`; what a module may refuse beyond its contract goes into `before`. */
export function moduleRows(module: Module, options: { before?: Before } = {}): Implementation {
  const { type, fields, defaults, item, idField, items, list, one, assign } = module;
  const target = moduleTable(type);
  const store = (ctx: Context, siteID: number) => ctx.store(target, { siteID });
  /** What is a column, and what stands in `settings`. */
  const split = (given: Record<string, unknown>) => {
    const of = (isField: boolean) =>
      Object.fromEntries(
        Object.entries(given).filter(([key, value]) => key !== 'id' && value !== undefined && key in fields === isField),
      );
    return { columns: of(false), settings: of(true) };
  };
  const shown = ({ settings, siteID: _site, type: _type, ...row }: ModuleRow) => ({ ...row, ...defaults, ...settings });
  judged(target, item, ['name', 'memo', 'enabled', ...Object.keys(fields)], row => ({
    ...row,
    ...defaults,
    // its column is jsonb of fields
    ...(row['settings'] as object | null),
  }));
  const inPath = one.endsWith('{moduleID}');

  const handlers: Record<string, AnyHandler> = {
    [`GET ${list}`]: listOf(
      target,
      async ({ ctx, params, query }) => {
        const { data, total } = await store(ctx, params.siteID).page(query);
        return { data: data.map(shown), total };
      },
      // its settings are fields of it
      { shape: ({ settings, ...row }) => ({ ...row, ...(settings as object | undefined) }) },
    ),
    [`POST ${list}`]: async ({ ctx, params, body }) => {
      const given = body[items] as Record<string, unknown>[];
      for (const [index, row] of given.entries()) await options.before?.(ctx, row, { ...params, index });
      const made = given.map(split).map(({ columns, settings }) => ({ ...columns, settings }));
      return { ids: await store(ctx, params.siteID).add(made, {}, items) };
    },
    [`PUT ${one}`]: async ({ ctx, params, body }) => {
      const id: number = inPath ? params.moduleID : body.id;
      const path = inPath ? 'moduleID' : 'id';
      const before = await store(ctx, params.siteID).get(id, path);
      const { columns, settings } = split(body);
      await ctx.expect('module', shown(before), { ...columns, ...settings });
      const after = { ...defaults, ...before.settings, ...settings };
      // rules over several fields hold for the module as it will be
      const whole = { name: before.name, memo: before.memo, enabled: before.enabled, ...columns, ...after };
      const wrong = wholeProblems(item, { ...defaults, ...before, ...before.settings }, whole);
      if (wrong.length) throw failFields(wrong);
      await options.before?.(ctx, whole, params);
      await store(ctx, params.siteID).set(id, { ...columns, settings: after }, path);
      if (columns['enabled'] !== undefined && columns['enabled'] !== before.enabled) await touchDomains(ctx, [id]);
      return {};
    },
    [`DELETE ${list}`]: ({ ctx, params, body }) =>
      removeAll(store(ctx, params.siteID), body.ids, async gone => {
        const ids = gone.map(({ id }) => id);
        await touchDomains(ctx, ids);
        const left = await rows<{ id: number }>(
          ctx.db,
          sql`delete from "domainModule" where "moduleID" = any(${ids}) returning "domainID" as id`,
        );
        await ctx.store(domainTable, { siteID: params.siteID }).raise(left.map(({ id }) => id));
      }),
    [`PUT ${assign}`]: async ({ ctx, params, body }) => {
      const wanted: number = body[idField];
      const chosen = await ctx.store(domainTable, { siteID: params.siteID }).need(body.domainIDs, 'domainIDs');
      if (wanted !== moduleNone) await store(ctx, params.siteID).need([wanted], idField);
      const ids = chosen.map(({ id }) => id);
      const had = new Map(
        (
          await rows<{ id: number; moduleID: number }>(
            ctx.db,
            sql`select "domainID" as id, "moduleID" from "domainModule" where type = ${type} and "domainID" = any(${ids})`,
          )
        ).map(({ id, moduleID }) => [id, moduleID]),
      );
      const changed = ids.filter(id => (had.get(id) ?? moduleNone) !== wanted);
      if (!changed.length) return {};
      await sql`delete from "domainModule" where type = ${type} and "domainID" = any(${changed})`.execute(ctx.db);
      if (wanted !== moduleNone)
        await sql`insert into "domainModule" ("domainID", type, "moduleID") select d, ${type}, ${wanted} from unnest(${changed}::bigint[]) d`.execute(
          ctx.db,
        );
      // which modules a domain has is shown with it
      await ctx.store(domainTable, { siteID: params.siteID }).raise(changed);
      // whatever its rows
      const under = underName(domainTable as Table, params);
      for (const id of changed) {
        ctx.note({ table: 'domain', id, before: { [idField]: had.get(id) ?? moduleNone }, after: { [idField]: wanted }, under });
        ctx.touch('domain', id);
      }
      return {};
    },
    [`POST /${type}/copy`]: ({ ctx, params, body }) => startCopy(ctx, { type, siteID: params.siteID, ...body }),
  };
  return { group: module.calls as Group, handlers, params: { moduleID: target as Table } };
}
