import { isModuleType, type ModuleType, moduleTypes } from '#contract/edge/modules/index.ts';
import { modules } from '../modules/index.ts';
import { belowSites, headOf, type Source } from '../source.ts';

export interface ModuleRow {
  siteID: number;
  type: string;
  settings: Record<string, unknown>;
  /** what else its type reads */
  rows: unknown;
}

const rows = Object.entries(modules).flatMap(([type, source]) => (source.rows ? [`when '${type}' then ${source.rows}`] : []));

export const module: Source<'module', ModuleRow> = {
  text: belowSites(
    'module',
    'm',
    `jsonb_build_object('siteID', m."siteID", 'type', m.type, 'settings', m.settings,
       'rows', ${rows.length ? `case m.type ${rows.join(' ')} else '[]' end` : `'[]'::jsonb`})`,
    'm.enabled',
  ),
  compile: loaded => {
    const { siteID, type, settings } = loaded.row;
    if (!isModuleType(type)) throw new Error(`no such type of module: ${type}`);
    const { ignorable } = moduleTypes[type] as ModuleType;
    return {
      ...headOf(loaded),
      site: siteID,
      type,
      ...(ignorable ? { ignorable } : {}),
      // the type's own statement found them
      content: modules[type].compile(settings, loaded.row.rows as never),
    };
  },
};
