/** Which node may speak for which site: from the database's changes to what is counted, with the database there and away. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, after, before, test } from 'node:test';
import zlib from 'node:zlib';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, credsAuthenticator, headers } from '@nats-io/transport-node';
import pg from 'pg';
import { accessLogColumns, LogMark, logHeaders } from '#contract/edge/log.ts';
import { subjects } from '#contract/edge/subjects.ts';
import { type Ingest, startIngest } from '#server/ingest/ingest.ts';
import { databaseMembers } from '#server/ingest/member-source.ts';
import { keepMembers } from '#server/ingest/members.ts';
import { ensureLogStream } from '#server/ingest/stream.ts';
import { setAsideOf } from '#server/analytics/aside.ts';
import { analytics } from '#server/store/analytics/client.ts';
import { retentionDays } from '#server/store/analytics/schema.ts';
import { freePort, poll } from '#server/store/engine-process.ts';
import { migrate } from '#server/store/migrate.ts';
import { startPostgres } from '#server/store/postgres-launcher.ts';
import { clickhouse, migratedDatabase, nats, testFolder } from '#system/engines.ts';
import { seedMembers } from './members.ts';

const until = async (condition: () => boolean | Promise<boolean>, what: string) => assert.ok(await poll(condition, 30_000), what);
const line = (rid: string, more: Record<string, string | number> = {}) => {
  const usual = { msec: (Date.now() / 1000).toFixed(3), site_id: 1, domain_id: 11, host: 'a.test', status: 200, bytes: 10, rid };
  return `\x1e${accessLogColumns.map(c => ({ ...usual, ...more })[c.name as 'rid'] ?? '-').join('\t')}\n`;
};
const seed = {
  nodes: [5, 6],
  sites: [
    { id: 1, domains: [{ id: 11, host: 'a.test' }] },
    { id: 2, domains: [{ id: 21, host: 'b.test' }] },
  ],
};

test('the database keeps where each node stood and where each site was served', async () => {
  const url = await migratedDatabase();
  await seedMembers(url, seed);
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  const run = async (text: string) => (await db.query(text)).rows as Record<string, unknown>[];
  const stood = async (kind: string, id: number) =>
    (
      await run(`select "zoneID"::int as z, "to" is null as open from "${kind}Zone" where "${kind}ID" = ${id} order by "from"`)
    ).map(row => `${row.z}${row.open ? '' : ' ended'}`);
  try {
    await run(`insert into zone (id, "clientID", name) overriding system value values (2, 9001, 'two')`);
    await run(`insert into "group" (id, "clientID", "zoneID", name) overriding system value values (2, 9001, 2, 'two')`);
    await run(`insert into product (id, "clientID", "groupID", name) overriding system value values (2, 9001, 2, 'two')`);
    await run('update node set "zoneID" = 2 where id = 5');
    await run('update node set "zoneID" = 2 where id = 5');
    assert.deepEqual(await stood('node', 5), ['9001 ended', '2']);
    await run('update node set "zoneID" = null where id = 5');
    assert.deepEqual(await stood('node', 5), ['9001 ended', '2 ended']);
    await run('update node set "deletedAt" = now() where id = 6');
    assert.deepEqual(await stood('node', 6), ['9001 ended']);
    await run('update site set "productID" = 2 where id = 1');
    assert.deepEqual(await stood('site', 1), ['9001 ended', '2']);
    await run('update product set "groupID" = 9001 where id = 2');
    assert.deepEqual(await stood('site', 1), ['9001 ended', '2 ended', '9001'], 'its product answers from another group');
    await run('update "group" set "zoneID" = 2 where id = 9001');
    assert.deepEqual(await stood('site', 2), ['9001 ended', '2']);
    await run('update site set "deletedAt" = now() where id = 2');
    assert.deepEqual(await stood('site', 2), ['9001 ended', '2 ended']);
    // the same, as ingest reads it
    const source = databaseMembers(url);
    const { rows, now } = await source.load();
    const said = rows.filter(row => row.kind === 'site' && row.id === 1).sort((x, y) => x.start - y.start);
    assert.deepEqual(
      said.map(row => `${row.of}${row.end ? ' ended' : ''}`),
      ['9001 ended', '2 ended', '9001 ended', '2'],
    );
    assert.ok(rows.some(row => row.kind === 'domain' && row.id === 11 && row.of === 1 && row.host === 'a.test'));
    await run('update site set "deletedAt" = now() where id = 1');
    const later = await source.load(now);
    assert.ok(
      later.rows.some(
        row => row.kind === 'site' && row.id === 1 && row.of === 2 && row.end >= now - 60_000 && row.start === said[3]!.start,
      ),
    );
    await source.close();
  } finally {
    await db.end();
  }
});

test('what was there before is taken to have stood where it stands, since it was made', async () => {
  const url = await migratedDatabase();
  await seedMembers(url, seed);
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  try {
    await db.query(`drop trigger node_zone on node; drop trigger site_zone on site; drop trigger product_zone on product; drop trigger group_zone on "group";
      drop function node_zone(); drop function site_zone(); drop function site_zone_settle(bigint[]); drop function site_zone_settle_all();
      drop table "nodeZone", "siteZone"; drop index domain_created; delete from migration where name like '0008%' or name like '0013_site%';
      update node set "createdAt" = '2026-01-01'; update site set "createdAt" = '2026-01-02';
      update node set "deletedAt" = '2026-03-01' where id = 6; update node set "zoneID" = null where id = 5; update site set "deletedAt" = '2026-04-01' where id = 2`);
    assert.equal((await migrate(url)).length, 2);
    const { rows } = await db.query(
      `select 'node' as kind, "nodeID"::int as id, "from"::date::text, "to"::date::text from "nodeZone" union all
       select 'site', "siteID"::int, "from"::date::text, "to"::date::text from "siteZone" order by 1, 2`,
    );
    assert.deepEqual(
      rows.map(row => Object.values(row).join(' ')),
      ['node 6 2026-01-01 2026-03-01', 'site 1 2026-01-02 ', 'site 2 2026-01-02 2026-04-01'],
    );
  } finally {
    await db.end();
  }
});

test('a site that is made while its product or its group moves stands where they went, whoever is first', async () => {
  const url = await database();
  const [a, b] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })];
  await a.connect();
  await b.connect();
  try {
    await a.query(`insert into zone (id, "clientID", name) overriding system value values (9101, 9001, 'z1');
      insert into "group" (id, "clientID", "zoneID", name) overriding system value values (9101, 9001, 9101, 'g1')`);
    const moves = [
      `update product set "groupID" = 9101 where id = 9001`,
      `update "group" set "zoneID" = 9001 where id = 9101`,
      `update "group" set "zoneID" = 9101 where id = 9101`,
      `update product set "groupID" = 9001 where id = 9001`,
    ];
    let id = 9200;
    for (const move of moves)
      for (const first of ['site', 'move']) {
        const make = `insert into site (id, "clientID", "userID", "productID", "siteName") overriding system value values (${++id}, 9001, 9002, 9001, 's${id}')`;
        await a.query('begin');
        await a.query(first === 'site' ? make : move);
        // the other waits for it, or is done already: both are right as long as the end is
        const other = b.query(first === 'site' ? move : make);
        await poll(async () => {
          const { rows } = await a.query<{ n: number }>(
            `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          );
          return rows[0]!.n > 0;
        }, 1000);
        await a.query('commit');
        await other;
        const { rows } = await a.query(
          `select s.id from site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID"
             left join "siteZone" z on z."siteID" = s.id and z."to" is null where z."zoneID" is distinct from g."zoneID"`,
        );
        assert.deepEqual(rows, [], `${move}: ${first} first`);
      }
    // what stands elsewhere all the same is set right when ingest begins
    await a.query(
      `update "siteZone" set "zoneID" = 77 where "siteID" = 1 and "to" is null; delete from "siteZone" where "siteID" = 2`,
    );
    const source = databaseMembers(url);
    const { rows } = await source.load();
    await source.close();
    for (const site of [1, 2])
      assert.deepEqual(
        rows.filter(row => row.kind === 'site' && row.id === site && row.end === 0).map(row => row.of),
        [9001],
      );
  } finally {
    await a.end();
    await b.end();
  }
});

interface Plane {
  url: string;
  db: ReturnType<typeof analytics>;
  run(text: string): Promise<unknown>;
  start(): Ingest;
  ship(node: number, lines: string[]): Promise<void>;
  rids(): Promise<string>;
  marks: Map<number, number>;
  rewinds: number;
}
const file = 'aaaaaaaaaaaa';

/** A bus, a store, a database and whoever ships lines. */
async function plane(t: TestContext, url: string): Promise<Plane> {
  const bus = await nats();
  const nc = await connect({ servers: bus.url, authenticator: credsAuthenticator(Buffer.from(bus.serverCreds)) });
  await ensureLogStream(await jetstreamManager(nc));
  const db = analytics(await clickhouse());
  const running: Ingest[] = [];
  const closing: (() => Promise<unknown>)[] = [];
  const sent = new Map<number, string>();
  const self: Plane = {
    url,
    db,
    marks: new Map(),
    rewinds: 0,
    async run(text) {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query(text).finally(() => client.end());
    },
    start() {
      const members = databaseMembers(url);
      closing.push(() => members.close());
      const ingest = startIngest({ nc, db, members, flushMs: 50, log: event => t.diagnostic(event) });
      running.push(ingest);
      return ingest;
    },
    async ship(node, lines) {
      const from = (sent.get(node) ?? '').length;
      sent.set(node, (sent.get(node) ?? '') + lines.join(''));
      await send(node, from);
    },
    rids: async () =>
      (await db.query<{ rid: string }>('SELECT rid FROM access ORDER BY rid').catch(() => [])).map(row => row.rid).join(' '),
  };
  /** As the agent does: everything from a position on, also when it is asked for again. */
  async function send(node: number, from: number) {
    const text = sent.get(node)?.slice(from) ?? '';
    const h = headers();
    for (const [name, value] of Object.entries({ file, kind: 'bytes', from, to: from + text.length, sent: Date.now() }))
      h.set(logHeaders[name as keyof typeof logHeaders], String(value));
    await jetstream(nc).publish(subjects.log(node, 'access'), zlib.zstdCompressSync(Buffer.from(text, 'latin1')), { headers: h });
  }
  for (const node of [5, 6, 7])
    nc.subscribe(subjects.mark(node), {
      callback: (_, message) => {
        const mark = LogMark.parse(message.json());
        if (mark.marks?.[file] !== undefined) self.marks.set(node, mark.marks[file]);
        if (mark.rewind?.[file] === undefined) return;
        self.rewinds++;
        void send(node, mark.rewind[file]);
      },
    });
  // what is sent and not known to be stored is asked about, as the agent does
  const probe = setInterval(() => {
    for (const [node, text] of sent) if ((self.marks.get(node) ?? 0) < text.length) void send(node, text.length);
  }, 1000);
  t.after(async () => {
    clearInterval(probe);
    for (const one of running) await one.stop();
    for (const one of closing) await one();
    await nc.close();
    await bus.stop();
    db.close();
  });
  return self;
}
async function database() {
  const url = await migratedDatabase();
  await seedMembers(url, seed);
  return url;
}

