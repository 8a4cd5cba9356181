/** Valid input out of a call's schemas, so that the guards need no sample per call. */
import * as z from 'zod/mini';
import type { Mounted } from '#contract/kit/call.ts';
import type { UploadedFile } from '#contract/kit/schema.ts';

/** All moments of a body are one: whichever must not be after another is not. */
const begun = new Date().toISOString();

interface Check {
  _zod: { def: { check: string; minimum?: number; maximum?: number; value?: number; inclusive?: boolean } };
}
interface Def {
  type: string;
  checks?: Check[];
  format?: string;
  shape?: Record<string, z.ZodMiniType>;
  innerType?: z.ZodMiniType;
  element?: z.ZodMiniType;
  entries?: Record<string, string>;
  values?: unknown[];
  options?: z.ZodMiniType[];
}
export const defOf = (schema: unknown) => (schema as { _zod: { def: Def } })._zod.def;

/** The schema without optional and nullable around it. */
export function bare(schema: z.ZodMiniType): z.ZodMiniType {
  const def = defOf(schema);
  return def.type === 'optional' || def.type === 'nullable' ? bare(def.innerType!) : schema;
}

let serial = 0;
export const next = () => ++serial;

/** What a field of this name holds, where its schema alone does not say. `owner` stands in every text, so that a leak is seen. */
export type Values = Record<string, (owner: string, siblings: Record<string, unknown>) => unknown>;
let named: Values = {};
/** The folders say it (rows/). */
export const teach = (values: Values) => {
  named = values;
};

/** What the house hides from whoever may only look: a header that lets somebody in. */
export const letsIn = (owner: string) => ({ name: 'X-Token', value: `lets-${owner}-in` });

/** `override` answers undefined for fields it knows nothing of; every optional field is filled in. */
export function generate(
  schema: z.ZodMiniType,
  owner: string,
  override: (path: string[], schema: z.ZodMiniType) => unknown = () => undefined,
  path: string[] = [],
): unknown {
  const told = override(path, schema);
  if (told !== undefined) return told;
  const def = defOf(schema);
  const into = (inner: z.ZodMiniType, ...step: string[]) => generate(inner, owner, override, [...path, ...step]);
  const name = path.at(-1) ?? '';
  switch (def.type) {
    case 'optional':
    case 'nullable':
      return into(def.innerType!);
    case 'object': {
      const made: Record<string, unknown> = {};
      for (const [key, field] of Object.entries(def.shape!)) {
        const value = into(field, key);
        const told = override([...path, key], field) === undefined ? named[key]?.(owner, made) : undefined;
        made[key] = told !== undefined && fits(field, told) ? told : value;
      }
      // wherever a header can stand
      if ('name' in def.shape! && 'value' in def.shape!) Object.assign(made, letsIn(owner));
      return made;
    }
    case 'string':
      return def.format === 'datetime' ? begun : text(def.checks ?? [], name);
    case 'number': {
      const low = def.checks?.find(c => c._zod.def.check === 'greater_than')?._zod.def.value;
      return Math.max(low ?? 0, 0);
    }
    case 'boolean':
      return true;
    case 'enum':
      return Object.values(def.entries!)[0];
    case 'literal':
      return def.values![0];
    case 'array':
      return [into(def.element!, '0')];
    case 'union':
      return into(def.options![0]!);
    case 'record':
      return {};
    case 'custom':
      return fileFor(schema, path);
    default:
      throw new Error(`${path.join('.')}: server/test/guards/generate.ts does not know how to make a ${def.type}`);
  }
}

/** A file the schema takes: of the first media type it knows. */
function fileFor(schema: z.ZodMiniType, path: string[]): UploadedFile {
  for (const type of [
    'image/png',
    'image/jpeg',
    'image/svg+xml',
    'image/x-icon',
    'application/json',
    'text/plain',
    'application/octet-stream',
  ]) {
    const file = { name: 'file', type, bytes: new Uint8Array(8) };
    if (z.safeParse(schema, file).success) return file;
  }
  throw new Error(
    `${path.join('.')}: no file of a usual media type fits; add its type to fileFor in server/test/guards/generate.ts`,
  );
}

/** The body as JSON, or as form data where the call takes files. */
export function sendable(call: Mounted, body: unknown): { body?: unknown; raw?: Buffer; headers?: Record<string, string> } {
  if (body === undefined) return {};
  if (!call.def.upload) return { body };
  const boundary = 'guard-boundary';
  const parts = Object.entries(body as object).flatMap(([name, value]) => {
    const file = (value as Partial<UploadedFile> | null)?.bytes instanceof Uint8Array ? (value as UploadedFile) : undefined;
    // a file of the largest size is longer than a text can be
    const text = file ? '' : typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
    return [
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file ? `; filename="${file.name}"\r\nContent-Type: ${file.type}` : ''}\r\n\r\n`,
      file ? Buffer.from(file.bytes) : text,
      '\r\n',
    ];
  });
  const raw = Buffer.concat([...parts, `--${boundary}--\r\n`].map(part => (typeof part === 'string' ? Buffer.from(part) : part)));
  return { raw, headers: { 'content-type': `multipart/form-data; boundary=${boundary}` } };
}

/** A named value is used where the field takes it: `ips` of a list, `types` of media and not of figures. */
const fits = (field: z.ZodMiniType, value: unknown): boolean => z.safeParse(field, value).success;

function text(checks: Check[], name: string): string {
  const min = checks.find(c => c._zod.def.check === 'min_length')?._zod.def.minimum ?? 1;
  return (name || 'text').padEnd(min, 'x').slice(0, Math.max(min, 8));
}

export interface Slot {
  path: string[];
  /** an array of ids */
  many: boolean;
}
const idName = /^(ids?|sites|role)$|I[Dd]s?$/;

/** Where ids stand in an input. */
export function idSlots(schema: z.ZodMiniType, path: string[] = []): Slot[] {
  const inner = bare(schema);
  const def = defOf(inner);
  const name = path.at(-1) ?? '';
  if (def.type === 'object') return Object.entries(def.shape!).flatMap(([key, field]) => idSlots(field, [...path, key]));
  if (def.type === 'number') return idName.test(name) ? [{ path, many: false }] : [];
  if (def.type !== 'array') return [];
  const element = bare(def.element!);
  if (defOf(element).type === 'number') return idName.test(name) ? [{ path, many: true }] : [];
  return idSlots(element, [...path, '0']);
}

/** Every field of an input with its schema, objects and arrays included. */
export function fieldsOf(schema: z.ZodMiniType, path: string[] = []): { path: string[]; schema: z.ZodMiniType }[] {
  const inner = bare(schema);
  const def = defOf(inner);
  const own = path.length ? [{ path, schema: inner }] : [];
  if (def.type === 'object')
    return [...own, ...Object.entries(def.shape!).flatMap(([key, field]) => fieldsOf(field, [...path, key]))];
  if (def.type === 'array') return [...own, ...fieldsOf(def.element!, [...path, '0'])];
  return own;
}

export function put<T>(target: T, path: string[], value: unknown): T {
  const copy = structuredClone(target);
  let at = copy as Record<string, unknown>;
  for (const step of path.slice(0, -1)) at = at[step] as Record<string, unknown>;
  at[path.at(-1)!] = value;
  return copy;
}
