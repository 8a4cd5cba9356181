import { moduleTypes } from '#contract/edge/modules/index.ts';
import type { ModuleSource } from './source.ts';

export const cors: ModuleSource<'cors'> = { compile: settings => moduleTypes.cors.content.parse(settings) };
