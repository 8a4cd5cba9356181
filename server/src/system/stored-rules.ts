/**
 * Rows that an earlier release let in and that this one would not: each stored row is judged by what its list asks of a new one. Nodes go on
 * with most of them (docs/handbook/edge-rules.md); of the others somebody has to know before visitors do. Which lists there are the
 * declarations say (`judgedRows`); rows that are switched off do nothing at the edge and are left out.
 */
import { setImmediate as others } from 'node:timers/promises';
import { type Finding, keyOf, warns, well } from '#contract/system/health.ts';
import type { Queryable } from '../compile/load.ts';
import type { Health } from '../kit/health.ts';
import { type JudgedRows, judgedRows, type Unfit, unfitFields } from '../kit/judged.ts';
import type { Table } from '../kit/table.ts';

type Row = Record<string, unknown>;

const batch = 100;
/** Milliseconds of one look, and for how long nobody else is let in between */
const lookMs = 300;
const paceMs = 10;
/** Of one list so many problems of an operator are kept, and so many of a row: whoever mends some is told of the next, and nobody's hide another's. */
const keptMax = 100;
const ofRowMax = 5;
/** From the end of one round to the next: rows also come back with a copy or a backup */
const againMs = 3_600_000;

/** The rows of one list with whose they are, by id; $1: behind this id, $2: at most so many, $3: these alone */
function statement({ table }: JudgedRows): string {
  const pinned = Object.entries(table.pin ?? {}).map(([column, value]) => ` and t."${column}" = '${value}'`);
  const where = `t.id > $1 and ($3::bigint[] is null or t.id = any($3))${table.soft === false ? '' : ' and t."deletedAt" is null'}${pinned.join('')}`;
  let joins = '';
  let alias = 't';
  let owner: Table = table;
  // up to the site; what hangs on none is the operator's own
  for (let depth = 0; 'parent' in owner.scope; depth++) {
    const { parent, column } = owner.scope;
    joins += ` join "${parent.table}" p${depth} on p${depth}.id = ${alias}."${column}" and p${depth}."deletedAt" is null`;
    [alias, owner] = [`p${depth}`, parent];
    if (parent.table === 'site') break;
  }
  const site =
    alias !== 't' ? `${alias}.id as "_site", ${alias}."siteName" as "_name"` : `null::bigint as "_site", '' as "_name"`;
  return `select t.*, ${alias}."clientID" as "_operator", ${site} from "${table.table}" t${joins} where ${where} order by t.id limit $2`;
}

const unfitIn = (list: JudgedRows, row: Row): Unfit[] =>
  unfitFields(list, row)
    .slice(0, ofRowMax)
    .map(({ path, rule, bounds }) => ({
      operator: Number(row['_operator']),
      site: row['_site'] === null ? null : Number(row['_site']),
      name: String(row['_name'] ?? ''),
      table: list.table.table,
      kind: list.table.edge?.kind ?? 'zone',
      id: Number(row['id']),
      field: path,
      rule,
      bounds,
    }));

const capped = (found: readonly Unfit[]): Unfit[] =>
  [...Map.groupBy(found, ({ operator }) => operator).values()].flatMap(list => list.slice(0, keptMax));

export class StoredRules {
  readonly #db: Queryable;
  readonly #lists: readonly JudgedRows[];
  /** by the place of their list */
  #found: Unfit[][] = [];
  #list = 0;
  #after = 0;
  #endedAt = -Infinity;
  /** the list that is looked at again next */
  #again = 0;

  constructor(db: Queryable, lists: readonly JudgedRows[] = judgedRows) {
    this.#db = db;
    this.#lists = lists;
  }

  get found(): Unfit[] {
    return this.#found.flat();
  }
  ofSite(siteID: number): Unfit[] {
    return this.found.filter(({ site }) => site === siteID);
  }

