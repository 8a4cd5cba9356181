/** The repeated family of calls: GET list, POST {items}, PUT {id, …}, DELETE {ids}. */
import type * as z from 'zod/mini';
import { frequencyColourDefault } from '../limits.ts';
import { type Told, told } from './secret.ts';
import { arr, id, ids, list, obj, opt, page, partial, record, type Shape, some } from './schema.ts';

/** What a new row has where the caller says nothing. The same fields are whole in answers. */
export const crudDefaults = {
  enabled: true,
  blockType: 'deny',
  priority: 100,
  expiredAt: null,
  memo: '',
  action: 'limit',
  colour: frequencyColourDefault,
} as const;
type Lax<F extends Shape> = { [K in keyof F]: K extends keyof typeof crudDefaults ? z.ZodMiniOptional<F[K]> : F[K] };
const lax = <F extends Shape>(fields: F) =>
  Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, key in crudDefaults ? opt(field) : field])) as Lax<F>;

export interface CrudOptions<F extends Shape, Q extends Shape, W extends string> {
  /** Fields a caller writes. */
  fields: F;
  /** Fields only read: in answers beside the written ones. */
  read?: Shape;
  /** Filters of the list. */
  filters?: Q;
  /** Name of the array in the body of POST. */
  items?: W;
  /** Checks over all fields of one item (rules of §5 that look at more than one field). */
  check?: (item: z.ZodMiniObject<Lax<F>, z.core.$strict>) => z.ZodMiniType;
  max?: number;
}

/** Where the list is read, if its path differs from the one written to (`/cacheRules` beside `/cacheRule`). */
interface ListPath<L extends string> {
  list?: L;
}

/** `crud('/userAgents', {fields})` makes the four calls; spread it into `calls()`. */
export function crud<
  const P extends string,
  F extends Shape,
  Q extends Shape = Record<never, never>,
  const W extends string = 'items',
  const R extends Shape = Record<never, never>,
  const L extends string = P,
>(path: P, options: CrudOptions<F, Q, W> & { read?: R } & ListPath<L>) {
  const { fields, filters = {} as Q, items = 'items' as W, max = 1000, check } = options;
  const row = obj({ ...record, ...told(fields), ...(options.read ?? ({} as R)) });
  const item = obj(lax(fields));
  const checked = (check ? check(item as never) : item) as typeof item;
  const defs = {
    [`GET ${options.list ?? path}`]: { query: list(filters), answer: page(row) },
    [`POST ${path}`]: {
      body: obj({ [items]: some(checked, max) } as { [K in W]: ReturnType<typeof some<typeof item>> }),
      answer: obj({ ids: arr(id(), max) }),
    },
    [`PUT ${path}`]: { body: obj({ id: id(), ...partial(fields) }) },
    [`DELETE ${path}`]: { body: obj({ ids: ids(max) }), errors: ['multiple'] },
  };
  // keys made of a path: no type follows that
  return defs as unknown as CrudDefs<P, F, Q, W, R, L>;
}

type Rec = typeof record;
type Ids = ReturnType<typeof ids>;
type ID = ReturnType<typeof id>;
export type CrudDefs<P extends string, F extends Shape, Q extends Shape, W extends string, R extends Shape, L extends string> = {
  [K in `GET ${L}`]: {
    query: ReturnType<typeof list<Q>>;
    answer: ReturnType<typeof page<z.ZodMiniObject<Rec & Told<F> & R, z.core.$strict>>>;
  };
} & {
  [K in `POST ${P}`]: {
    body: z.ZodMiniObject<{ [N in W]: z.ZodMiniArray<z.ZodMiniObject<Lax<F>, z.core.$strict>> }, z.core.$strict>;
    answer: z.ZodMiniObject<{ ids: z.ZodMiniArray<ID> }, z.core.$strict>;
  };
} & {
  [K in `PUT ${P}`]: { body: z.ZodMiniObject<{ id: ID } & { [N in keyof F]: z.ZodMiniOptional<F[N]> }, z.core.$strict> };
} & {
  [K in `DELETE ${P}`]: { body: z.ZodMiniObject<{ ids: Ids }, z.core.$strict> };
};
