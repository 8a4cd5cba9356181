/**
 * What a module's document holds, by its type. A type is one file of this folder, one in server/src/compile/modules/ (its rows → this)
 * and, where the edge compiles it, one line in edge/lua/core/site_modules.lua.
 */
import * as z from 'zod/mini';

export interface ModuleType {
  name: string;
  content: z.ZodMiniType<Record<string, unknown>>;
}
export const moduleType = <const Name extends string, Content extends z.ZodMiniType<Record<string, unknown>>>(facts: {
  name: Name;
  content: Content;
}) => facts;

/** Content that its type does not bound yet. */
export const anything = z.record(z.string(), z.unknown());
