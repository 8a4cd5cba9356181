/** The types of modules. */
import type * as z from 'zod/mini';
import { cors } from './cors.ts';
import { customHeader } from './customHeader.ts';
import { proxyRewrite } from './proxyRewrite.ts';
import type { ModuleType } from './type.ts';
import { urlRedirect } from './urlRedirect.ts';

export type { ModuleType };
export const moduleTypes = { cors, customHeader, proxyRewrite, urlRedirect } as const satisfies Record<string, ModuleType>;
export type ModuleTypeName = keyof typeof moduleTypes;
export const moduleTypeNames = Object.keys(moduleTypes) as ModuleTypeName[];
export type ModuleContent<T extends ModuleTypeName> = z.output<(typeof moduleTypes)[T]['content']>;
export const isModuleType = (name: string): name is ModuleTypeName => Object.hasOwn(moduleTypes, name);
