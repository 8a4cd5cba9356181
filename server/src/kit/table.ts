/**
 * Tables, declared once. A table is reached through an actor alone: its scope is part of the declaration, and a
 * declaration without one does not compile.
 */
import { sql } from 'kysely';
import type { DocumentKind } from '#contract/edge/kinds/index.ts';
import type { ErrorName } from '#contract/errors.ts';
import type { Language } from '#contract/kit/text.ts';
import type { Actor } from './actor.ts';
import { and, type Sql } from '../store/db.ts';
import { moreName, ofTenant, touchedName } from './stale.ts';

/**
 * Rows hang on a row of another table (and share its scope), or name their owner themselves. `tenant`: whose a row is, as columns of it, the
 * operator's before the customer's; of several for one the first that is set. What is told of many rows at once is told by it (`underName`).
 */
export type Scope =
  | { parent: Table; column: string }
  | { owner: (actor: Actor, alias: string) => Sql; tenant: readonly (readonly string[])[] };

export interface Table<Row = Record<string, unknown>> {
  table: string;
  scope: Scope;
  /** columns that have one value in all rows, where one database table holds several kinds of rows */
  pin?: Readonly<Record<string, string>>;
  /** columns a caller may sort by; the first is not special: rows come by id, newest first, unless asked */
  sort?: readonly string[];
  /** order when the caller asks for none */
  order?: Sql;
  /** query parameter → condition */
  filters?: Record<string, (value: never, alias: string) => Sql>;
  /** columns computed beside the stored ones, as SQL over the alias `t` */
  extra?: Record<string, Sql>;
  /** body fields that hold the id of a row elsewhere: a foreign one answers as an unknown one */
  refs?: Record<string, Table>;
  /** which edge document a write changes; `through`: the column that holds the document's id */
  edge?: { kind: DocumentKind; column: string };
  /** rows at most below one row of `scope.parent` (the edge document has no room for more) */
  most?: number;
  /** bytes of all rows together below one row of `scope.parent`, for the same reason */
  bytesMax?: number;
  /** Rows that have this value alone count among `most` and `bytesMax`: the others are bounded elsewhere. Left out: all. */
  counted?: { column: string; value: string };
  /** unique index → the error it means */
  unique?: Record<string, ErrorName>;
  /** its rows alone are what a call below one of them may break: such a call needs no lock on the account it acts for */
  closed?: boolean;
  /** The column that says when a row ends: it is removed then, by nobody (work/expiry.ts). Its migration indexes what has an end. */
  expires?: string;
  /** rows come with the program and never change */
  fixed?: boolean;
  /** Of an id in a path that no row has: what it names all the same, with the columns of a row. */
  unkept?(id: number, by: { services: object; language: Language }): Promise<Record<string, unknown> | undefined>;
  /** rows carry deletedAt (default), or are removed outright */
  soft?: boolean;
  /** Of rows deleted below one parent the newest thousand are kept, and no statistics name them: who makes and deletes all day fills no disk. */
  forgets?: boolean;
  /** its column `version` is something else: the row's own is `rowVersion` on the wire too */
  ownVersion?: boolean;
  /** Rows belong to another: who writes them writes that row, whose version rises (`Store.set` with `parts`). */
  partOf?: { table: string; column: string };
  /** Columns that follow from others: nobody sends them, so nobody is told that they differ. */
  follows?: readonly string[];
  /** columns that stand in no answer, audit or history: hashes, and what nobody needs to see */
  secret?: readonly string[];
  /** columns (text) that are encrypted at rest, and stand in no answer, audit or history: fields made by `secret()` of the contract */
  sealed?: readonly string[];
  /** only for inference */
  row?: Row;
}

/** Every declaration there is; one database table may have several. */
export const declaredTables: Table[] = [];

/** `table<Row>()({ table: 'zone', scope: … })` */
export const table =
  <Row>() =>
  <const T extends Table<Row>>(definition: T): Table<Row> & T => {
    // Many light rows cost a node as much as a few heavy ones.
    if (definition.bytesMax !== undefined && definition.most === undefined)
      throw new Error(
        `${definition.table}: rows of a document are bounded by their number (\`most\`) as well as by what they weigh`,
      );
    // what follows asks for no row of it
    declaredTables.push(definition as unknown as Table);
    return definition;
  };
