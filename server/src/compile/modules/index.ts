import { type ModuleTypeName, moduleTypeNames, moduleTypes } from '#contract/edge/modules/index.ts';
import type { ModuleSource } from './source.ts';
import { urlRedirect } from './urlRedirect.ts';

type Sources = { [T in ModuleTypeName]: ModuleSource<T, never> };

/** Types whose content is not their settings as they stand. */
const own: Partial<Sources> = { urlRedirect };
const asTheyStand = (type: ModuleTypeName) => ({
  compile: (settings: Record<string, unknown>) => moduleTypes[type].content.parse(settings),
});
export const modules = Object.fromEntries(
  moduleTypeNames.map(type => [type, own[type] ?? asTheyStand(type)]),
  // each of its own type
) as unknown as Sources;
