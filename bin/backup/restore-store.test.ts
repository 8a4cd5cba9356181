/** The analytics store of an archive: its rows come back, whatever release made it, and nothing of what it says of tables is carried out. */
import assert from 'node:assert/strict';
import { lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { analytics } from '#server/store/analytics/client.ts';
import { schemaNames } from '#server/store/analytics/migrate.ts';
import { schema } from '#server/store/analytics/schema.ts';
import { dump, type DumpFacts } from '#server/store/dump.ts';
import { migratedDatabase, startTestStore, testFolder } from '#system/engines.ts';
import { ArchiveWriter } from './archive.ts';
import { restore } from './restore.ts';

const folder = testFolder('restore-store');
const id = '0'.repeat(8) + '-0000-4000-8000-' + '0'.repeat(12);
const place = `store/store/000/${id}`;
const database: DumpFacts = { migrations: [], tables: {}, sequences: {} };
const aboutOf = (facts: DumpFacts) =>
  JSON.stringify({
    product: 'breakwater',
    format: 1,
    version: '0.1.0',
    time: '2026-01-02T03:04:05.000Z',
    database: facts,
    logs: true,
  });

test('what makes a store do something is refused by its name', async () => {
  const evil =
    "ATTACH DICTIONARY _ UUID '1' (id UInt64) PRIMARY KEY id SOURCE(EXECUTABLE(COMMAND 'id' FORMAT 'CSV')) LAYOUT(FLAT())";
  const cases: [name: string, what: string | { to: string }, why: RegExp][] = [
    [`${place}/evil.sql`, evil, /its analytics store holds breakwater\.evil, which is none of Breakwater’s tables\.$/],
    ['store/metadata/other.sql', 'ATTACH DATABASE _ ENGINE = MySQL', /holds other, which/],
    ['store/metadata/other', { to: `../store/000/${id}` }, /holds other, which/],
    ['store/data/breakwater/evil', { to: `../../store/000/${id}` }, /holds breakwater\.evil, which/],
    ['store/data/other/access', { to: `../../store/000/${id}` }, /holds other\.access, which/],
    [`${place}/all_1_1_0/data.bin`, 'rows of no table', new RegExp(`holds ${id}, which`)],
    [
      'store/data/breakwater/stage_evil_20261126',
      { to: `../../store/000/${id}` },
      /holds breakwater\.stage_evil_20261126, which/,
    ],
    ['store/data/other/stage_uri_20261126', { to: `../../store/000/${id}` }, /holds other\.stage_uri_20261126, which/],
    [`${place}/all_1_1_0/p.proj/data.bin`, 'x', /it holds store\/store\S+, which/],
    ['store/data/breakwater/access', { to: '../../../etc' }, /a link that leads elsewhere/],
    [`${place}/access`, { to: `../../store/000/${id}` }, /a link that leads elsewhere/],
    // nor by a way around
    ['files/store/metadata/breakwater.sql', evil, /it holds files\/store\S+, which/],
    ['files/run/keys/server/x', 'x', /it holds files\/run\S+, which/],
    ['files/node/nginx/nginx.conf', 'x', /it holds files\/node\S+, which/],
    ['files/dns/db/keys/keys/../../x', 'x', /it holds files\/dns\S+, which/],
  ];
  for (const [n, [name, what, why]] of cases.entries()) {
    const path = join(folder, `${n}.tar.zst`);
    const writer = new ArchiveWriter(path);
    await writer.add('about.json', aboutOf(database));
    if (typeof what === 'string') await writer.add(name, what);
    else await writer.link(name, what.to);
    await writer.finish();
    for (const logs of [true, false]) await assert.rejects(restore(path, join(folder, 'refused'), { logs }), why, name);
  }
});

test(
  'rows of a release before come into the schema of this one; what the archive says of its tables, and who may read its files, is not taken over',
  { timeout: 120_000 },
  async () => {
    const store = await startTestStore();
    const before = analytics({ url: `${store.url}/breakwater` });
    // the first step alone, as the first release had it
    for (const statement of schema(before)) await before.command(statement, {}, {}, 'default');
    await before.command('CREATE TABLE breakwater.schema_step (step UInt32) ENGINE = ReplacingMergeTree ORDER BY step');
    await before.command('INSERT INTO schema_step VALUES (1)');
    for (let n = 0; n < 3; n++)
      await before.command(
        "INSERT INTO access (ts, node, site_id, domain_id, uri, ip) SELECT now64(3), 1, 1, 1, toString(number), toIPv6('::1') FROM numbers(500)",
      );
    // a nightly list that is being made, or was when the machine failed
    await before.command('CREATE TABLE stage_uri_20261126 AS topd_uri');
    await before.command("INSERT INTO stage_uri_20261126 (site_id, domain_id, t, k, req, bytes) VALUES (1, 1, now(), '/', 1, 1)");
    await fetch(`${store.url}/freeze?name=backup_x`, { method: 'POST' }).then(async answer =>
      assert.ok(answer.ok, await answer.text()),
    );
    before.close();
    await store.stop();

    const url = await migratedDatabase();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(`insert into account (email, name, auth) values ('a@test.test', 'a', 'client')`);
    await client.end();
    const path = join(folder, 'whole.tar.zst');
    const writer = new ArchiveWriter(path);
    let n = 0;
    await dump(
      url,
      facts => writer.add('about.json', aboutOf(facts)),
      chunk => writer.add(`database/${String(++n).padStart(6, '0')}.json`, JSON.stringify(chunk)),
    );
    for (const name of ['files/secret.key', 'files/tls/ca.key', 'files/nats/keys.json'])
      await writer.stream(name, 32, [Buffer.alloc(32, 7)], 0o755);
    const mark = 'SOURCE(EXECUTABLE';
    const walk = async (at: string, name: string) => {
      for (const entry of readdirSync(at)) {
        const [from, as] = [join(at, entry), `${name}/${entry}`];
        const facts = lstatSync(from);
        if (facts.isDirectory()) await walk(from, as);
        else if (facts.isSymbolicLink()) await writer.link(as, readlinkSync(from));
        else
          await writer.add(as, entry === 'access_view.sql' ? `ATTACH DICTIONARY _ ${mark}(COMMAND 'id'))` : readFileSync(from));
      }
    };
    await walk(join(store.dir, 'shadow/backup_x'), 'store');
    // what was still to be done to rows is not done: it may read files
    await writer.add(`${place}/mutation_1.txt`, "commands: DELETE WHERE (SELECT count() FROM file('/etc/passwd')) > 0");
    await writer.finish();

    const into = join(folder, 'into');
    await restore(path, into);
    const modeOf = (name: string) => (statSync(join(into, name)).mode & 0o777).toString(8);
    assert.deepEqual(
      ['secret.key', 'tls', 'tls/ca.key', 'nats', 'nats/keys.json', 'store'].map(name => `${name} ${modeOf(name)}`),
      ['secret.key 600', 'tls 700', 'tls/ca.key 600', 'nats 711', 'nats/keys.json 600', 'store 700'],
    );
    const saying = readdirSync(join(into, 'store'), { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.sql'));
    assert.ok(saying.length > 30);
    assert.ok(!readdirSync(join(into, 'store'), { recursive: true, encoding: 'utf8' }).some(name => /mutation|stage/.test(name)));
    for (const name of saying) assert.ok(!readFileSync(join(into, 'store', name), 'utf8').includes(mark), name);
    const again = await startTestStore(join(into, 'store'));
    const after = analytics({ url: `${again.url}/breakwater` });
    try {
      const [sums] = await after.query<Record<string, number>>(
        'SELECT (SELECT count() FROM access) AS lines, (SELECT sum(req) FROM s1) AS s1, (SELECT sum(req) FROM s5) AS s5, (SELECT max(step) FROM schema_step) AS step',
      );
      assert.deepEqual(sums, { lines: 1500, s1: 1500, s5: 1500, step: 3 });
      const tables = await after.query<{ name: string }>("SELECT name FROM system.tables WHERE database = 'breakwater'");
      assert.deepEqual(tables.map(({ name }) => name).sort(), [...schemaNames({ database: 'breakwater' })].sort());
      // new lines are summed with those of before
      await after.command("INSERT INTO access (ts, node, site_id, domain_id, ip) VALUES (now64(3), 1, 1, 1, toIPv6('::1'))");
      const [more] = await after.query<{ s5: number; n1: number }>(
        'SELECT (SELECT sum(req) FROM s5) AS s5, (SELECT sum(req) FROM n1) AS n1',
      );
      assert.deepEqual(more, { s5: 1501, n1: 1 });
    } finally {
      after.close();
      await again.stop();
    }
  },
);