  /** @returns rows, none where an older release has no such table */
  async #rows(list: JudgedRows, after: number, ids: number[] | null): Promise<Row[]> {
    try {
      // as the statement names them
      return (await this.#db.query({ text: statement(list), values: [after, ids ? ids.length : batch, ids] })).rows as Row[];
    } catch (error) {
      // what PostgreSQL refuses has its code
      if (['42P01', '42703'].includes((error as { code?: string }).code ?? '')) return [];
      throw error;
    }
  }

  /** One row at least, then more until that time. @returns how many were judged, too */
  async #judge(list: JudgedRows, rows: readonly Row[], until: number): Promise<{ found: Unfit[]; judged: number }> {
    const found: Unfit[] = [];
    let judged = 0;
    let since = performance.now();
    for (const row of rows) {
      found.push(...unfitIn(list, row));
      judged++;
      // a row may hold thousands of addresses
      if (performance.now() > until) break;
      if (performance.now() - since < paceMs) continue;
      await others();
      since = performance.now();
    }
    return { found, judged };
  }

  /** Goes on where it stood, for so many milliseconds. What fails leaves it there. @returns whether it has come to the end of a round */
  async step(forMs = lookMs, now = performance.now()): Promise<boolean> {
    while (this.#list < this.#lists.length) {
      const list = this.#lists[this.#list]!;
      const rows = await this.#rows(list, this.#after, null);
      const { found, judged } = await this.#judge(list, rows, now + forMs);
      const last = Number(rows[judged - 1]?.['id'] ?? Infinity);
      const isEnd = judged === rows.length && rows.length < batch;
      // what an earlier round found stands until it is seen anew
      const before = (this.#found[this.#list] ?? []).filter(({ id }) => id <= this.#after || (!isEnd && id > last));
      this.#found[this.#list] = capped([...before, ...found]);
      if (isEnd) [this.#list, this.#after] = [this.#list + 1, 0];
      else this.#after = last;
      if (performance.now() - now > forMs) break;
    }
    return this.#list === this.#lists.length;
  }

  /** What was found and is still so, as far as there is time: whoever corrects a row need not wait for the next round. */
  async #lookAgain(until = performance.now() + lookMs): Promise<void> {
    for (let left = this.#lists.length; left > 0 && performance.now() < until; left--) {
      const place = this.#again++ % this.#lists.length;
      const known = this.#found[place] ?? [];
      if (known.length === 0) continue;
      const list = this.#lists[place]!;
      const rows = await this.#rows(list, 0, [...new Set(known.map(({ id }) => id))]);
      const { found, judged } = await this.#judge(list, rows, until);
      const notYet = new Set(rows.slice(judged).map(row => Number(row['id'])));
      this.#found[place] = capped([...found, ...known.filter(({ id }) => notYet.has(id))]);
    }
  }

  async look(): Promise<Unfit[]> {
    await this.#lookAgain();
    if (this.#list === this.#lists.length && performance.now() - this.#endedAt > againMs) this.#list = 0;
    if (this.#list < this.#lists.length && (await this.step())) this.#endedAt = performance.now();
    return this.found;
  }
}

/** How many operators are told of, and how many rows of each are named. */
const operatorsMax = 50;
const namesMax = 5;

/** An operator's rows in one finding; `key` is its id. */
export function findingsOf(found: readonly Unfit[]): Finding[] {
  const told = [...Map.groupBy(found, ({ operator }) => operator)].slice(0, operatorsMax).map(([operator, rows]) => {
    const names = [...new Set(rows.map(({ name, kind, id, field }) => `${name} ${kind} ${id} (${field})`.trim()))];
    const list = `${names.slice(0, namesMax).join(', ')}${names.length > namesMax ? ' …' : ''}`;
    return warns(
      'rules.outdated',
      { count: names.length, rules: list },
      { key: keyOf('operator', operator), value: names.length },
    );
  });
  return told.length ? told : [well('rules')];
}

export function addStoredRulesCheck(health: Health, stored: StoredRules): void {
  health.add('rules', async () => findingsOf(await stored.look()), { away: 'database.away', everyMs: 2500 });
}
