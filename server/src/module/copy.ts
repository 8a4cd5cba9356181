/** Copies a module with its rows to other sites: a task, site by site (contract/src/module/copy.ts). */
import { sql } from 'kysely';
import { Fail, type FieldError, failFields } from '#contract/errors.ts';
import { copyModule } from '#contract/module/copy.ts';
import type { Context } from '../kit/context.ts';
import { judgedRows, unfitFields } from '../kit/judged.ts';
import { unknownID } from '../kit/store.ts';
import { itemsOf, startTask } from '../kit/task.ts';
import { siteTable } from '../site/tables.ts';
import { copiers } from './rows-below.ts';
import { type ModuleRow, moduleTable, touchDomains } from './tables.ts';

interface Asked {
  type: string;
  siteID: number;
  moduleID: number;
  siteIDs: number[];
  overwrite?: boolean | undefined;
}

export async function startCopy(ctx: Context, asked: Asked): Promise<{ taskID: number }> {
  const { type, siteID, moduleID } = asked;
  const module = await ctx.store(moduleTable(type), { siteID }).get(moduleID, 'moduleID');
  const siteIDs = [...new Set(asked.siteIDs)];
  const found = await ctx.store(siteTable).pick(['id'], [sql`t.id = any(${siteIDs})`]);
  if (found.length !== siteIDs.length) throw unknownID('siteIDs');
  // onto itself
  if (siteIDs.includes(siteID)) throw failFields([{ path: 'siteIDs', rule: 'invalidChoice' }]);
  const taskID = await startTask(
    ctx,
    copyModule,
    { type, siteID, moduleID, siteIDs, overwrite: asked.overwrite ?? false },
    { about: { name: module.name, count: siteIDs.length }, total: siteIDs.length },
  );
  return { taskID };
}

type Source = Pick<ModuleRow, 'id' | 'name' | 'memo' | 'enabled' | 'settings'>;

/** Rows that would not be accepted if they were new: an earlier release let them in, and a copy is no way to have more of them. */
class Unfit extends Fail {
  readonly count: number;
  /** what stands in the first of them where it is wrong */
  readonly value: string;
  constructor(count: number, problem: FieldError, row: Record<string, unknown>) {
    super('parameter', { errorData: [problem] });
    this.count = count;
    const value = problem.path
      .split('.')
      // whatever a stored row holds
      .reduce<unknown>((at, step) => (at as Record<string, unknown> | null | undefined)?.[step], row);
    const shown = typeof value === 'string' || typeof value === 'number' ? String(value) : problem.path;
    this.value = shown.length > valueMax ? `${shown.slice(0, valueMax)}…` : shown;
  }
}
const valueMax = 100;

/** @throws Unfit */
async function checkFit(ctx: Context, type: string, source: Source): Promise<void> {
  const below = copiers.get(type);
  const unfit = judgedRows
    .filter(({ table }) => (table.table === 'module' ? table.pin?.['type'] === type : table.table === below?.table))
    .map(async list => {
      const rows: Record<string, unknown>[] = list.table.table === 'module' ? [source] : await below!.rows(ctx, source.id);
      return rows.flatMap(row => {
        const [problem] = unfitFields(list, row);
        return problem ? [{ problem, row: list.read(row) }] : [];
      });
    });
  const found = (await Promise.all(unfit)).flat();
  if (found.length) throw new Unfit(found.length, found[0]!.problem, found[0]!.row);
}

export const copyModuleWork = itemsOf(copyModule, {
  items: ({ siteIDs }) => siteIDs,
  async common({ ctx, input: { type, siteID, moduleID } }): Promise<Source> {
    // as it is now: who changes it meanwhile copies the change to the sites that are left
    const [source] = await ctx
      .store(moduleTable(type), { siteID })
      .pick(['id', 'name', 'memo', 'enabled', 'settings'], [sql`t.id = ${moduleID}`]);
    if (!source) throw unknownID('moduleID');
    return source;
  },
  async act({ ctx, input: { type, overwrite }, say }, siteID, module) {
    const { id: sourceID, ...source } = module;
    const site = await ctx.store(siteTable).get(siteID, 'siteIDs');
    const modules = ctx.store(moduleTable(type), { siteID });
    const [same] = await modules.pick(['id', 'enabled'], [sql`t.name = ${source.name}`], sql`t.id`, 1);
    if (same && !overwrite) return say('skipped', { site: site.siteName }, { level: 'warn' });
    await checkFit(ctx, type, module);
    if (same) {
      await modules.set(same.id, source);
      if (same.enabled !== source.enabled) await touchDomains(ctx, [same.id]);
    }
    const moduleID = same?.id ?? (await modules.add([source]))[0]!;
    await copiers.get(type)?.copy(ctx, sourceID, { siteID, moduleID });
    say(same ? 'replaced' : 'copied', { site: site.siteName });
  },
  async failed({ ctx, say }, siteID, failure) {
    const [site] = await ctx.store(siteTable).pick(['siteName'], [sql`t.id = ${siteID}`]);
    const named = { site: site?.siteName ?? `#${siteID}` };
    if (failure instanceof Unfit) say('unfit', { ...named, count: failure.count, value: failure.value }, { failure });
    else say('notCopied', named, { failure });
  },
});
