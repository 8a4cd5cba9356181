/**
 * The scoped store: the only way to a table. Every statement carries the actor's scope, the parent rows of the path
 * and "deletedAt is null". Writes note what they changed for the audit row and the bus; both are written in the same
 * transaction (see context.ts).
 */
import { sql } from 'kysely';
import type { DocumentKind } from '#contract/edge/kinds/index.ts';
import { Fail, type ErrorName, fail } from '#contract/errors.ts';
import type { Actor } from './actor.ts';
import { and, type Db, row, rows, type Sql } from '../store/db.ts';
import { once } from '../store/statements.ts';
import { expectRow } from './stale.ts';
import { col, scopeOf, type Table } from './table.ts';

type Row = Record<string, unknown>;
export interface ListQuery {
  page?: number | undefined;
  pageSize?: number | undefined;
  sortBy?: string | undefined;
  orderBy?: 'asc' | 'desc' | undefined;
  [filter: string]: unknown;
}
/** What one write changed, for the audit row. */
export interface Change {
  table: string;
  id: number;
  before?: Row;
  after?: Row;
}
/** What a request has changed so far. */
export interface Effects {
  /**
   * The call may write, so it runs in a transaction, and every row it looks up by its id stays as it was seen until the
   * end: of two such calls one waits before it checks anything. Order of the locks: the root account, the rows of the
   * path from the outermost in, then what the body names (context.ts, `holdRoot`; mount.ts).
   */
  holds: boolean;
  changes: Change[];
  /** edge documents to compile again: `kind:id` */
  documents: Map<string, { kind: DocumentKind; id: number }>;
  /** The version of the row that the caller saw, until it is compared with the row's own (stale.ts). */
  expected?: number | undefined;
}

/** An id that is not there, or not yours: both read the same (decisions.md, Wire). */
export const unknownID = (path: string) => new Fail('parameter', { status: 404, errorData: [{ path, rule: 'unknown' }] });

export class Store<R extends Row> {
  readonly #db: Db;
  readonly #actor: Actor;
  readonly #target: Table<R>;
  readonly #parents: Record<string, number>;
  readonly #effects: Effects;

  constructor(db: Db, actor: Actor, target: Table<R>, parents: Record<string, number>, effects: Effects) {
    this.#db = db;
    this.#actor = actor;
    this.#target = target;
    this.#effects = effects;
    this.#parents = parents;
  }