/** Tables whose rows end by themselves. */
export const expiring = (): Table[] => declaredTables.filter(({ expires }) => expires !== undefined);

/** What a list is asked for: its page, its order, its filters by name. */
export interface ListQuery {
  page?: number | undefined;
  pageSize?: number | undefined;
  sortBy?: string | undefined;
  orderBy?: 'asc' | 'desc' | undefined;
  ids?: readonly number[] | undefined;
  [filter: string]: unknown;
}

export const col = (name: string, alias = 't'): Sql => sql`${sql.ref(`${alias}.${name}`)}`;

/**
 * The name, in lines of the audit that do not name each row, of rows that hang on one other, or that belong to one tenant: `module:5/redirect`,
 * `/site@3.7`. One of several tenants' rows would tell each of them of the others'.
 */
export function underName({ table, scope }: Pick<Table, 'table' | 'scope'>, values: Record<string, unknown>): string {
  // ids are numbers
  if ('parent' in scope) return moreName(table, touchedName(scope.parent.table, values[scope.column] as number));
  const ids = scope.tenant.map(names => {
    if (names.some(name => !(name in values))) throw new Error(`${table}: a row without ${names.join(', ')}`);
    return names.map(name => values[name]).find(id => id !== null) ?? 0;
  });
  return ofTenant(moreName(table), ids.join('.'));
}
/** The same of a row `t`. */
export const underNameOf = ({ table, scope }: Table): Sql =>
  'parent' in scope
    ? sql`(${`${scope.parent.table}:`} || ${col(scope.column)} || ${moreName(table)})`
    : sql`(${ofTenant(moreName(table), '')} || ${sql.join(
        scope.tenant.map(names => sql`coalesce(${sql.join(names.map(name => col(name)))}, 0)`),
        sql` || '.' || `,
      )})`;

/** The condition under which an actor may touch rows of the table. */
export function scopeOf(target: Table, actor: Actor, alias = 't', depth = 0): Sql {
  const { scope } = target;
  // in brackets: it stands behind `not` and beside `or`
  if ('owner' in scope) return sql`(${scope.owner(actor, alias)})`;
  const inner = `p${depth}`;
  return sql`${col(scope.column, alias)} in (select ${col('id', inner)} from ${sql.table(scope.parent.table)} as ${sql.raw(inner)} where ${and(
    [
      scopeOf(scope.parent, actor, inner, depth + 1),
      ...(scope.parent.soft === false ? [] : [sql`${col('deletedAt', inner)} is null`]),
    ],
  )})`;
}

// Filters that many lists share.
const escapeLike = (value: string) => value.replace(/[\\%_]/g, '\\$&');
export const like =
  (...columns: string[]) =>
  (value: string, alias: string): Sql =>
    sql`(${sql.join(
      columns.map(column => sql`${col(column, alias)} ilike ${`%${escapeLike(value)}%`}`),
      sql` or `,
    )})`;
/** The same as a condition of its own, over the rows `t`; without a word none. */
export const contains = (word: string | undefined, ...columns: string[]): Sql[] => (word ? [like(...columns)(word, 't')] : []);
export const eq =
  (column: string) =>
  (value: string | number | boolean, alias: string): Sql =>
    sql`${col(column, alias)} = ${value}`;
export const overlaps =
  (column: string) =>
  (value: string[], alias: string): Sql =>
    value.length ? sql`${col(column, alias)} && ${value}::text[]` : sql`true`;
export const oneOf =
  (column: string) =>
  (value: string[], alias: string): Sql =>
    value.length ? sql`${col(column, alias)} = any(${value})` : sql`true`;
const from =
  (column: string) =>
  (value: string, alias: string): Sql =>
    sql`${col(column, alias)} >= ${value}::timestamptz`;
const until =
  (column: string) =>
  (value: string, alias: string): Sql =>
    sql`${col(column, alias)} < ${value}::timestamptz`;
export const dates = {
  createdStart: from('createdAt'),
  createdEnd: until('createdAt'),
  updatedStart: from('updatedAt'),
  updatedEnd: until('updatedAt'),
};
