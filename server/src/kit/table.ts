/**
 * Tables, declared once. A table is reached through an actor alone: its scope is part of the declaration, and a
 * declaration without one does not compile.
 */
import { sql } from 'kysely';
import type { DocumentKind } from '#contract/edge/kinds/index.ts';
import type { ErrorName } from '#contract/errors.ts';
import type { Actor } from './actor.ts';
import { and, type Sql } from '../store/db.ts';

/** Rows hang on a row of another table (and share its scope), or name their owner themselves. */
export type Scope = { parent: Table; column: string } | { owner: (actor: Actor, alias: string) => Sql };

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
  /** unique index → the error it means */
  unique?: Record<string, ErrorName>;
  /** its rows alone are what a call below one of them may break: such a call needs no lock on the account it acts for */
  closed?: boolean;
  /** rows come with the program and never change */
  fixed?: boolean;
  /** rows carry deletedAt (default), or are removed outright */
  soft?: boolean;
  /** Of rows deleted below one parent the newest thousand are kept, and no statistics name them: who makes and deletes all day fills no disk. */
  forgets?: boolean;
  /** its column `version` is something else: the row's own is `rowVersion` on the wire too */
  ownVersion?: boolean;
  /** fields never shown in the audit log */
  secret?: readonly string[];
  /** only for inference */
  row?: Row;
}

/** `table<Row>()({ table: 'zone', scope: … })` */
export const table =
  <Row>() =>
  <const T extends Table<Row>>(definition: T): Table<Row> & T => {
    // Many light rows cost a node as much as a few heavy ones.
    if (definition.bytesMax !== undefined && definition.most === undefined)
      throw new Error(
        `${definition.table}: rows of a document are bounded by their number (\`most\`) as well as by what they weigh`,
      );
    return definition;
  };

export const col = (name: string, alias = 't'): Sql => sql`${sql.ref(`${alias}.${name}`)}`;

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
