/** The embedded store behind ClickHouse's HTTP form: what our client and ClickHouse's own client may rely on. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { analytics, AnalyticsError } from '#server/store/analytics/client.ts';
import { migrateAnalytics } from '#server/store/analytics/migrate.ts';
import { asideSchema, nodeSchema, schema } from '#server/store/analytics/schema.ts';
import { freePort, poll, spawnEngine } from '#server/store/engine-process.ts';
import { clickhouse, startTestStore, testFolder } from '#system/engines.ts';

const program = new URL('../../src/store/analytics/store.ts', import.meta.url).pathname;

test('values travel as parameters, whatever they hold', async () => {
  const db = analytics(await clickhouse());
  await db.command(`CREATE DATABASE ${db.database}`, {}, {}, 'default');
  for (const odd of ["it's", 'a\\b', 'tab\tline\nend\r', "['x']", '\\N', 'é漢😀', '"', '{a:B}', '', '\0', '1e3']) {
    const [row] = await db.query<{ text: string; list: string[]; n: number[] }>(
      'SELECT {text:String} AS text, {list:Array(String)} AS list, {n:Array(UInt32)} AS n',
      { text: odd, list: [odd, 'z'], n: [1, 4_000_000_000] },
    );
    assert.deepEqual(row, { text: odd, list: [odd, 'z'], n: [1, 4_000_000_000] });
  }
  db.close();
});

test('rows stay bytes; a setting holds for its statement alone', async () => {
  const db = analytics(await clickhouse());
  await db.command(`CREATE DATABASE ${db.database}`, {}, {}, 'default');
  await db.command(
    'CREATE TABLE t (a UInt32, b String) ENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 10',
  );
  const once = { async_insert: 0, insert_deduplication_token: 'x' };
  await db.insert('t (a, b)', 'TSV', Buffer.from('1\t\\xFF\\x00\n2\t\xe9\n', 'latin1'), once);
  await db.insert('t (a, b)', 'TSV', Buffer.from('3\tz\n'), once);
  assert.deepEqual(await db.query('SELECT a, hex(b) AS h FROM t ORDER BY a'), [
    { a: 1, h: 'FF00' },
    { a: 2, h: 'E9' },
  ]);
  await db.insert('t', 'TSV', Buffer.from('4\ty\n'), { async_insert: 0 });
  assert.deepEqual(await db.query('SELECT count() AS n FROM t'), [{ n: 3 }], 'the token did not outlive its insert');
  assert.deepEqual(await db.query("SELECT getSetting('max_block_size') AS n", {}, { max_block_size: 77 }), [{ n: 77 }]);
  assert.notDeepEqual(await db.query("SELECT getSetting('max_block_size') AS n"), [{ n: 77 }]);
  db.close();
});

test("errors carry ClickHouse's code, and ClickHouse's own client understands them", async () => {
  const { url, database } = await clickhouse();
  const db = analytics({ url, database });
  await db.command(`CREATE DATABASE ${database}`, {}, {}, 'default');
  await assert.rejects(db.query('SELECT nothing'), (error: AnalyticsError) => error.code === 47);
  await assert.rejects(db.query('SELECT 1 FROM missing'), (error: AnalyticsError) => error.code === 60);
  await assert.rejects(db.insert('missing', 'TSV', Buffer.from('1\n')), (error: AnalyticsError) => error.code === 60);
  await assert.rejects(db.query('SELECT 1', {}, { 'no;setting': 1 }), AnalyticsError);
  await assert.rejects(
    analytics({ url, database: 'never_made' }).query('SELECT 1'),
    (error: AnalyticsError) => error.code === 81,
  );
  const client = createClient({ url, database, log: { level: ClickHouseLogLevel.OFF } });
  await client.command({ query: 'CREATE TABLE c (a UInt32, s String) ENGINE = MergeTree ORDER BY a' });
  await client.insert({ table: 'c', values: [{ a: 1, s: 'é\t"' }], format: 'JSONEachRow' });
  const answer = await client.query({
    query: 'SELECT s FROM c WHERE s = {s:String}',
    query_params: { s: 'é\t"' },
    format: 'JSONEachRow',
  });
  assert.deepEqual(await answer.json(), [{ s: 'é\t"' }]);
  await assert.rejects(client.query({ query: 'SELECT nothing' }), (error: { code: string }) => error.code === '47');
  await client.close();
  db.close();
});

test('many at once', async () => {
  const db = analytics(await clickhouse());
  await db.command(`CREATE DATABASE ${db.database}`, {}, {}, 'default');
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      db.query<{ n: number }>('SELECT sum(number) + {i:UInt32} AS n FROM numbers(100000)', { i }),
    ),
  );
  assert.deepEqual(
    answers.map(([row]) => row!.n - 4_999_950_000),
    Array.from({ length: 40 }, (_, i) => i),
  );
  db.close();
});

test('migrations may run twice and at once', async () => {
  const target = await clickhouse();
  const two = [analytics(target), analytics(target)];
  await Promise.all(two.map(migrateAnalytics));
  await migrateAnalytics(two[0]!);
  const [row] = await two[0]!.query<{ n: number }>('SELECT count() AS n FROM system.tables WHERE database = {d:String}', {
    d: target.database,
  });
  assert.ok(row!.n > 30);
  for (const db of two) db.close();
});

test('on a cluster every table that holds rows is a replicated one', () => {
  const options = { database: 'b', cluster: 'main' };
  const statements = [schema, asideSchema, nodeSchema].flatMap(step => step(options));
  // no server of a cluster is at hand: what it would be told is read here, and a change of it is seen
  const golden = new URL('./golden/cluster.sql', import.meta.url);
  const text = `${statements.join(';\n')};\n`;
  if (process.env.UPDATE_GOLDEN) writeFileSync(golden, text);
  assert.equal(text, readFileSync(golden, 'utf8'));
  const engines = statements.flatMap(one => /ENGINE = (\w+)/.exec(one)?.[1] ?? []);
  assert.ok(
    engines.every(engine => engine === 'Null' || /^Replicated\w*MergeTree$/.test(engine)),
    engines.join(' '),
  );
  assert.ok(statements.every(one => one.includes(" ON CLUSTER 'main'") && !one.includes('non_replicated')));
});

test('a password is asked for; SIGTERM lets a running statement finish; the data is there after a kill; one process per folder', async t => {
  const dir = path.join(testFolder('store'), 'data');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const start = async () => {
    const engine = await spawnEngine({
      command: process.execPath,
      args: [program, '--data', dir, '--port', String(port)],
      env: { ...process.env, CLICKHOUSE_PASSWORD: 'secret' },
      deathSignal: 'SIGKILL',
    });
    t.after(() => engine.stop());
    const db = analytics({ url, password: 'secret', database: 'p' });
    assert.ok(await poll(() => db.ping(), 60_000, 50), engine.lastLines().join('\n'));
    return { engine, db };
  };
  const first = await start();
  await assert.rejects(
    analytics({ url, password: 'wrong', database: 'p' }).query('SELECT 1'),
    (error: AnalyticsError) => error.code === 516,
  );
  assert.equal((await fetch(`${url}/ping`)).status, 200);
  await first.db.command('CREATE DATABASE p', {}, {}, 'default');
  await first.db.command('CREATE TABLE t (a UInt32) ENGINE = MergeTree ORDER BY a SETTINGS fsync_after_insert = 1');
  await first.db.insert('t', 'TSV', Buffer.from('1\n'));
  await assert.rejects(startTestStore(dir), /cannot open/);
  const running = first.db.query('SELECT count() AS n FROM numbers(400000000) WHERE number % 7 = 8');
  await first.db.query('SELECT 1');
  const exit = await first.engine.stop(30_000);
  assert.deepEqual(await running, [{ n: 0 }]);
  assert.equal(exit.code, 0);
  const second = await start();
  await second.db.insert('t', 'TSV', Buffer.from('2\n'));
  process.kill(second.engine.pid, 'SIGKILL');
  await second.engine.exited;
  const third = await start();
  assert.deepEqual(await third.db.query('SELECT a FROM t ORDER BY a'), [{ a: 1 }, { a: 2 }]);
  for (const { db } of [first, second, third]) db.close();
});
