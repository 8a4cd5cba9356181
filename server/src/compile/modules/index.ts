import type { ModuleTypeName } from '#contract/edge/modules/index.ts';
import { cors } from './cors.ts';
import { customHeader } from './customHeader.ts';
import { proxyRewrite } from './proxyRewrite.ts';
import type { ModuleSource } from './source.ts';
import { urlRedirect } from './urlRedirect.ts';

export const modules: { [T in ModuleTypeName]: ModuleSource<T, never> } = { cors, customHeader, proxyRewrite, urlRedirect };
