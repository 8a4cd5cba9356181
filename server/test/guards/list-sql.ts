/** What lists ask of PostgreSQL: the text of every filter and every sort, and how it is found out among many rows. */
import { sql } from 'kysely';
import pg from 'pg';
import type { Mounted } from '#contract/kit/call.ts';
import { type Db, row, rows } from '#server/store/db.ts';
import { defOf, generate } from './generate.ts';
import { filtersOf, isList, rowOf } from './lists.ts';
import { pathOf, type Rig, type World } from './world.ts';

export interface Asked {
  /** the call with what it is asked: `GET /user/sites?siteName` */
  line: string;
  /** the statements whose rows are shown, parameters without their numbers */
  texts: string[];
  sent: { text: string; values: unknown[] }[];
}

/** Statements sent while `act` runs. */
async function listen(act: () => Promise<unknown>): Promise<Asked['sent']> {
  const sent: Asked['sent'] = [];
  const { query } = pg.Client.prototype;
  // oxlint-disable-next-line typescript/no-explicit-any -- pg overloads it eight ways
  pg.Client.prototype.query = function (this: pg.Client, ...args: any[]): any {
    const [first, second] = args as [string | { text: string; values?: unknown[] }, unknown];
    const text = typeof first === 'string' ? first : first.text;
    sent.push({ text, values: (typeof first === 'string' ? (second as unknown[]) : first.values) ?? [] });
    return (query as (...given: unknown[]) => unknown).apply(this, args);
  } as typeof query;
  try {
    await act();
  } finally {
    pg.Client.prototype.query = query;
  }
  // who listens asks now and then whether its database is there (store/db.ts), and what a licence allows is asked again by the clock
  return sent.filter(
    ({ text }) =>
      /^(\/\*.*?\*\/)?\s*(select|with)\b/i.test(text) &&
      !/\bfrom session\b|^select 1$|"licenseOrder" o, "licenseClock" c/.test(text),
  );
}
const plain = (text: string) => text.replace(/\s+/g, ' ').replace(/\$\d+/g, '$').trim();

/** Every list with nothing asked, with each filter and with each sort. */
export async function listStatements(rig: Rig, calls: readonly Mounted[], world: World): Promise<Asked[]> {
  const found: Asked[] = [];
  for (const call of calls.filter(one => one.method === 'GET' && isList(one) && rowOf(one))) {
    const ids = await rig.ids(call, world);
    const ask = async (query: Record<string, unknown>) => {
      const text = Object.entries(query).flatMap(([name, value]) =>
        (Array.isArray(value) ? value : [value]).map(one => `${name}=${encodeURIComponent(String(one))}`),
      );
      const reply: { status?: number; body?: { errorData?: { bounds?: { allowed?: string } }[] }; text?: string } = {};
      const sent = await listen(async () =>
        Object.assign(
          reply,
          await rig.api.call('GET', `${pathOf(call, ids)}?${text.join('&')}`, { token: world.people[call.area!].token }),
        ),
      );
      return { sent, reply };
    };
    const add = async (what: string, query: Record<string, unknown>) => {
      const { sent, reply } = await ask(query);
      if (reply.status !== 200) throw new Error(`${call.path}?${what}: ${reply.text}`);
      found.push({ line: `GET ${call.path}${what && `?${what}`}`, sent, texts: sent.map(one => plain(one.text)) });
    };
    await add('', {});
    const values = call.def.query ? (generate(call.def.query, world.name) as Record<string, unknown>) : {};
    for (const name of filtersOf(call)) await add(name, { [name]: values[name] });
    if (!('sortBy' in (defOf(call.def.query).shape ?? {}))) continue;
    const { reply } = await ask({ sortBy: 'nobodySortsByThis' });
    for (const column of String(reply.body?.errorData?.[0]?.bounds?.allowed ?? 'id').split(', '))
      await add(`sortBy=${column}`, { sortBy: column });
  }
  return found;
}

/** As it is reviewed: a list whole, its filters and sorts as far as they differ from it. */
export function golden(all: readonly Asked[]): string {
  const lines: string[] = [];
  let base: readonly string[] = [];
  for (const { line, texts } of all) {
    if (!line.includes('?')) {
      base = texts;
      lines.push('', line, ...texts.map(text => `  ${text}`));
      continue;
    }
    lines.push(`  ?${line.split('?')[1]}`);
    for (const [index, text] of texts.entries()) {
      const other = texts.length === base.length ? base[index]! : '';
      if (other !== text) lines.push(`    ${difference(other, text)}`);
    }
  }
  return `${lines.join('\n').trim()}\n`;
}
/** The words of `b` that stand between what both begin and end with. */
function difference(a: string, b: string): string {
  const [from, to] = [a.split(' '), b.split(' ')];
  let start = 0;
  while (start < to.length && from[start] === to[start]) start++;
  let end = 0;
  while (end < Math.min(from.length, to.length) - start && from.at(-1 - end) === to.at(-1 - end)) end++;
  const middle = to.slice(start, to.length - end).join(' ');
  return `${start ? '… ' : ''}${middle || '(less)'}${end ? ' …' : ''}`;
}

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  Plans?: Plan[];
}
const scansIn = (plan: Plan): string[] => [
  ...(plan['Node Type'] === 'Seq Scan' ? [plan['Relation Name']!] : []),
  ...(plan.Plans ?? []).flatMap(scansIn),
];

