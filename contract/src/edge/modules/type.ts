/**
 * What a module's document holds, by its type. A type is one file of this folder; one in server/src/compile/modules/ (its rows → this)
 * where that is not its settings as they stand; and, where the edge compiles it, one line in edge/lua/core/site_modules.lua.
 */
import * as z from 'zod/mini';
import type { Shape } from '../../kit/schema.ts';
import type { Values } from '../../kit/setting.ts';

export interface ModuleType {
  name: string;
  content: z.ZodMiniType<Record<string, unknown>>;
  /** Names of fields that every document of this type has had since there was one; each other has a default (kinds/kind.ts). */
  keys: readonly string[];
  /** A node that does not know this type serves the domains that name it, as if they did not. */
  ignorable?: true;
}
export const moduleType = <const Name extends string, Content extends z.ZodMiniType<Record<string, unknown>>>(facts: {
  name: Name;
  content: Content;
  keys: readonly string[];
  ignorable?: true;
}) => facts;

/** Content that is the module's fields; those that a document of another release does not have mean their default. */
export const contentOf = <F extends Shape>({ fields, defaults }: { fields: F; defaults: Partial<Values<F>> }) =>
  z.object(
    Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [
        name,
        name in defaults ? z._default(field, (defaults as Record<string, unknown>)[name] as never) : field,
      ]),
    ) as unknown as F,
  );

/** Content that its type does not bound yet. */
export const anything = z.record(z.string(), z.unknown());
