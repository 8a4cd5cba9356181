/** What every declaration of a call must have: an area, a key, bounded and strict input, errors that exist. */
import { isFile } from '#contract/kit/schema.ts';
import type * as z from 'zod/mini';
import { errorCodes } from '#contract/errors/codes.ts';
import { areas } from '#contract/kit/call.ts';
import type { Mounted } from '#contract/kit/call.ts';

export type Named = Pick<Mounted, 'method' | 'path'>;
export const lineOf = (call: Named) => `${call.method} ${call.path}`;

/** A call lies in an area, or is one of the few that lie outside. */
export function areaProblems(calls: Iterable<Mounted>, outside: readonly string[]): string[] {
  return [...calls].flatMap(call => {
    const inArea = areas.some(area => call.path === `/${area}` || call.path.startsWith(`/${area}/`));
    if (!inArea) return outside.includes(lineOf(call)) ? [] : [`${lineOf(call)}: lies in no area`];
    return call.area && call.path.split('/')[1] === call.area
      ? []
      : [`${lineOf(call)}: says area ${call.area}, its path another`];
  });
}

/** A key is asked for, save of the exact sets named here: `open` (nobody is asked) and `own` (any signed-in account). */
export function permissionProblems(calls: Iterable<Mounted>, open: readonly string[], own: readonly string[]): string[] {
  const problems: string[] = [];
  for (const call of calls) {
    const line = lineOf(call);
    if (call.auth === 'public' && !open.includes(line)) problems.push(`${line}: open to everybody, and not in the named set`);
    if (call.auth === 'public' || call.auth === 'node') {
      if (call.permission !== null) problems.push(`${line}: asks nobody who they are, but for the key ${call.permission}`);
    } else if (call.permission === null) {
      if (!own.includes(line)) problems.push(`${line}: asks for no key, and is not in the named set`);
    } else if (!/^[a-z][A-Za-z0-9]*\.(view|edit)$/.test(call.permission))
      problems.push(`${line}: the key ${call.permission} is not resource.view or resource.edit`);
  }
  return problems;
}

export function errorProblems(calls: Iterable<Mounted>): string[] {
  return [...calls].flatMap(call =>
    (call.def.errors ?? [])
      .filter(name => !Object.hasOwn(errorCodes, name))
      .map(name => `${lineOf(call)}: no error is called ${name}`),
  );
}

type Def = Record<string, unknown> & { type: string };
const defOf = (schema: unknown) => (schema as z.core.$ZodType)._zod.def as unknown as Def;

/** Strings and arrays are bounded, objects refuse unknown keys, nothing is left open or rewritten on the way in. */
export function inputProblems(calls: Iterable<Mounted>): string[] {
  return [...calls].flatMap(call =>
    (['query', 'body'] as const).flatMap(part => {
      const schema = call.def[part];
      if (!schema) return [];
      if (part === 'body' && call.method === 'GET') return [`${lineOf(call)}: GET takes no body`];
      const found = schemaProblems(schema).map(problem => `${lineOf(call)} ${part}${problem}`);
      return defOf(schema).type === 'object' ? found : [...found, `${lineOf(call)} ${part}: is no object`];
    }),
  );
}

/** A check that says how long at most: `maxLength`, `length`, or `maxSize` of a file. */
const bounds = new Set(['max_length', 'length_equals', 'max_size', 'size_equals']);
function bounded(schema: unknown, path: string, what: string): string[] {
  const checks = (defOf(schema)['checks'] ?? []) as Partial<z.core.$ZodCheck>[];
  return checks.some(check => bounds.has(check._zod?.def.check ?? '')) ? [] : [`${path}: ${what} without maxLength`];
}

/** Problems of one schema, each with the path that leads to it. */
export function schemaProblems(schema: unknown, path = '', depth = 0): string[] {
  if (depth > 20) return [`${path}: deeper than 20`];
  const def = defOf(schema);
  const into = (inner: unknown, step = '') => schemaProblems(inner, path + step, depth + 1);
  switch (def.type) {
    case 'string':
      return bounded(schema, path, 'text');
    case 'array':
      return [...bounded(schema, path, 'array'), ...into(def['element'], '[]')];
    case 'object': {
      const catchall = def['catchall'];
      const strict = catchall !== undefined && defOf(catchall).type === 'never';
      const fields = Object.entries(def['shape'] as Record<string, unknown>).flatMap(([key, field]) => into(field, `.${key}`));
      return strict ? fields : [`${path}: object that lets unknown keys pass`, ...fields];
    }
    case 'optional':
    case 'nullable':
    case 'nonoptional':
    case 'readonly':
      return into(def['innerType']);
    case 'union':
      return (def['options'] as unknown[]).flatMap(option => into(option));
    case 'tuple':
      return (def['items'] as unknown[]).flatMap((item, index) => into(item, `[${index}]`));
    case 'number':
    case 'boolean':
    case 'enum':
    case 'literal':
    case 'null':
      return [];
    case 'custom':
      return isFile(schema) ? [] : [`${path}: custom does not belong into an input`];
    case 'file':
      return bounded(schema, path, 'file');
    default:
      return [`${path}: ${def.type} does not belong into an input`];
  }
}
