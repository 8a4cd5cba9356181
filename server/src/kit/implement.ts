/** Handlers beside their declarations. A group whose handlers are missing or answer a wrong shape does not compile. */
import type * as z from 'zod/mini';
import type { CallsOf, Defs, Group } from '#contract/kit/call.ts';
import { crudDefaults } from '#contract/kit/crud.ts';
import type { Context } from './context.ts';
import { judged } from './judged.ts';
import { listOf } from './listed.ts';
import type { Services } from './services.ts';
import type { Table } from './table.ts';
import { removeAll } from './removal.ts';
import { checkWhole } from './whole.ts';
import type { Incoming } from './request.ts';

interface AnyCall {
  params: unknown;
  queryOut: unknown;
  bodyOut: unknown;
  answer: unknown;
}
export interface Input<T extends AnyCall> {
  ctx: Context;
  params: T['params'];
  query: T['queryOut'];
  body: T['bodyOut'];
  /** the rows that the ids of the path name, found in the actor's scope before the handler runs */
  found: Record<string, Record<string, unknown>>;
  request: Incoming;
  /** what `prepare` of this call answered */
  prepared: unknown;
}
export type Handler<T extends AnyCall> = (input: Input<T>) => Promise<T['answer']>;
export type Handlers<G> = CallsOf<G> extends infer C ? { [K in keyof C]: C[K] extends AnyCall ? Handler<C[K]> : never } : never;

// oxlint-disable-next-line typescript/no-explicit-any -- the precise types hold at implement()
type Any = any;
export type AnyHandler = (input: {
  ctx: Context;
  params: Any;
  query: Any;
  body: Any;
  found: Record<string, Record<string, Any>>;
  request: Incoming;
  prepared: unknown;
}) => Promise<Any>;
export interface Implementation {
  group: Group;
  handlers: Record<string, AnyHandler>;
  params: Record<string, Table>;
  prepare?: Record<string, AnyHandler>;
  hold?: Record<string, Hold>;
  /** how somebody proves that they are there, for calls that are declared `present`: of one group of all */
  presence?: Presence | undefined;
  /** file downloads: what Content-Disposition says */
  fileName?: Record<string, string>;
}

/** How somebody proves that they are there: what the folder of accounts implements. */
export interface Presence {
  /** @throws 101003 at `ownPassword` */
  password(ctx: Context, request: Incoming, password: string): Promise<unknown>;
  /** @throws 101003 at `code` */
  code(ctx: Context, code: string | undefined): Promise<void>;
}
/** @throws Fail: the body is not read */
export type Hold = (services: Services) => { leave(): void } | undefined;

export interface ImplementOptions<K extends string = string> {
  /** What is held from before a form is read until the call is through, so that no two are in memory; `prepare` has it as `prepared`. */
  hold?: Partial<Record<K, Hold>>;
  /** What is done before it is the call's turn to write, so that no connection and no lock is held meanwhile: hashing above all. */
  prepare?: Partial<Record<K, AnyHandler>>;
  presence?: Presence;
  /** path parameter → the table whose row it names, found in scope before the handler runs */
  params?: Record<string, Table>;
  /** list → the table whose rows it shows: their history can be asked for */
  // oxlint-disable-next-line typescript/no-explicit-any -- tables of any rows
  rows?: Partial<Record<K, Table<any>>>;
}

export function implement<G extends Group<string, Defs>>(
  group: G,
  handlers: Handlers<G>,
  options: ImplementOptions<keyof Handlers<G> & string> = {},
): Implementation {
  for (const [key, target] of Object.entries(options.rows ?? {}) as [keyof Handlers<G>, Table][])
    listOf(target, handlers[key] as AnyHandler);
  return {
    // what is precise here is any group's from now on
    group: group as unknown as Group,
    // and so are its handlers
    handlers: handlers as unknown as Record<string, AnyHandler>,
    params: options.params ?? {},
    prepare: (options.prepare ?? {}) as Record<string, AnyHandler>,
    hold: (options.hold ?? {}) as Record<string, Hold>, // by the names of the calls
    presence: options.presence,
  };
}

/** Handlers that a kit made, and that take and answer what the contract's own kit declared. */
export const implementMade = (group: Group<string, Defs>, handlers: Record<string, AnyHandler>): Implementation =>
  // mounting pairs them by their keys, and refuses to start when one lacks the other
  implement(group, handlers as never);

/** May refuse a row or complete it. */
export type Before = (ctx: Context, row: Record<string, unknown>, params: Record<string, number>) => Promise<void>;

type CrudKeys<P extends string, L extends string> = `GET ${L}` | `POST ${P}` | `PUT ${P}` | `DELETE ${P}`;
/**
 * The four handlers of a `crud()` family over one table. `items` is the wrapper of POST; `before` may refuse or
 * complete a row, with every other rule of the resource living in the contract.
 */
export function crudOf<const P extends string, R extends Record<string, unknown>, const L extends string = P>(
  path: P,
  target: Table<R>,
  options: {
    list?: L;
    items?: string;
    /** path parameter → column it pins; `{siteID}` pins the column of its name */
    parents?: (params: Record<string, number>) => Record<string, number>;
    before?: Before;
    /** after rows went, also where others could not */
    removed?: (ctx: Context) => Promise<void>;
    /** the declaration: PUT then checks the row as it will be by the rules of a new one */
    group?: Declared;
  } = {},
) {
  const parents = options.parents ?? (params => params);
  const item = options.group && itemOf(options.group, path, options.items ?? 'items');
  if (item) judged(target, item, Object.keys(item.shape));
  const handlers: Record<string, AnyHandler> = {
    [`GET ${options.list ?? path}`]: listOf(target, ({ ctx, params, query }) => ctx.store(target, parents(params)).page(query)),
    [`POST ${path}`]: async ({ ctx, params, body }) => {
      const given = body[options.items ?? 'items'] as Record<string, unknown>[];
      const items = item ? given.map(one => withDefaults(item, one)) : given;
      for (const item of items) await options.before?.(ctx, item, params);
      return { ids: await ctx.store(target, parents(params)).add(items, {}, options.items) };
    },
    [`PUT ${path}`]: async ({ ctx, params, body }) => {
      await options.before?.(ctx, body, params);
      const store = ctx.store(target, parents(params));
      if (item) checkWhole(item, await store.get(body.id), body);
      await store.set(body.id, body);
      return {};
    },
    [`DELETE ${path}`]: ({ ctx, params, body }) =>
      removeAll(ctx.store(target, parents(params)), body.ids, () => options.removed?.(ctx) ?? Promise.resolve()),
  };
  // shapes come from crud() of the contract, made from the same fields
  return handlers as unknown as Record<CrudKeys<P, L>, AnyHandler>;
}

type ObjectSchema = z.ZodMiniObject;
/** A new row with what the caller left out (contract/src/kit/crud.ts). */
const withDefaults = (item: ObjectSchema, given: Record<string, unknown>) => ({
  ...Object.fromEntries(Object.entries(crudDefaults).filter(([name]) => name in item.shape)),
  ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
});
/** What is asked of any group, whatever its calls. */
interface Declared {
  defs: Record<string, object>;
}
/** The schema of one item of `POST {items: […]}`. */
function itemOf(group: Declared, path: string, items: string): ObjectSchema {
  // a group of crud() has it
  const { body } = group.defs[`POST ${path}`] as { body: ObjectSchema };
  // zod's own types of a shape's fields know no definition
  return (body.shape[items] as unknown as { def: { element: ObjectSchema } }).def.element;
}
