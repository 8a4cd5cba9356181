/**
 * The scoped store: the only way to a table. Every statement carries the actor's scope, the parent rows of the path
 * and "deletedAt is null". Writes note what they changed for the audit row and the bus; both are written in the same
 * transaction (see context.ts).
 */
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { Fail, type ErrorName, fail } from '#contract/errors.ts';
import type { Actor } from './actor.ts';
import { and, type Db, row, rows, type Sql } from '../store/db.ts';
import { once } from '../store/statements.ts';
import { type Change, type Effects, type Parts, touch } from './effects.ts';
import { Sealed, type Sealing } from './sealed.ts';
import { expectRow, plain, touchedName } from './stale.ts';
import { col, type ListQuery, scopeOf, type Table, underName } from './table.ts';
import { checkBytes, checkRoom, isCounted, parentIDs } from './room.ts';
import { weigh } from './weight.ts';

type Row = Record<string, unknown>;
/** An id that is not there, or not yours: both read the same (decisions.md, Wire). */
export const unknownID = (path: string) => new Fail('parameter', { status: 404, errorData: [{ path, rule: 'unknown' }] });

export class Store<R extends Row> {
  readonly #db: Db;
  readonly #actor: Actor;
  readonly #target: Table<R>;
  readonly #parents: Record<string, number>;
  readonly #effects: Effects;
  readonly #sealing: Sealing | undefined;
  readonly #sealed: Sealed | undefined;
  /** A row as it leaves the store: of a secret whether it is set. */
  readonly #told = <T extends Row>(values: T): T => this.#sealed?.told(values) ?? values;

  constructor(db: Db, actor: Actor, target: Table<R>, parents: Record<string, number>, effects: Effects, sealing?: Sealing) {
    this.#db = db;
    this.#actor = actor;
    this.#target = target;
    this.#effects = effects;
    this.#parents = parents;
    this.#sealing = sealing;
    if (!target.sealed?.length) return;
    if (!sealing) throw new Error(`${target.table}: nobody gives the keys of its secrets`);
    this.#sealed = new Sealed(target.table, target.sealed, sealing);
  }

