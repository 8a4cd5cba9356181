import { moduleTypes } from '#contract/edge/modules/index.ts';
import type { ModuleSource } from './source.ts';

export const customHeader: ModuleSource<'customHeader'> = {
  compile: settings => moduleTypes.customHeader.content.parse(settings),
};