test('forged lines are set aside, honest ones of the same message are counted; the operator’s figures tell how many', async t => {
  const p = await plane(t, await database());
  await p.run(`insert into zone (id, "clientID", name) overriding system value values (2, 9001, 'two')`);
  await p.run('update node set "zoneID" = 2 where id = 6');
  const ingest = p.start();
  await p.ship(5, [
    line('good'),
    line('nobodys', { site_id: 77, domain_id: 77, bytes: 5e9 }),
    line('otherhost', { host: 'b.test' }),
    line('future', { msec: ((Date.now() + 3 * 86_400_000) / 1000).toFixed(3) }),
    line('huge', { bytes: 5e12 }),
    line('also good', { site_id: 2, domain_id: 21, host: 'b.test' }),
  ]);
  // it was in that zone until now, and a node that was cut off goes on for a while: but not before it came there
  await p.ship(6, [line('before', { msec: ((Date.now() - 3 * 86_400_000) / 1000).toFixed(3) })]);
  await until(async () => (await p.rids()) === 'also good good', 'the honest ones');
  const count = () => Object.values(ingest.stats().aside).reduce((sum, n) => sum + n, 0);
  await until(() => count() === 5, `all are set aside, not ${JSON.stringify(ingest.stats().aside)}`);
  assert.deepEqual(ingest.stats().aside, { '5 site': 1, '5 domain': 1, '5 future': 1, '5 number': 1, '6 node': 1 });
  const told = await setAsideOf(p.db, [5, 6], new Date(Date.now() - 3600_000));
  assert.deepEqual(told.map(({ nodeID, reason, lines }) => `${nodeID} ${reason} ${lines}`).sort(), [
    '5 domain 1',
    '5 future 1',
    '5 number 1',
    '5 site 1',
    '6 node 1',
  ]);
  const [kept] = await p.db.query<{ n: number }>("SELECT count() AS n FROM aside WHERE line LIKE '%nobodys' AND node = 5");
  assert.equal(kept?.n, 1, 'the line itself is kept, for whoever looks into it');
  for (const table of ['s1', 's5', 'c1h'])
    assert.deepEqual(await p.db.query(`SELECT sum(req) AS n, sum(bytes) AS b FROM ${table}`), [{ n: 2, b: 20 }], table);
});

