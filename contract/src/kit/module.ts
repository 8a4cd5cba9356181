/**
 * A module: settings of one type with a name, kept by a site and shared by those of its domains that it is assigned to. One declaration
 * gives the list's calls, the assignment (0 = None) and what the module's document holds.
 */
import * as z from 'zod/mini';
import { type Area, calls, type Group, type GroupOptions } from './call.ts';
import { arr, bool, id, ids, int, list, obj, opt, page, partial, record, type Shape, some, str, text } from './schema.ts';
import { confidentialNames } from './secret.ts';
import type { Values } from './setting.ts';

/** Freely named: any script, one line, no control characters (decisions.md, Wire). */
const moduleName = () => str(64).check(z.regex(/^[^\p{Cc}]*$/u));
const common = { name: moduleName(), memo: opt(text(255)), enabled: opt(bool()) };
const told = { name: text(64), memo: text(255), enabled: bool(), domainCount: int() };

export interface ModulePaths<L extends string, O extends string, A extends string> {
  /** read, made and removed: `/module/customHeaders` */
  list: L;
  /** changed: `/module/customHeader/{moduleID}`; without an id in it the body has one */
  one: O;
  /** given to domains: `/domains/module/customHeader` */
  assign: A;
}
export interface ModuleOptions<
  F extends Shape,
  L extends string,
  O extends string,
  A extends string,
  I extends string,
  W extends string,
  R extends Shape = Record<never, never>,
  T extends string = string,
>
  extends Pick<GroupOptions, 'permission' | 'pending'>, ModulePaths<L, O, A> {
  /** Names its rows, its document's content and its place in the domain's `moduleIDs`. */
  type: T;
  resource: string;
  fields: F;
  /**
   * What a field means that a stored module or a document of another release does not have: callers always say it. A field without one
   * is what a module of this type is about, and none was ever without it.
   */
  defaults: Partial<Values<F>>;
  /** Fields only read. */
  read?: R;
  check?: (item: z.ZodMiniObject<F, z.core.$strict>) => z.ZodMiniType;
  /** What the assignment calls the module. */
  idField: I;
  /** The array in the body of POST. */
  items: W;
}

type Item<F extends Shape> = z.ZodMiniObject<typeof common & F, z.core.$strict>;
type Row<F extends Shape, R extends Shape> = z.ZodMiniObject<typeof record & typeof told & F & R, z.core.$strict>;
type Patch<F extends Shape> = { [K in keyof (typeof common & F)]: z.ZodMiniOptional<(typeof common & F)[K]> };
type ID = ReturnType<typeof id>;
type Defs<
  F extends Shape,
  L extends string,
  O extends string,
  A extends string,
  I extends string,
  W extends string,
  R extends Shape,
  T extends string,
> = {
  [K in `GET ${L}`]: {
    query: ReturnType<typeof list<{ keyword: z.ZodMiniOptional<z.ZodMiniString> }>>;
    answer: ReturnType<typeof page<Row<F, R>>>;
  };
} & {
  [K in `POST ${L}`]: {
    body: z.ZodMiniObject<{ [N in W]: z.ZodMiniArray<Item<F>> }, z.core.$strict>;
    answer: z.ZodMiniObject<{ ids: z.ZodMiniArray<ID> }, z.core.$strict>;
  };
} & {
  [K in `PUT ${O}`]: {
    body: z.ZodMiniObject<O extends `${string}{moduleID}` ? Patch<F> : { id: ID } & Patch<F>, z.core.$strict>;
  };
} & { [K in `DELETE ${L}`]: { body: z.ZodMiniObject<{ ids: ReturnType<typeof ids> }, z.core.$strict> } } & {
  [K in `PUT ${A}`]: {
    body: z.ZodMiniObject<{ domainIDs: ReturnType<typeof ids> } & { [N in I]: ReturnType<typeof int> }, z.core.$strict>;
  };
} & { [K in `POST /${T}/copy`]: { body: typeof copyBody; answer: typeof copyAnswer } };

/** To other sites, with the rows below it. calls.md has it for acl and luaAcl as `{moduleID, siteIDs}`. */
const copyBody = obj({
  moduleID: id(),
  siteIDs: ids(),
  /** a module of this type and name, where a site has one, is made like this one; else that site is left as it is */
  overwrite: opt(bool()),
});
const copyAnswer = obj({ taskID: id() });

/** Most modules of one type and site, and most of one call. */
export const modulesMax = 200;
const areas: readonly Area[] = ['user', 'client'];

export function moduleOf<
  F extends Shape,
  const L extends string,
  const O extends string,
  const A extends string,
  const I extends string,
  const W extends string,
  R extends Shape = Record<never, never>,
  const T extends string = string,
>(options: ModuleOptions<F, L, O, A, I, W, R, T>) {
  const { type, resource, permission, pending, fields, defaults, check, idField, items, list: listed, one, assign } = options;
  if (confidentialNames(obj(fields)).size)
    throw new Error(`${type}: the settings of a module are answered whole, and hold no secret`);
  const bare = obj({ ...common, ...fields });
  const item = (check ? check(bare as never) : bare) as typeof bare;
  const patch = partial({ ...common, ...fields });
  const base = '/{area}/site/{siteID}';
  const group = calls(
    { base, areas, resource, ...(permission ? { permission } : {}), ...(pending ? { pending } : {}) },
    {
      [`GET ${listed}`]: {
        query: list({ keyword: opt(str(64)) }),
        answer: page(obj({ ...record, ...told, ...fields, ...options.read })),
      },
      [`POST ${listed}`]: { body: obj({ [items]: some(item, modulesMax) }), answer: obj({ ids: arr(id(), modulesMax) }) },
      [`PUT ${one}`]: { body: obj(one.endsWith('{moduleID}') ? patch : { id: id(), ...patch }) },
      [`DELETE ${listed}`]: { body: obj({ ids: ids(modulesMax) }), errors: ['multiple'] },
      [`PUT ${assign}`]: { body: obj({ domainIDs: ids(), [idField]: int(0) }) },
      [`POST /${type}/copy`]: { body: copyBody, answer: copyAnswer },
    },
  );
  const module = {
    type,
    fields,
    defaults,
    item,
    idField,
    items,
    list: listed,
    one,
    assign,
    // the keys are made of the very paths the type is made of
    calls: group as unknown as Group<typeof base, Defs<F, L, O, A, I, W, R, T>>,
  };
  Object.assign(group, { module: module satisfies Module });
  return module;
}

/** Whether the calls of a group are those of a module, which its declaration alone makes. */
export const isModuleGroup = (group: Group): group is Group & { module: Module } => 'module' in group;

/** What the server reads of any module. */
export interface Module extends ModulePaths<string, string, string> {
  type: string;
  fields: Shape;
  defaults: Readonly<Record<string, unknown>>;
  item: z.ZodMiniType;
  idField: string;
  items: string;
  calls: unknown;
}
