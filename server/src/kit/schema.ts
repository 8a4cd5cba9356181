/** What the mount reads from a call's schemas: coercion of query text, JSON Schema for answers and OpenAPI. */
import { problemsOf } from '#contract/rules/zod.ts';
import * as z from 'zod/mini';
import build from 'fast-json-stringify';
import type { FieldError } from '#contract/errors.ts';

type Json = Record<string, unknown>;

/** JSON Schema 2020-12 of a zod schema; `io` says which side. */
export function jsonSchema(schema: z.ZodMiniType, io: 'input' | 'output'): Json {
  const { $schema: _, ...made } = z.toJSONSchema(schema, { io, unrepresentable: 'any', target: 'draft-2020-12' }) as Json;
  return made;
}

/** A writer of answers: fast, and it drops every field that is not declared. */
export function writer(schema: z.ZodMiniType): (value: unknown) => string {
  // the library's types want its own classes of schema
  return build(plain(jsonSchema(schema, 'output')) as never) as (value: unknown) => string;
}

/** `anyOf [x, null]` is slow in the writer, and patterns are of no use to it. */
function plain(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(plain);
  if (node === null || typeof node !== 'object') return node;
  const copy: Json = {};
  for (const [key, value] of Object.entries(node)) {
    // names of fields, which may be called as what is left out
    if (key === 'properties') {
      copy[key] = Object.fromEntries(Object.entries(value as Json).map(([name, field]) => [name, plain(field)]));
      continue;
    }
    if (
      [
        'pattern',
        'format',
        'minLength',
        'maxLength',
        'minimum',
        'maximum',
        'minItems',
        'maxItems',
        'exclusiveMinimum',
        'propertyNames',
      ].includes(key)
    )
      continue;
    if (key === 'anyOf' && Array.isArray(value)) {
      const rest = value.filter(one => (one as Json)['type'] !== 'null');
      if (rest.length === 1 && value.length === 2) {
        Object.assign(copy, plain(rest[0]), { nullable: true });
        continue;
      }
    }
    copy[key] = plain(value);
  }
  // whole numbers beyond 2^31 pass as they are
  if (copy['type'] === 'integer') copy['type'] = 'number';
  return copy;
}

// JSON Schema, 10.3.2.1
const propertiesOf = (schema: z.ZodMiniType) => (jsonSchema(schema, 'input')['properties'] ?? {}) as Record<string, Json>;
export const fieldNames = (schema: z.ZodMiniType): string[] => Object.keys(propertiesOf(schema));
type Coerce = (value: unknown) => unknown;
/**
 * Query values arrive as text; the schema says what they are meant to be. `tags=a` and `tags=a&tags=b` both work. `keepsEmpty`: of a form,
 * where an empty text takes away what was there.
 */
export function coercer(schema: z.ZodMiniType, keepsEmpty = false): (query: Record<string, unknown>) => Record<string, unknown> {
  const made = new Map<string, Coerce>(
    Object.entries(propertiesOf(schema)).map(([name, property]) => [name, coerceOf(property)]),
  );
  return query => {
    // no prototype: a parameter may be called __proto__
    const result = Object.create(null) as Record<string, unknown>;
    for (const name of Object.keys(query)) {
      const value = query[name];
      // an empty parameter is one that was not given
      if (value === '' && !keepsEmpty) continue;
      result[name] = made.get(name)?.(value) ?? value;
    }
    return result;
  };
}
function coerceOf(property: Json): Coerce {
  const values = property['enum'] ?? (property['const'] === undefined ? [] : [property['const']]);
  const type =
    property['type'] ??
    (Array.isArray(values) && values.length && values.every(v => typeof v === 'number') ? 'number' : undefined);
  if (type === 'integer' || type === 'number')
    return value => (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value);
  if (type === 'boolean')
    return value => (value === 'true' || value === '1' ? true : value === 'false' || value === '0' ? false : value);
  if (type === 'array') {
    const item = coerceOf((property['items'] ?? {}) as Json);
    return value => (Array.isArray(value) ? value : [value]).map(item);
  }
  return value => value;
}

/** What is wrong with `input`, as errorData of 101003 tells it: rules by name, in the words forms know. */
export function problems(error: z.core.$ZodError, input: unknown): FieldError[] {
  return problemsOf(error.issues, input);
}
