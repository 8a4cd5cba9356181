/** The table of modules, of each type: rows below a module name it as their parent. */
import { sql } from 'kysely';
import { kinds } from '#contract/edge/kinds/index.ts';
import { headBytes } from '#contract/edge/kinds/kind.ts';
import { modulesMax } from '#contract/kit/module.ts';
import type { Context } from '../kit/context.ts';
import { rows, type Sql } from '../store/db.ts';
import { like, type Table, table } from '../kit/table.ts';
import { siteTable } from '../site/tables.ts';

export interface ModuleRow extends Record<string, unknown> {
  id: number;
  siteID: number;
  name: string;
  memo: string;
  enabled: boolean;
  settings: Record<string, unknown>;
  domainCount: number;
}
const define = (type: string, extra: Record<string, Sql>) =>
  table<ModuleRow>()({
    table: 'module',
    pin: { type },
    scope: { parent: siteTable, column: 'siteID' },
    sort: ['name', 'enabled', 'createdAt', 'updatedAt'],
    filters: { keyword: like('name', 'memo') },
    most: modulesMax,
    // of all modules of this type and site: one that may be saved has room in its document, and none fills the nodes' records
    bytesMax: kinds.module.bytesMax - headBytes,
    forgets: true,
    edge: { kind: 'module', column: 'id' },
    extra: {
      domainCount: sql`select count(*) from "domainModule" a join domain d on d.id = a."domainID" where a."moduleID" = t.id and d."deletedAt" is null`,
      ...extra,
    },
  });

/** What a type answers beside its fields. */
const extras: Record<string, Record<string, Sql>> = {
  urlRedirect: { redirectCount: sql`select count(*) from redirect r where r."moduleID" = t.id and r."deletedAt" is null` },
};

const tables = new Map<string, Table<ModuleRow>>();
export function moduleTable(type: string): Table<ModuleRow> {
  let found = tables.get(type);
  if (!found) tables.set(type, (found = define(type, extras[type] ?? {})));
  return found;
}

/** A domain's document names its modules: it is made anew when one of them comes, goes, or is switched. */
export async function touchDomains(ctx: Context, moduleIDs: readonly number[]) {
  const found = await rows<{ id: number }>(
    ctx.db,
    sql`select a."domainID" as id from "domainModule" a join domain d on d.id = a."domainID" where a."moduleID" = any(${moduleIDs}) and d."deletedAt" is null`,
  );
  for (const { id } of found) ctx.touch('domain', id);
}
