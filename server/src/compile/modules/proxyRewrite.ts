import { moduleTypes } from '#contract/edge/modules/index.ts';
import type { ModuleSource } from './source.ts';

export const proxyRewrite: ModuleSource<'proxyRewrite'> = {
  compile: settings => moduleTypes.proxyRewrite.content.parse(settings),
};
