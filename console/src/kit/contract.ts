/** The part of the contract that a form needs at run time; its own chunk (see schema-of.ts). */
import type * as z from 'zod/mini';
import { type Area, type Declared, groupsOf } from '#contract/kit/call.ts';
import { problemsOf } from '#contract/rules.ts';
import type { FieldProblem } from './errors.ts';

type Schema = z.ZodMiniType;

/** The body schema of a call among the declarations of its folder, by its key. */
export function bodyOf(declared: Readonly<Record<string, Declared>>, key: string, area: Area): Schema | undefined {
  const space = key.indexOf(' ');
  for (const group of Object.values(declared).flatMap(groupsOf)) {
    const base = `${key.slice(0, space)} `;
    if (!key.startsWith(group.base, space + 1)) continue;
    const def = group.defs[(base + key.slice(space + 1 + group.base.length)) as keyof typeof group.defs];
    if (def && (def.areas ?? group.areas ?? [area]).includes(area)) return def.body;
  }
  return undefined;
}

export function check(schema: Schema, body: unknown): FieldProblem[] {
  const parsed = schema.safeParse(body);
  return parsed.success ? [] : problemsOf(parsed.error.issues, body);
}

interface Def {
  type: string;
  innerType?: Schema;
  element?: Schema;
  shape?: Record<string, Schema>;
}
// zod's definitions by their discriminant; its types have one class for each
const defOf = (schema: Schema) => schema._zod.def as unknown as Def;

/**
 * Whether a field may stay empty. `nullable` counts as a value of its own, `optional` as may be left out: but of a row that has a value
 * there, leaving it out changes nothing (`isThere`), so it has to take an empty one.
 */
export function isOptional(schema: Schema, path: readonly (string | number)[], isThere = false): boolean {
  let at: Schema | undefined = schema;
  for (const step of path) {
    const def: Def = defOf(unwrapped(at));
    at = typeof step === 'number' ? def.element : def.shape?.[step];
    if (!at) return true;
  }
  if (isThere && defOf(at).type === 'optional') at = defOf(at).innerType!;
  const { type } = defOf(at);
  if (['optional', 'nullable', 'boolean'].includes(type)) return true;
  // A text or a list that may be empty is optional to whoever fills in the form.
  return (type === 'string' && at.safeParse('').success) || (type === 'array' && at.safeParse([]).success);
}

function unwrapped(schema: Schema): Schema {
  const def = defOf(schema);
  return def.innerType ? unwrapped(def.innerType) : schema;
}
