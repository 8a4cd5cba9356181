/** What every list asks of PostgreSQL is as it was reviewed, and finds its rows among many without reading them all. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { type Asked, crowd, golden, listStatements, wholeScans } from './list-sql.ts';
import { calls, clean, stage } from './stage.ts';

const rowsOfEach = 20_000;
const file = join(import.meta.dirname, 'golden/list-sql.txt');
const on = stage();
let all: Asked[];

test('the statements of every list, with each filter and each sort, are as they were reviewed', async () => {
  all = await listStatements(on.rig, calls, on.mine);
  assert.ok(all.length > 200, `only ${all.length} questions`);
  const text = golden(all);
  if (process.env.UPDATE_GOLDEN) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  assert.equal(
    text,
    existsSync(file) ? readFileSync(file, 'utf8') : '',
    'UPDATE_GOLDEN=1 npm test -- guards/list-sql writes it anew',
  );
});

/** Lists that show nearly every row there is, each with the table they read. */
const shownWhole: Readonly<Record<string, string>> = {
  'GET /admin/accounts': 'account', // an admin sees the accounts of all, and how many there are
};

test(`none of them reads a table of ${rowsOfEach} rows as a whole`, async () => {
  await crowd(on.rig, on.mine, rowsOfEach);
  const { scans, big } = await wholeScans(on.rig, all, rowsOfEach * 0.9);
  for (const table of ['account', 'site', 'domain', 'upstream', 'module'])
    assert.ok(big.has(table), `${table} is small: ${[...big].join()}`);
  clean(scans.filter(scan => shownWhole[scan.split(/[?:]/)[0]!] !== scan.split(': ')[1]));
});

test('sample: a list whose index is gone, a statement that is another than it was', async () => {
  const { db } = on.rig.api.database;
  const indexes = await sql<{ name: string }>`select i.indexname as name from pg_indexes i
    where i.schemaname = current_schema() and i.tablename = 'domain' and i.indexdef like '%"siteID"%'`.execute(db);
  assert.ok(indexes.rows.length > 0);
  for (const { name } of indexes.rows) await sql`drop index ${sql.ref(name)}`.execute(db);
  const domains = all.filter(({ line }) => line.startsWith('GET /user/site/{siteID}/domains'));
  const { scans } = await wholeScans(on.rig, domains, rowsOfEach * 0.9);
  assert.ok(scans.includes('GET /user/site/{siteID}/domains: domain'), scans.join('\n'));

  const [one] = domains as [Asked];
  assert.notEqual(golden([one]), golden([{ ...one, texts: one.texts.map(text => text.replace('"deletedAt" is null', 'true')) }]));
  const narrow = (text: string): Asked => ({ line: 'GET /x?name', sent: [], texts: [text] });
  const base: Asked = { line: 'GET /x', sent: [], texts: ['select a from t where b order by id'] };
  assert.equal(
    golden([base, narrow('select a from t where b and c order by id')]),
    'GET /x\n  select a from t where b order by id\n  ?name\n    … and c …\n',
  );
});