test('a site made this moment, a node that joined this moment, a site moved this moment: no line is lost', async t => {
  const p = await plane(t, await database());
  const ingest = p.start();
  await p.ship(5, [line('a')]);
  await until(async () => (await p.rids()) === 'a', 'it has read the map');
  await p.run(
    `insert into site (id, "clientID", "userID", "productID", "siteName") overriding system value values (3, 9001, 9002, 9001, 'new')`,
  );
  await p.run(`insert into domain (id, "siteID", "domainName") overriding system value values (31, 3, 'c.test')`);
  await p.run(`insert into node (id, "clientID", "zoneID", name) overriding system value values (7, 9001, 9001, 'n7')`);
  await p.ship(7, [line('b', { site_id: 3, domain_id: 31, host: 'c.test' }), line('c')]);
  await until(async () => (await p.rids()) === 'a b c', 'the first lines of both');
  await p.run(`insert into zone (id, "clientID", name) overriding system value values (2, 9001, 'two')`);
  await p.run('update "group" set "zoneID" = 2 where id = 9001');
  await p.run('update node set "zoneID" = 2 where id = 6');
  await p.ship(6, [line('d')]);
  await until(async () => (await p.rids()) === 'a b c d', 'the first line from where it was moved to');
  assert.deepEqual([ingest.stats().aside, ingest.stats().kept, p.rewinds], [{}, 0, 0]);
});