  get #name() {
    return sql.table(this.#target.table);
  }
  get #soft() {
    return this.#target.soft !== false;
  }
  #where(more: Sql[] = []): Sql {
    return and([
      scopeOf(this.#target as Table, this.#actor),
      ...(this.#soft ? [sql`${col('deletedAt')} is null`] : []),
      ...Object.entries({ ...this.#parents, ...this.#target.pin }).map(([column, value]) => sql`${col(column)} = ${value}`),
      ...more,
    ]);
  }
  get #columns(): Sql {
    const extra = Object.entries(this.#target.extra ?? {}).map(([name, value]) => sql`, (${value}) as ${sql.ref(name)}`);
    const version = this.#soft && !this.#target.ownVersion ? sql`, t."rowVersion" as version` : sql``;
    return sql`t.*${version}${sql.join(extra, sql``)}`;
  }
  #filters(query: ListQuery): Sql[] {
    const conditions: Sql[] = [];
    for (const [name, filter] of Object.entries(this.#target.filters ?? {}))
      if (query[name] !== undefined) conditions.push(filter(query[name] as never, 't'));
    return conditions;
  }
  #order(query: ListQuery): Sql {
    const direction = query.orderBy === 'asc' ? sql`asc` : sql`desc`;
    if (query.sortBy && this.#target.sort?.includes(query.sortBy))
      return sql`${col(query.sortBy)} ${direction}, t.id ${direction}`;
    if (query.sortBy && query.sortBy !== 'id')
      throw new Fail('parameter', {
        errorData: [{ path: 'sortBy', rule: 'unknown', bounds: { allowed: ['id', ...(this.#target.sort ?? [])].join(', ') } }],
      });
    if (!query.sortBy && this.#target.order) return this.#target.order;
    return sql`t.id ${direction}`;
  }

  /** One page: rows and how many there are in all, in one statement. Sorted by stored columns alone. */
  async page(query: ListQuery = {}, more: Sql[] = []): Promise<{ data: R[]; total: number }> {
    const size = query.pageSize ?? 10;
    const offset = ((query.page ?? 1) - 1) * size;
    const where = this.#where([...this.#filters(query), ...more]);
    const order = this.#order(query);
    // what is computed is computed for the rows of the page, not for those before it
    const data = await rows<R & { '#': number }>(
      this.#db,
      sql`select ${this.#columns} from (
            select t.*, count(*) over () as "#" from ${this.#name} as t where ${where} order by ${order} limit ${size} offset ${offset}
          ) as t order by ${order}`,
    );
    let total = data[0]?.['#'] ?? 0;
    // a page past the end has no row to carry the total
    if (!data.length && offset > 0)
      total = (await row<{ n: number }>(this.#db, sql`select count(*) as n from ${this.#name} as t where ${where}`))!.n;
    for (const one of data) delete (one as Row)['#'];
    return { data, total };
  }

  /** These columns of every row; one that is computed is computed only where it is named. */
  async pick<const K extends keyof R & string>(
    names: readonly K[],
    more: Sql[] = [],
    order: Sql = sql`t.id`,
    limit = 100_000,
  ): Promise<Pick<R, K>[]> {
    const { extra } = this.#target;
    const columns = names.map(name => (extra?.[name] ? sql`(${extra[name]}) as ${sql.ref(name)}` : col(name)));
    return rows<Pick<R, K>>(
      this.#db,
      sql`select ${sql.join(columns)} from ${this.#name} as t where ${this.#where(more)} order by ${order} limit ${limit}`,
    );
  }

  async find(id: number): Promise<R | undefined> {
    // rows that nobody changes are everybody's: a lock would make strangers wait for each other
    const lock = this.#effects.holds && !this.#target.fixed ? lockRow : sql``;
    return row<R>(
      this.#db,
      sql`select ${this.#columns} from ${this.#name} as t where ${this.#where([sql`t.id = ${id}`])}${lock}`,
    );
  }

  /** The row, or the error that an unknown id gives. */
  async get(id: number, path = 'id'): Promise<R> {
    const found = await this.find(id);
    if (!found) throw unknownID(path);
    return found;
  }

  /** All of these rows, locked for the rest of the transaction; one that is missing fails the call. */
  async need(ids: readonly number[], path = 'ids'): Promise<R[]> {
    const wanted = [...new Set(ids)];
    const found = await rows<R & { id: number }>(
      this.#db,
      sql`select ${this.#columns} from ${this.#name} as t where ${this.#where([sql`t.id = any(${wanted})`])} order by t.id${lockRow}`,
    );
    if (found.length !== wanted.length) throw unknownID(path);
    return found;
  }

  /** Inserts rows under the path's parents. Fields that name other rows are checked against the actor's scope. */
  async add(items: readonly Row[], fixed: Row = {}, path = 'items'): Promise<number[]> {
    const all = items.map((item): Row => ({ ...defined(item), ...fixed, ...this.#parents, ...this.#target.pin }));
    await this.#holdParent(all);
    await this.#checkRoom(all, path);
    await this.#checkRefs(all);
    const inserted = await this.#insert(all);
    for (const [index, one] of inserted.entries())
      this.#note({ table: this.#target.table, id: one.id, after: this.#shown(all[index]!) }, one);
    await this.#checkBytes(path);
    return inserted.map(one => one.id);
  }

  /** In the given order, many rows with one statement; what a row leaves out has its default. */
  async #insert(all: readonly Row[]): Promise<(R & { id: number })[]> {
    const names = [...new Set(all.flatMap(Object.keys))];
    const inserted: (R & { id: number })[] = [];
    const size = Math.max(1, Math.floor(valuesMax / names.length));
    for (let from = 0; from < all.length; from += size) {
      const lines = all.slice(from, from + size);
      // PostgreSQL answers them as they stand here
      const line = (values: Row) => sql`(${sql.join(names.map(n => (n in values ? value(values[n]) : sql`default`)))})`;
      const many = sql`${sql.raw(lines.length > 1 ? once : '')}insert into ${this.#name} (${sql.join(names.map(n => sql.ref(n)))}) values ${sql.join(lines.map(line))} returning *`;
      inserted.push(...(await this.#run(() => rows<R & { id: number }>(this.#db, many))));
    }
    return inserted;
  }

  /** Changes what the patch names; the row must be in scope. Answers the row as it was. */
  async set(id: number, patch: Row, path = 'id'): Promise<R> {
    const values = defined(patch);
    delete values['id'];
    await this.#holdParent();
    const [before] = await this.need([id], path);
    if (this.#soft) await expectRow(this.#db, this.#effects, this.#actor, this.#target.table, before!, this.#shown(values));
    const names = Object.keys(values).filter(name => !same(values[name], before![name]));
    if (!names.length) return before!;
    await this.#checkRefs([values]);
    const after = await this.#run(() =>
      row<R>(
        this.#db,
        sql`update ${this.#name} as t set ${sql.join(names.map(n => sql`${sql.ref(n)} = ${value(values[n])}`))}${this.#soft ? sql`, "updatedAt" = now(), "rowVersion" = t."rowVersion" + 1` : sql``}
            where ${this.#where([sql`t.id = ${id}`])} returning *`,
      ),
    );
    const pick = (source: Row) => this.#shown(Object.fromEntries(names.map(n => [n, source[n]])));
    this.#note({ table: this.#target.table, id, before: pick(before!), after: pick(values) }, after!);
    await this.#checkBytes(names[0]!);
    return before!;
  }

  async remove(ids: readonly number[], path = 'ids'): Promise<R[]> {
    await this.#holdParent();
    const found = (await this.need(ids, path)) as (R & { id: number })[];
    const wanted = found.map(r => r.id);
    if (this.#soft)
      await sql`update ${this.#name} set "deletedAt" = now(), "updatedAt" = now() where id = any(${wanted})`.execute(this.#db);
    else await sql`delete from ${this.#name} where id = any(${wanted})`.execute(this.#db);
    for (const gone of found) this.#note({ table: this.#target.table, id: gone.id, before: this.#shown(gone) }, gone);
    await this.#forget(found);
    return found;
  }

  async #forget(gone: readonly Row[]) {
    const { forgets, scope, table } = this.#target;
    if (!forgets || !('parent' in scope)) return;
    for (const parent of this.#parentIDs(scope.column, gone))
      await sql`delete from ${sql.table(table)} where id in (
          select t.id from ${sql.table(table)} as t where ${col(scope.column)} = ${parent} and t."deletedAt" is not null
          order by t."deletedAt" desc, t.id desc offset ${deletedMax})`.execute(this.#db);
  }

  async #checkRefs(all: readonly Row[]) {
    for (const [field, target] of Object.entries(this.#target.refs ?? {})) {
      const wanted = new Set(all.map(values => values[field]).filter(id => id !== undefined && id !== null));
      if (!wanted.size) continue;
      await new Store(this.#db, this.#actor, target as Table<Row>, {}, this.#effects).#hold([...wanted] as number[], field);
    }
  }

  /**
   * Rows hang on a row that is there, and one writer at a time changes what hangs on it. Calls hold the rows of their
   * path already; whoever writes below another row is caught here.
   */
  async #holdParent(all?: readonly Row[]) {
    if (!this.#db.isTransaction)
      throw new Error(`${this.#target.table} is written outside a transaction: the call must be audited`);
    const { scope } = this.#target;
    if (!('parent' in scope)) return;
    const ids = this.#parentIDs(scope.column, all ?? [this.#parents]);
    if (!ids.length) return;
    const parent = sql.table(scope.parent.table);
    const alive = scope.parent.soft === false ? sql`` : sql` and t."deletedAt" is null`;
    const found = await rows(
      this.#db,
      sql`select 1 from ${parent} as t where t.id = any(${ids})${alive} order by t.id${lockRow}`,
    );
    if (found.length !== ids.length) throw unknownID(scope.column);
  }

  #parentIDs(column: string, all: readonly Row[]): number[] {
    return [...new Set(all.flatMap(values => (values[column] as number | undefined) ?? []))];
  }

  async #checkRoom(all: readonly Row[], path: string) {
    const { most, scope, table, pin = {} } = this.#target;
    if (most === undefined || !('parent' in scope)) return;
    const { column } = scope;
    const found = await rows<{ id: number; n: number }>(
      this.#db,
      sql`select ${col(column)} as id, count(*) as n from ${sql.table(table)} as t
          where ${and([
            sql`${col(column)} = any(${this.#parentIDs(column, all)}) and t."deletedAt" is null`,
            ...Object.entries(pin).map(([name, value]) => sql`${col(name)} = ${value}`),
          ])} group by 1`,
    );
    const counts = new Map(found.map(({ id, n }) => [id, n]));
    for (const values of all) {
      const id = values[column] as number;
      const n = (counts.get(id) ?? 0) + 1;
      if (n > most) throw new Fail('parameter', { errorData: [{ path, rule: 'tooMany', bounds: { n: most } }] });
      counts.set(id, n);
    }
  }

  /** What the rows of one parent weigh once they are written; a refusal undoes the write. */
  async #checkBytes(path: string) {
    const { bytesMax, scope, table, pin = {} } = this.#target;
    if (bytesMax === undefined || !('parent' in scope)) return;
    const { n } = (await row<{ n: number }>(
      this.#db,
      sql`select coalesce(sum(octet_length((to_jsonb(t) - array['createdAt', 'updatedAt', 'deletedAt', 'memo'])::text)), 0) as n
          from ${sql.table(table)} as t
          where ${and([
            sql`${col(scope.column)} = ${this.#parents[scope.column]!} and t."deletedAt" is null`,
            ...Object.entries(pin).map(([name, value]) => sql`${col(name)} = ${value}`),
          ])}`,
    ))!;
    if (n > bytesMax) throw new Fail('parameter', { errorData: [{ path, rule: 'tooLong', bounds: { max: bytesMax } }] });
  }

  /** The rows must be there, and stay until this transaction is through. */
  async #hold(ids: readonly number[], path: string) {
    const found = await rows(
      this.#db,
      sql`select 1 from ${this.#name} as t where ${this.#where([sql`t.id = any(${ids})`])} order by t.id for share of t`,
    );
    if (found.length !== ids.length) throw unknownID(path);
  }

  /** PostgreSQL's refusal of a duplicate, as the error the table says it means. */
  async #run<T>(statement: () => Promise<T>): Promise<T> {
    try {
      return await statement();
    } catch (error) {
      const { code, constraint } = error as { code?: string; constraint?: string };
      const meaning = code === '23505' && constraint ? this.#target.unique?.[constraint] : undefined;
      if (meaning)
        throw fail(meaning as Exclude<ErrorName, 'illegalPortMapping' | 'simultaneousDownloads' | 'dailyDownloads'>, {
          cause: error,
        });
      throw error;
    }
  }

  #note(change: Change, written: Row) {
    this.#effects.changes.push(change);
    const { edge } = this.#target;
    if (edge) touch(this.#effects, edge.kind, written[edge.column] as number);
  }
  #shown(values: Row): Row {
    const hidden = new Set(['password', 'createdAt', 'updatedAt', 'deletedAt', 'rowVersion', ...(this.#target.secret ?? [])]);
    return Object.fromEntries(Object.entries(values).filter(([key]) => !hidden.has(key) && !(key in (this.#target.extra ?? {}))));
  }
}

/** Says that an edge document must be compiled again. */
export function touch(effects: Effects, kind: DocumentKind, id: number) {
  effects.documents.set(`${kind}:${id}`, { kind, id });
}

/**
 * One strength for all: two writers exclude each other, a row that merely refers to this one may be written meanwhile, and
 * no lock is ever raised to a stronger one.
 */
const lockRow = sql` for no key update of t`;

/** Deleted rows below one parent, where the table forgets. */
const deletedMax = 1000;
/** A statement has room for 65535. */
const valuesMax = 10_000;

const defined = (values: Row): Row => Object.fromEntries(Object.entries(values).filter(([, v]) => v !== undefined));
const same = (a: unknown, b: unknown) => a === b || JSON.stringify(a) === JSON.stringify(b);
// arrays of text go as arrays, objects as json
const value = (v: unknown): Sql =>
  v !== null && typeof v === 'object' && !Array.isArray(v) && !(v instanceof Date) ? sql`${JSON.stringify(v)}::jsonb` : sql`${v}`;
