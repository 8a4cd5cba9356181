/** The vocabulary of fields. Every string and every array is bounded; a guard walks the table and refuses one that is not. */
import * as z from 'zod/mini';
import { bulk, paging } from '../limits.ts';

export type Shape = Record<string, z.ZodMiniType>;
export const obj = <S extends Shape>(shape: S) => z.strictObject(shape);
/** Text of one line, trimmed, not empty. */
export const str = (max = 255) => z.string().check(z.trim(), z.minLength(1), z.maxLength(max));
/** Text that may be empty or hold several lines. */
export const text = (max = 255) => z.string().check(z.maxLength(max));
export const int = (min = 0, max = 2 ** 31 - 1) => z.int().check(z.gte(min), z.lte(max));
/** How many there may be; 0: as many as one likes (§9). */
export const limit = () => int(0, 1_000_000);
/** Any non-negative whole number that JavaScript holds exactly: bytes, revisions. */
export const big = () => z.int().check(z.gte(0));
export const num = (min: number, max: number) => z.number().check(z.gte(min), z.lte(max));
export const bool = () => z.boolean();
export const id = () => int(1);

/** zod looks at every item before it counts them: a body of too many, each of which takes long to judge, would hold up everybody. */
const Counted = z.core.$constructor('Counted', (inst: z.ZodMiniArray, def: z.core.$ZodArrayDef & { countMax: number }) => {
  (z.ZodMiniArray.init as (inst: z.ZodMiniArray, def: z.core.$ZodArrayDef) => void)(inst, def);
  const { parse } = inst._zod;
  inst._zod.parse = (payload, ctx) => {
    const input: unknown = payload.value;
    if (!Array.isArray(input) || input.length <= def.countMax) return parse(payload, ctx);
    payload.issues.push({ code: 'too_big', origin: 'array', maximum: def.countMax, inclusive: true, input, inst });
    return payload;
  };
});
const counted = <T extends z.ZodMiniType>(item: T, max: number) =>
  // it is one, with a bound more
  new Counted({ type: 'array', element: item, countMax: max }) as unknown as z.ZodMiniArray<T>;
export const arr = <T extends z.ZodMiniType>(item: T, max = 1000) => counted(item, max).check(z.maxLength(max));
export const some = <T extends z.ZodMiniType>(item: T, max = 1000) => counted(item, max).check(z.minLength(1), z.maxLength(max));
/** Words that people sort their rows by. */
export const tags = () => arr(str(64), 50);
export const ids = (max: number = bulk.idsMax) => some(id(), max);
export const one = <const T extends readonly string[]>(values: T) => z.enum(values);
export const oneOf = <const T extends readonly number[]>(values: T) => z.literal(values);
/** ISO 8601 UTC on the wire (decisions.md, Wire). */
export const time = () =>
  z.iso.datetime({ offset: true }).check(
    z.maxLength(40),
    // the years 1 to 9999 in UTC: what lies beyond has another written form, and PostgreSQL's calendar has no year 0
    z.refine(value => Date.parse(value) >= -62_135_596_800_000 && Date.parse(value) < 253_402_300_800_000),
  );
/** A file of a form: what the server receives of it. */
export interface UploadedFile {
  name: string;
  type: string;
  bytes: Uint8Array;
}
/** A file of at most so many bytes, of one of these media types. */
const files = new WeakSet<object>();
/** Whether a field is a file, which says by itself how large it may be. */
export const isFile = (field: unknown): boolean => typeof field === 'object' && field !== null && files.has(field);
export function file(bytesMax: number, types: readonly string[]) {
  const made = z.custom<UploadedFile>(value => {
    // as a browser has it before it is sent
    if (typeof Blob === 'function' && value instanceof Blob) return value.size <= bytesMax && types.includes(value.type);
    const given = value as Partial<UploadedFile> | null;
    return given?.bytes instanceof Uint8Array && given.bytes.length <= bytesMax && types.includes(given.type ?? '');
  });
  files.add(made);
  return made;
}
export const opt = z.optional;
export const nullable = z.nullable;
/** A record of free keys, bounded in keys and values: only for answers. */
export const map = <T extends z.ZodMiniType>(value: T) => z.record(z.string().check(z.maxLength(255)), value);

/** Common parameters of what is answered page by page (§3). */
export const paged = <S extends Shape>(filters: S) =>
  z.strictObject({
    page: opt(int(paging.pageFirst, paging.pageMax)),
    pageSize: opt(int(1, paging.pageSizeMax)),
    sortBy: opt(str(64)),
    orderBy: opt(one(['asc', 'desc'])),
    ...filters,
  });
/**
 * The same of a list of rows, with the filters of this one. `ids`: those of the list that are these rows, at most as many as a page holds;
 * an id that the list does not show finds nothing.
 */
export const list = <S extends Shape>(filters: S) => paged({ ids: opt(ids(paging.pageSizeMax)), ...filters });

export const page = <T extends z.ZodMiniType>(row: T) => z.object({ data: z.array(row), total: z.int() });

/** Every record carries these (§3). `version`: how often it was changed; a change may say which one it saw (decisions.md, Wire). */
export const record = { id: id(), version: int(), createdAt: time(), updatedAt: time(), deletedAt: nullable(time()) };

/** The same fields, each optional: the body of a PUT changes what it names. */
export function partial<S extends Shape>(shape: S) {
  return Object.fromEntries(Object.entries(shape).map(([key, field]) => [key, opt(field)])) as {
    [K in keyof S]: z.ZodMiniOptional<S[K]>;
  };
}
export type Infer<T> = T extends z.ZodMiniType ? z.output<T> : undefined;