test('a deleted domain’s last lines count; what the store keeps of it ends, and is forgotten after its time', async t => {
  const p = await plane(t, await database());
  const ingest = p.start();
  await p.ship(6, [line('a', { site_id: 2, domain_id: 21, host: 'b.test' })]);
  await until(async () => (await p.rids()) === 'a', 'it has read the map');
  // how it would stand after months: one that was deleted yesterday, one long ago
  const day = 86_400_000;
  for (const [id, ended] of [
    [77, 0],
    [77, Date.now() - day],
    [78, Date.now() - (retentionDays.member + 1) * day],
  ] as const)
    await p.db.insert(
      'member',
      'JSONEachRow',
      Buffer.from(JSON.stringify({ kind: 'domain', id, belongs: 1, start: 0, ended, host: 'x.test' })),
      { async_insert: 0 },
    );
  const source = databaseMembers(p.url);
  const commands: string[] = [];
  const spied = { ...p.db, command: (sql: string) => (commands.push(sql), p.db.command(sql)) };
  const members = keepMembers(source, spied, () => {}, 100);
  t.after(() => members.stop().then(() => source.close()));
  await members.ready();
  const kept = async (id: number) =>
    (
      await p.db.query<{ deleted: number }>(
        `SELECT ended > 0 AS deleted FROM member WHERE kind = 'domain' AND id = ${id} ORDER BY deleted`,
      )
    ).map(row => row.deleted);
  await until(async () => (await kept(77)).join() === '1' && (await kept(78)).length === 0, 'tidied');
  assert.deepEqual(commands, ['OPTIMIZE TABLE member FINAL'], 'once, and not with every look');
  assert.deepEqual([await kept(11), await kept(21)], [[0], [0]]);
  await p.run('update domain set "deletedAt" = now() where id = 21');
  await until(async () => (await kept(21)).includes(1), 'the store knows it ended');
  await p.ship(6, [line('b', { site_id: 2, domain_id: 21, host: 'b.test' })]);
  await until(async () => (await p.rids()) === 'a b', 'its last lines');
  assert.deepEqual(ingest.stats().aside, {});
});