/** Statements that read a table of many rows from one end to the other, `line: table`. */
export async function wholeScans(rig: Rig, all: readonly Asked[], least: number): Promise<{ scans: string[]; big: Set<string> }> {
  const { db, pool } = rig.api.database;
  await sql`analyze`.execute(db);
  const big = new Set(
    (
      await rows<{ name: string }>(db, sql`select relname as name from pg_class where relkind = 'r' and reltuples >= ${least}`)
    ).map(({ name }) => name),
  );
  const found = new Set<string>();
  for (const { line, sent } of all)
    for (const { text, values } of sent) {
      const told = await pool.query(`explain (format json) ${text}`, values);
      const [{ Plan: plan }] = (told.rows[0] as { 'QUERY PLAN': [{ Plan: Plan }] })['QUERY PLAN'];
      for (const name of scansIn(plan)) if (big.has(name)) found.add(`${line}: ${name}`);
    }
  return { scans: [...found], big };
}

/** Texts of a row that must differ from those of another. */
const names = new Set(['name', 'siteName', 'domainName', 'email', 'publicKey', 'code', 'cnameKey']);

/** Strangers' rows: accounts, a site of each, and below each site, domain and module one row of every kind there is one of. */
export async function crowd(rig: Rig, world: World, count: number): Promise<void> {
  const like = { site: await rig.at(world, 'site'), domain: await rig.at(world, 'domain') };
  await rig.api.database.db.connection().execute(db => fill(db, like, count));
}

async function fill(db: Db, like: { site: number; domain: number }, count: number): Promise<void> {
  // what triggers and references see to is right already: these are copies
  await sql`set session_replication_role = replica`.execute(db);
  await sql`set statement_timeout = 0`.execute(db);
  await sql`insert into account (email, name, auth, "isRoot", grade, "parentClient", "emailConfirmed")
    select 'crowd-' || n || '@test.test', 'crowd', case when n % 100 = 0 then 'client' else 'user' end, true, 0, null, true from generate_series(1, ${count}) n`.execute(
    db,
  );
  await sql`update account set "rootID" = id where "rootID" is null`.execute(db);
  await sql`update account a set "parentClient" = c.id from (select id, row_number() over (order by id) as n, count(*) over () as all from account
    where auth = 'client' and email like 'crowd-%') c where a.email like 'crowd-%' and a.auth = 'user' and a.id % c.all = c.n - 1`.execute(
    db,
  );
  await copy(
    db,
    'site',
    like.site,
    sql`select a.id, a.id as "userID", coalesce(a."parentClient", a.id) as "clientID" from account a where a.email like 'crowd-%'`,
    ['userID', 'clientID'],
  );
  const sites = sql`select s.id, s.id as "siteID" from site s where s.id > ${like.site}`;
  const below = async (parent: string) =>
    rows<{ name: string }>(
      db,
      sql`select table_name as name from information_schema.columns
          where table_schema = current_schema() and column_name = ${parent} and exists (
            select 1 from information_schema.columns c where c.table_schema = current_schema() and c.table_name = columns.table_name and c.column_name = 'id')`,
    );
  for (const { name } of await below('siteID')) {
    const one = await row<{ id: number }>(db, sql`select min(id) as id from ${sql.table(name)} where "siteID" is not null`);
    if (one?.id && name !== 'outbox' && name !== 'siteZone' && name !== 'siteProduct')
      await copy(db, name, one.id, sites, ['siteID']);
  }
  for (const [parent, table] of [
    ['domainID', 'domain'],
    ['moduleID', 'module'],
  ] as const)
    for (const { name } of await below(parent)) {
      const one = await row<{ id: number }>(
        db,
        sql`select min(id) as id from ${sql.table(name)} where ${sql.ref(parent)} is not null`,
      );
      if (one?.id)
        await copy(
          db,
          name,
          one.id,
          sql`select p.id, p.id as ${sql.ref(parent)}, p."siteID" from ${sql.table(table)} p where p.id > ${like.domain}`,
          [parent],
        );
    }
  await sql`set session_replication_role = origin`.execute(db);
}

/** A row as often as `parents` has rows, below each of them one. */
async function copy(db: Db, table: string, id: number, parents: ReturnType<typeof sql>, from: readonly string[]): Promise<void> {
  const columns = await rows<{ name: string }>(
    db,
    sql`select column_name as name from information_schema.columns where table_schema = current_schema() and table_name = ${table}
        and column_name <> 'id' and is_generated = 'NEVER' and is_identity = 'NO'`,
  );
  const value = ({ name }: { name: string }) =>
    from.includes(name)
      ? sql`p.${sql.ref(name)}`
      : names.has(name)
        ? sql`case when pg_typeof(x.${sql.ref(name)}) = 'text'::regtype then x.${sql.ref(name)} || '-' || p.id else x.${sql.ref(name)} end`
        : sql`x.${sql.ref(name)}`;
  await sql`insert into ${sql.table(table)} (${sql.join(columns.map(({ name }) => sql.ref(name)))})
    select ${sql.join(columns.map(value))} from (select * from ${sql.table(table)} where id = ${id}) x, (${parents}) p
    on conflict do nothing`.execute(db);
}
