/**
 * Rows below a module (`/module/urlRedirect/{moduleID}/redirects`): what a module holds beside its settings. They are made, changed and
 * removed in numbers, and each call is done as a whole or not at all: what a row may be hangs on the others.
 */
import type * as z from 'zod/mini';
import { type Area, calls, type Group, type GroupOptions } from './call.ts';
import { arr, bool, id, ids, list, obj, opt, page, partial, record, type Shape, some } from './schema.ts';

interface Options<F extends Shape, K extends keyof F, Q extends Shape, P extends string> extends Pick<
  GroupOptions,
  'permission' | 'pending'
> {
  /** of the module they hang on */
  type: string;
  resource: string;
  /** with `{moduleID}` in it */
  path: P;
  /** of the rows in the database */
  table: string;
  fields: F;
  /** What a new row has where the caller says nothing. */
  defaults: Readonly<Record<K, unknown>>;
  check?: (item: z.ZodMiniObject<Shape, z.core.$strict>) => z.ZodMiniType;
  filters?: Q;
  /** columns a caller may sort by, beside the times */
  sort: readonly string[];
  /** rows of one call: made or removed, and changed */
  max: { add: number; change: number };
  bodyLimit?: number;
}

const areas: readonly Area[] = ['user', 'client'];
const own = { enabled: bool() };
type Own = typeof own;
type ID = ReturnType<typeof id>;
type Opt<S extends Shape> = { [K in keyof S]: z.ZodMiniOptional<S[K]> };
type Strict<S extends Shape> = z.ZodMiniObject<S, z.core.$strict>;
type Defs<F extends Shape, K extends keyof F, Q extends Shape, P extends string> = {
  [C in `GET ${P}`]: {
    query: ReturnType<typeof list<Q>>;
    answer: ReturnType<typeof page<Strict<typeof record & Own & F>>>;
  };
} & {
  [C in `POST ${P}`]: {
    body: Strict<{ items: z.ZodMiniArray<Strict<Omit<F, K> & Opt<Pick<F, K> & Own>>> }>;
    answer: Strict<{ ids: z.ZodMiniArray<ID> }>;
  };
} & {
  [C in `PUT ${P}`]: { body: Strict<{ items: z.ZodMiniArray<Strict<{ id: ID } & Opt<F & Own>>> }> };
} & { [C in `DELETE ${P}`]: { body: Strict<{ ids: ReturnType<typeof ids>; moduleId: z.ZodMiniOptional<ID> }> } };

export function moduleRowsOf<F extends Shape, const K extends keyof F & string, Q extends Shape, const P extends string>(
  options: Options<F, K, Q, P>,
) {
  const { type, resource, permission, pending, path, table, fields, defaults, check, filters, sort, max, bodyLimit } = options;
  const whole = { ...fields, ...own };
  const lax = Object.fromEntries(
    Object.entries(whole).map(([name, field]) => [name, name === 'enabled' || name in defaults ? opt(field) : field]),
  );
  const bare = obj(lax);
  const item = check ? check(bare) : bare;
  const base = '/{area}/site/{siteID}';
  const limit = bodyLimit === undefined ? {} : { bodyLimit };
  const group = calls(
    { base, areas, resource, ...(permission ? { permission } : {}), ...(pending ? { pending } : {}) },
    {
      [`GET ${path}`]: { query: list(filters ?? {}), answer: page(obj({ ...record, ...own, ...fields })) },
      [`POST ${path}`]: { body: obj({ items: some(item, max.add) }), answer: obj({ ids: arr(id(), max.add) }), ...limit },
      [`PUT ${path}`]: { body: obj({ items: some(obj({ id: id(), ...partial(whole) }), max.change) }), ...limit },
      // the module of the path, where the body names it again
      [`DELETE ${path}`]: { body: obj({ ids: ids(max.add), moduleId: opt(id()) }) },
    },
  );
  return {
    type,
    path,
    table,
    item,
    names: Object.keys(whole),
    defaults: { enabled: true, ...defaults } as Readonly<Record<string, unknown>>,
    sort,
    // the keys are made of the very path the type is made of
    calls: group as unknown as Group<typeof base, Defs<F, K, Q, P>>,
  };
}

/** What the server reads of any rows below modules. */
export interface ModuleRows {
  type: string;
  path: string;
  table: string;
  item: z.ZodMiniType;
  names: readonly string[];
  defaults: Readonly<Record<string, unknown>>;
  sort: readonly string[];
  calls: unknown;
}
