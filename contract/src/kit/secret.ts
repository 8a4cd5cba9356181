/**
 * Secrets in the vocabulary of fields. What is marked here stands in no answer, no audit, no log and no history; whoever reads the table of
 * calls asks this file, never the name of a field.
 */
import * as z from 'zod/mini';
import { bool, type Shape, text } from './schema.ts';

const marked = new WeakSet<object>();
/** A field of an input that is written down nowhere: a password, a token. To be put around the field when it is whole. */
export function confidential<T extends z.ZodMiniType>(field: T): T {
  marked.add(field);
  return field;
}

/** A column that is encrypted at rest (`sealed` of its table in server/src/kit/table.ts). */
export interface SecretField extends z.ZodMiniOptional<z.ZodMiniNullable<z.ZodMiniString>> {
  readonly isSecret: true;
}
/** Left out: it stays as it is; null or '': it is removed; an answer says `<name>IsSet` alone. `check` judges what is not empty. */
export function secret(max: number, check?: z.core.CheckFn<string>): SecretField {
  const bare = text(max);
  const judged = check ? bare.check(payload => (payload.value === '' ? undefined : check(payload))) : bare;
  return confidential(Object.assign(z.optional(z.nullable(judged)), { isSecret: true as const }));
}
const isSecret = (field: unknown): field is SecretField => (field as Partial<SecretField>).isSecret === true;

/** Fields as an answer has them: of a secret whether it is set. */
export type Told<F extends Shape> = {
  [K in keyof F as F[K] extends SecretField ? `${K & string}IsSet` : K]: F[K] extends SecretField ? z.ZodMiniBoolean : F[K];
};
export const isSetName = (name: string) => `${name}IsSet`;
export const told = <F extends Shape>(fields: F): Told<F> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => (isSecret(field) ? [isSetName(name), bool()] : [name, field])),
  ) as unknown as Told<F>;

const names = new WeakMap<object, ReadonlySet<string>>();
/** Names of the confidential fields of an input, at whatever depth. */
export function confidentialNames(schema: z.ZodMiniType | undefined): ReadonlySet<string> {
  if (!schema) return new Set();
  let found = names.get(schema);
  if (!found) names.set(schema, (found = new Set(namesIn(schema, ''))));
  return found;
}
interface Def {
  shape?: Record<string, z.ZodMiniType>;
  element?: z.ZodMiniType;
  innerType?: z.ZodMiniType;
  options?: z.ZodMiniType[];
  in?: z.ZodMiniType;
}
function namesIn(schema: z.ZodMiniType, name: string): string[] {
  if (marked.has(schema)) return name ? [name] : [];
  // zod's definitions by their discriminant; its types have one class for each
  const { shape, element, innerType, options = [], in: into } = schema._zod.def as unknown as Def;
  return [
    ...Object.entries(shape ?? {}).flatMap(([key, field]) => namesIn(field, key)),
    ...[element, innerType, into, ...options].flatMap(inner => (inner ? namesIn(inner, name) : [])),
  ];
}