test('one line that the store refuses is set aside; what came with it is counted once', async t => {
  const p = await plane(t, await database());
  const ingest = p.start();
  await p.ship(5, [line('a')]);
  await until(async () => (await p.rids()) === 'a', 'it runs');
  for (const table of ['access_in', 'probe_in'])
    await p.db.command(
      `CREATE MATERIALIZED VIEW poison_${table} ENGINE = Null AS SELECT throwIf(rid = 'poison') AS x FROM ${table}`,
    );
  await p.ship(5, [line('b'), line('poison'), line('c')]);
  await p.ship(6, [line('d')]);
  await until(async () => (await p.rids()) === 'a b c d', 'the others');
  await until(() => ingest.stats().aside['5 store'] === 1, 'the refused one is counted');
  assert.equal(ingest.stats().problem, null);
  assert.deepEqual(await p.db.query('SELECT sum(req) AS n FROM s1'), [{ n: 4 }]);
});

let engine: Awaited<ReturnType<typeof startPostgres>> | undefined;
const own = { dir: '', port: 0 };
const up = async () => (engine = await startPostgres({ dir: own.dir, port: own.port, durable: false, ref: false }));
before(async () => {
  own.dir = join(testFolder('pg-away'), 'pg');
  own.port = await freePort();
});
after(() => engine?.stop());

test('without the database: what is known goes on, what is not is kept by its node; also after a restart', async t => {
  const url = (await up()).url;
  await migrate(url);
  await seedMembers(url, seed);
  const p = await plane(t, url);
  const first = p.start();
  await p.ship(5, [line('a')]);
  await until(async () => (await p.rids()) === 'a', 'the map is read');
  await p.run(
    `insert into site (id, "clientID", "userID", "productID", "siteName") overriding system value values (3, 9001, 9002, 9001, 'new')`,
  );
  await p.run(`insert into domain (id, "siteID", "domainName") overriding system value values (31, 3, 'c.test')`);
  await engine!.stop();
  await p.ship(6, [line('unknown', { site_id: 3, domain_id: 31, host: 'c.test' }), line('behind it')]);
  await until(() => first.stats().kept > 0, 'kept by its node');
  await p.ship(5, [line('b')]);
  await until(async () => (await p.rids()) === 'a b', 'what is known goes on');
  assert.match(first.stats().unsure ?? '', /cannot be looked up/);
  await first.stop();
  const second = p.start();
  await p.ship(5, [line('c')]);
  await until(async () => (await p.rids()) === 'a b c', 'as it was last known');
  assert.equal(p.marks.has(6), false, 'the node was told nothing is stored');
  await up();
  await until(async () => (await p.rids()) === 'a b behind it c unknown', 'and then it is counted');
  assert.deepEqual(second.stats().aside, {});
});