  /** A secret in the open, for what needs it: never for an answer. Null where none is set. @throws as an unknown id does */
  async reveal(id: number, name: string): Promise<string | null> {
    if (!this.#sealed?.columns.includes(name)) throw new Error(`${this.#target.table}.${name} is not sealed`);
    const found = await row<Row>(
      this.#db,
      sql`select ${col(name)} from ${this.#name} as t where ${this.#where([sql`t.id = ${id}`])}`,
    );
    if (!found) throw unknownID('id');
    return this.#sealed.open(name, found[name]);
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
    const conditions: Sql[] = query.ids ? [sql`t.id = any(${query.ids})`] : [];
    for (const [name, filter] of Object.entries(this.#target.filters ?? {}))
      // the contract checked it for the field of this filter
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
    return { data: data.map(this.#told), total };
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
    if (names.some(name => this.#sealed?.columns.includes(name)))
      throw new Error(`${this.#target.table}: reveal() reads secrets`);
    return rows<Pick<R, K>>(
      this.#db,
      sql`select ${sql.join(columns)} from ${this.#name} as t where ${this.#where(more)} order by ${order} limit ${limit}`,
    );
  }

  async find(id: number): Promise<R | undefined> {
    // rows that nobody changes are everybody's: a lock would make strangers wait for each other
    const lock = this.#effects.holds && !this.#target.fixed ? lockRow : sql``;
    const found = await row<R>(
      this.#db,
      sql`select ${this.#columns} from ${this.#name} as t where ${this.#where([sql`t.id = ${id}`])}${lock}`,
    );
    return found && this.#told(found);
  }

  /** The row, or the error that an unknown id gives. */
  async get(id: number, path = 'id'): Promise<R> {
    const found = await this.find(id);
    if (!found) throw unknownID(path);
    return found;
  }

  /** All of these rows, locked for the rest of the transaction; one that is missing fails the call. */
  async need(ids: readonly number[], path = 'ids'): Promise<R[]> {
    return (await this.#stored(ids, path)).map(this.#told);
  }

  /** The same as they are stored. */
  async #stored(ids: readonly number[], path: string): Promise<(R & { id: number })[]> {
    const found = await this.#locked(ids);
    if (found.length !== new Set(ids).size) throw unknownID(path);
    return found;
  }

  /** Those of these rows that are there, locked for the rest of the transaction. */
  async there(ids: readonly number[]): Promise<(R & { id: number })[]> {
    return (await this.#locked(ids)).map(this.#told) as (R & { id: number })[];
  }

  #locked(ids: readonly number[]): Promise<(R & { id: number })[]> {
    return rows<R & { id: number }>(
      this.#db,
      sql`select ${this.#columns} from ${this.#name} as t where ${this.#where([sql`t.id = any(${[...new Set(ids)]})`])} order by t.id${lockRow}`,
    );
  }

  /** Inserts rows under the path's parents. Fields that name other rows are checked against the actor's scope. */
  async add(items: readonly Row[], fixed: Row = {}, path = 'items'): Promise<number[]> {
    const all = items.map((item): Row => ({ ...defined(item), ...fixed, ...this.#parents, ...this.#target.pin }));
    await this.#holdParent(all);
    await checkRoom(this.#db, this.#target, all, path);
    await this.#checkRefs(all);
    const inserted = await this.#insert(this.#sealed ? all.map(one => this.#sealed!.seal(one)) : all);
    for (const { id } of inserted) this.#effects.open.add(touchedName(this.#target.table, id));
    for (const [index, one] of inserted.entries())
      this.#note({ table: this.#target.table, id: one.id, after: this.#shown(all[index]!) }, one);
    if (all.some(values => isCounted(this.#target, values))) await this.#checkBytes(path);
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

  /**
   * Changes what the patch names; the row must be in scope. Answers the row as it was. With `parts`, what belongs to the row and is stored
   * beside it: it is compared together with the row, and the row's version rises when either changed.
   */
  async set(id: number, patch: Row, path = 'id', parts?: Parts<R>): Promise<R> {
    const values = defined(patch);
    delete values['id'];
    await this.#holdParent();
    const [stored] = await this.#stored([id], path);
    const told = this.#told(stored!);
    const { before, wanted } = await this.#compared(stored!, values, parts && (() => parts.differing(told)));
    const isChanged = await this.#setColumns(id, before, wanted, this.#sealed?.seal(values) ?? values);
    if (!parts) return told;
    this.#effects.open.add(touchedName(this.#target.table, id));
    const { length } = this.#effects.changes;
    await parts.write();
    if (!isChanged && this.#effects.changes.length > length) await this.raise([id]);
    this.#effects.version = (await this.get(id, path))[this.#target.ownVersion ? 'rowVersion' : 'version'] as number;
    return told;
  }

  /** Before a call has its turn: whether `set` would find the row as its maker saw it. @throws 409 */
  async expect(id: number, patch: Row): Promise<void> {
    const [stored] = await this.#stored([id], 'id');
    await this.#compared(stored!, defined(patch));
  }

  async #compared(stored: R & { id: number }, values: Row, parts?: () => Row | Promise<Row>) {
    const { before, wanted } = this.#sealed?.compared(stored, values) ?? { before: stored, wanted: values };
    const { table, follows } = this.#target;
    if (this.#soft) await expectRow(this.#db, this.#effects, this.#actor, table, before, this.#shown(wanted), { follows, parts });
    return { before, wanted };
  }

  async raise(ids: readonly number[]): Promise<void> {
    await sql`update ${this.#name} as t set "updatedAt" = now(), "rowVersion" = t."rowVersion" + 1
      where ${this.#where([sql`t.id = any(${ids})`])}`.execute(this.#db);
  }

  /** `before` and `wanted` have marks for secrets, `written` what is stored. */
  async #setColumns(id: number, before: Row, wanted: Row, written: Row): Promise<boolean> {
    const names = Object.keys(wanted).filter(name => !isSame(wanted[name], before[name]));
    if (!names.length) return false;
    await this.#checkRefs([wanted]);
    const after = await this.#run(() =>
      row<R>(
        this.#db,
        sql`update ${this.#name} as t set ${sql.join(names.map(n => sql`${sql.ref(n)} = ${value(written[n])}`))}${this.#soft ? sql`, "updatedAt" = now(), "rowVersion" = t."rowVersion" + 1` : sql``}
            where ${this.#where([sql`t.id = ${id}`])} returning *`,
      ),
    );
    const pick = (source: Row) => this.#shown(Object.fromEntries(names.map(n => [n, source[n]])));
    this.#note({ table: this.#target.table, id, before: pick(before), after: pick(wanted) }, after!);
    if (isCounted(this.#target, after!) && weigh(names, after!) > weigh(names, before)) await this.#checkBytes(names[0]!);
    return true;
  }

  async remove(ids: readonly number[], path = 'ids'): Promise<R[]> {
    await this.#holdParent();
    const found = await this.#stored(ids, path);
    const wanted = found.map(r => r.id);
    if (this.#soft)
      await sql`update ${this.#name} set "deletedAt" = now(), "updatedAt" = now() where id = any(${wanted})`.execute(this.#db);
    else await sql`delete from ${this.#name} where id = any(${wanted})`.execute(this.#db);
    for (const gone of found) this.#note({ table: this.#target.table, id: gone.id, before: this.#shown(gone) }, gone);
    await this.#forget(found);
    return found.map(this.#told);
  }

  async #forget(gone: readonly Row[]) {
    const { forgets, scope, table } = this.#target;
    if (!forgets || !('parent' in scope)) return;
    for (const parent of parentIDs(scope.column, gone))
      await sql`delete from ${sql.table(table)} where id in (
          select t.id from ${sql.table(table)} as t where ${col(scope.column)} = ${parent} and t."deletedAt" is not null
          order by t."deletedAt" desc, t.id desc offset ${deletedMax})`.execute(this.#db);
  }

  async #checkRefs(all: readonly Row[]) {
    for (const [field, target] of Object.entries(this.#target.refs ?? {})) {
      const wanted = new Set(all.map(values => values[field]).filter(id => id !== undefined && id !== null));
      if (!wanted.size) continue;
      await new Store(this.#db, this.#actor, target as Table<Row>, {}, this.#effects, this.#sealing).#hold(
        [...wanted] as number[],
        field,
      );
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
    const ids = parentIDs(scope.column, all ?? [this.#parents]);
    if (!ids.length) return;
    const parent = sql.table(scope.parent.table);
    const alive = scope.parent.soft === false ? sql`` : sql` and t."deletedAt" is null`;
    const found = await rows(
      this.#db,
      sql`select 1 from ${parent} as t where t.id = any(${ids})${alive} order by t.id${lockRow}`,
    );
    if (found.length !== ids.length) throw unknownID(scope.column);
  }

  readonly #checkBytes = (path: string) => checkBytes(this.#db, this.#target, this.#parents, path);

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
      // of a unique index, or of a constraint that is looked at later and therefore excludes
      const meaning = (code === '23505' || code === '23P01') && constraint ? this.#target.unique?.[constraint] : undefined;
      if (meaning)
        throw fail(meaning as Exclude<ErrorName, 'illegalPortMapping' | 'simultaneousDownloads' | 'dailyDownloads'>, {
          cause: error,
        });
      throw error;
    }
  }

  #note(change: Change, written: Row) {
    const { edge, partOf } = this.#target;
    const of = partOf && touchedName(partOf.table, written[partOf.column] as number);
    if (of && !this.#effects.open.has(of))
      throw new Error(`${change.table} is part of ${of}: it is written by \`set\` of that row, with \`parts\``);
    // whatever its rows
    this.#effects.changes.push({ ...change, ...(of && { of }), under: underName(this.#target, written) });
    if (edge) touch(this.#effects, edge.kind, written[edge.column] as number);
  }
  #shown(values: Row): Row {
    const unseen = new Set(['createdAt', 'updatedAt', 'deletedAt', 'rowVersion', ...(this.#target.secret ?? [])]);
    const shown = Object.fromEntries(
      Object.entries(values).filter(([key]) => !unseen.has(key) && !(key in (this.#target.extra ?? {}))),
    );
    return this.#sealed?.marked(shown) ?? shown;
  }
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
/** As JSON has it: a stored object comes back with its keys in another order, a time as text. */
export const isSame = (a: unknown, b: unknown) => a === b || isDeepStrictEqual(plain(a), plain(b));
// arrays of text go as arrays, objects as json
const value = (v: unknown): Sql =>
  v !== null && typeof v === 'object' && !Array.isArray(v) && !(v instanceof Date) ? sql`${JSON.stringify(v)}::jsonb` : sql`${v}`;
