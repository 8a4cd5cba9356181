/** All rows as text and back: exactly as they were, into a database of the same schema. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { type DumpChunk, dump, type DumpFacts, load, whyNot } from '#server/store/dump.ts';
import { forget } from '#server/store/forget.ts';
import { databaseMembers } from '#server/ingest/member-source.ts';
import { isAllowed, type MemberRow, Members } from '#server/ingest/members.ts';
import { poll } from '#server/store/engine-process.ts';
import { migrate } from '#server/store/migrate.ts';
import { freshDatabase, migratedDatabase } from '#system/engines.ts';

let url: string;
let client: pg.Client;
before(async () => {
  url = await migratedDatabase();
  client = new pg.Client({ connectionString: url });
  await client.connect();
});
after(() => client?.end());

async function taken(from: string): Promise<{ facts: DumpFacts; chunks: DumpChunk[] }> {
  let facts!: DumpFacts;
  const chunks: DumpChunk[] = [];
  await dump(
    from,
    async found => void (facts = found),
    async chunk => void chunks.push(chunk),
  );
  return { facts, chunks };
}
async function restored({ facts, chunks }: { facts: DumpFacts; chunks: DumpChunk[] }): Promise<string> {
  const into = await freshDatabase();
  await migrate(into, facts.migrations);
  await load(
    into,
    facts,
    (async function* () {
      yield* chunks;
    })(),
  );
  return into;
}

test('every value comes back as it was; what refers to what comes later does too; numbers are not given again', async () => {
  await client.query(
    `insert into account (email, name, auth, "isRoot", timezone) select 'a' || n || '@test.test', E'tab\\t"quoted" (a,b) \\\\ new\\nline 漢字 {} null', 'client', true, '' from generate_series(1, 1700) n`,
  );
  await client.query('update account set "rootID" = id, "parentClient" = 1701 - id');
  await client.query(
    `insert into role ("rootID", name, "permissionKeys") values (1, '', '{}'), (2, 'x', '{"", "a,b", "NULL", "\\"q\\\\\\""}')`,
  );
  await client.query(
    `insert into audit ("reqID", method, url, body, changes, "createdAt") values ('x', 'POST', '/', '{"a": "\\u00e9 \\\\ \\""}', null, '2026-01-02 03:04:05.123456+00')`,
  );
  await client.query(
    `insert into "apiToken" ("accountID", "rootID", name, "permissionKeys", hash, "expiredAt") values (1, 1, '', '{}', '\\x00ff5c22', 'infinity')`,
  );
  const archive = await taken(url);
  assert.ok(archive.chunks.filter(chunk => chunk.table === 'account').length >= 1);
  const into = await restored(archive);
  const again = await taken(into);
  assert.deepEqual(again.chunks, archive.chunks);
  const there = new pg.Client({ connectionString: into });
  await there.connect();
  try {
    const next = await there.query(`insert into account (email, name, auth) values ('n', 'n', 'user') returning id`);
    assert.ok(Number(next.rows[0].id) > 100_000);
    // what refers to nothing is refused again
    await assert.rejects(there.query(`insert into role ("rootID", name) values (7777777, 'x')`), /foreign key/);
  } finally {
    await there.end();
  }
});

test('rows are those of one moment', async () => {
  const chunks: DumpChunk[] = [];
  await dump(
    url,
    async () => {
      await client.query(`insert into role ("rootID", name) values (3, 'too late')`);
      await client.query(`insert into zone ("clientID", name) values (3, 'too late')`);
    },
    async chunk => void chunks.push(chunk),
  );
  assert.ok(!JSON.stringify(chunks).includes('too late'));
});

test('broken off while PostgreSQL answers nothing: it ends at once, with the reason', { timeout: 30_000 }, async () => {
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  const stop = new AbortController();
  try {
    let seen: string[] = [];
    await other.query('begin; lock table "group" in access exclusive mode');
    const running = dump(
      url,
      async facts => void (seen = Object.keys(facts.tables)),
      async () => {},
      stop.signal,
    );
    const isWaiting = async () =>
      (
        await client.query(
          `select 1 from pg_stat_activity where application_name = 'breakwater-backup' and wait_event_type = 'Lock'`,
        )
      ).rowCount === 1;
    assert.ok(await poll(isWaiting, 20_000));
    stop.abort(new Error('broken off'));
    await assert.rejects(running, /^Error: broken off$/);
    assert.ok(seen.includes('group'));
    await assert.rejects(
      dump(
        url,
        async () => {},
        async () => {},
        stop.signal,
      ),
      /broken off/,
    );
  } finally {
    await other.end();
  }
});

test('a schema we do not know is said, other columns are refused, and nothing is left of a broken one', async () => {
  const archive = await taken(url);
  assert.equal(await whyNot(archive.facts), undefined);
  assert.match(
    (await whyNot({ ...archive.facts, migrations: [...archive.facts.migrations, '9999_future.sql'] }))!,
    /9999_future\.sql, which this Breakwater does not know/,
  );
  const tables = { ...archive.facts.tables, role: ['id'] };
  await assert.rejects(restored({ ...archive, facts: { ...archive.facts, tables } }), /the table role has other columns/);
  await assert.rejects(restored({ ...archive, chunks: [{ table: 'role', rows: ['(not a row'] }] }), /malformed record/);
});

test('what stands open in the archive begins as something else: ingest may have seen its end after the backup', async () => {
  await client.query(
    `insert into "nodeZone" ("nodeID", "zoneID", "from", "to") values (901, 1, '2026-01-01', null), (901, 2, '2025-01-01', '2026-01-01');
     insert into "siteZone" ("siteID", "zoneID", "from") values (902, 1, '2026-01-01')`,
  );
  const archive = await taken(url);
  const spans = async (target: string): Promise<MemberRow[]> => {
    const source = databaseMembers(target);
    const rows = await source.find({ nodes: new Set([901]), sites: new Set([902]), domains: new Set() });
    return source.close().then(() => rows);
  };
  const members = new Members();
  members.apply([...(await spans(url)), { kind: 'domain', id: 903, of: 902, start: 0, end: 0, host: 'a.test' }]);
  const key = Buffer.from('902\t903\ta.test');
  const counts = (time: number) => isAllowed(members.verdict(901, key, 0, key.length), time);
  // both left after the backup, and ingest knows it
  const ended = Date.parse('2026-02-01');
  members.apply([
    { kind: 'node', id: 901, of: 1, start: Date.parse('2026-01-01'), end: ended, host: '' },
    { kind: 'site', id: 902, of: 1, start: Date.parse('2026-01-01'), end: ended, host: '' },
  ]);
  const later = Date.parse('2026-05-01');
  assert.ok(!counts(later));
  for (let restore = 0; restore < 2; restore++) {
    const rows = await spans(await restored(archive));
    assert.deepEqual(
      rows.filter(row => row.end > 0).map(row => row.start),
      [Date.parse('2025-01-01')],
      'what was over stays as it was',
    );
    members.apply(rows);
    assert.ok(counts(later), 'they stand there again');
    assert.ok(!counts(Date.parse('2025-12-01')), 'and not before');
    members.apply(rows.filter(row => row.end === 0).map(row => ({ ...row, end: ended })));
    assert.ok(!counts(later));
  }
});

test('broken off while PostgreSQL takes a connection and says nothing: at once, with the reason that was given', async () => {
  const stop = new AbortController();
  const reason = new Error('broken off');
  // what speaks to it waits for an answer by now
  const mute = createServer(socket => socket.once('data', () => stop.abort(reason)).on('error', () => {}));
  await new Promise<void>(done => mute.listen(0, '127.0.0.1', done));
  const { port } = mute.address() as { port: number };
  try {
    await assert.rejects(
      dump(
        `postgres://somebody@127.0.0.1:${port}/x`,
        () => assert.fail(),
        () => assert.fail(),
        stop.signal,
      ),
      (error: Error) => error === reason || assert.fail(error),
    );
  } finally {
    mute.close();
  }
});

test('what was open in the archive is not open again, and what lets people and programs in is counted', async () => {
  await client.query(
    `insert into account (id, email, name, auth) overriding system value values (7001, 'open@test.test', 'x', 'client');
     insert into session (id, "accountID", "refreshHash", successor, "expiredAt", "endedAt")
       values (gen_random_uuid(), 7001, '', 'x', 'infinity', null), (gen_random_uuid(), 7001, '', null, 'infinity', '2026-01-01');
     insert into login (hash, "accountID", code, "expiredAt") values ('a', 7001, '', 'infinity');
     insert into "passkeyChallenge" (hash, "accountID", "expiredAt") values ('a', 7001, 'infinity');
     insert into "oidcFlow" (hash, "clientID", area, origin, "expiredAt") values ('a', 7001, 'client', '', 'infinity');
     insert into "mailLink" (hash, "accountID", "expiredAt", "usedAt")
       values ('open', 7001, 'infinity', null), ('used', 7001, 'infinity', '2026-01-01');
     insert into "joinToken" (hash, "clientID", "expiredAt", "usedAt") values ('open', 7001, 'infinity', null), ('used', 7001, 'infinity', '2026-01-01');
     insert into mail (message, until) values ('x', 'infinity');
     insert into webhook (id, "accountID") overriding system value values (7001, 7001);
     insert into "webhookDelivery" ("webhookID", kind, body, state) values (7001, 'test', '', 'waiting'), (7001, 'test', '', 'done');
     insert into telegram (id, "accountID") overriding system value values (7001, 7001);
     insert into "telegramNotice" ("telegramID", kind, count, names, detail) values (7001, 'x', 1, '[]', '');
     insert into notice ("accountID", kind, "isShown", "mailDue") values (7001, 'x', true, true);
     insert into "apiToken" ("accountID", "rootID", name, "permissionKeys", "expiredAt", "deletedAt")
       values (7001, 7001, 'stays', '{}', null, null), (7001, 7001, 'over', '{}', '2026-01-01', null), (7001, 7001, 'gone', '{}', null, now());
     update account set password = 'x' where id = 7001;
     insert into passkey ("accountID", name, "credentialID", "publicKey", counter, host, "isSynced") values (7001, 'x', 'x', '', 0, 'x', false);
     insert into identity ("accountID", "clientID", area, issuer, subject) values (7001, 7001, 'client', 'x', 'x');
     insert into authenticator ("accountID", step) values (7001, 0)`,
  );
  const was = await client.query<Record<'passwords' | 'passkeys' | 'identities' | 'authenticators', number>>(
    `select (select count(*)::int from account where password is not null and "deletedAt" is null) as passwords,
       (select count(*)::int from passkey) as passkeys, (select count(*)::int from identity) as identities,
       (select count(*)::int from authenticator) as authenticators`,
  );
  const before = await client.query<{ n: number }>(
    `select count(*)::int as n from "apiToken" where "deletedAt" is null and ("expiredAt" is null or "expiredAt" > now())`,
  );
  const archive = await taken(url);
  const into = await freshDatabase();
  await migrate(into, archive.facts.migrations);
  const { waysIn } = await load(
    into,
    archive.facts,
    (async function* () {
      yield* archive.chunks;
    })(),
  );
  assert.equal(waysIn.apiTokens, before.rows[0]!.n);
  const kinds = ['passwords', 'passkeys', 'identities', 'authenticators'] as const;
  assert.deepEqual(
    kinds.map(kind => waysIn[kind] - was.rows[0]![kind]),
    [0, 0, 0, 0],
  );
  assert.ok(
    kinds.every(kind => waysIn[kind] > 0),
    JSON.stringify(waysIn),
  );
  const there = new pg.Client({ connectionString: into });
  await there.connect();
  const one = async (text: string) => (await there.query(`select ${text} as it`)).rows[0].it as unknown;
  try {
    for (const table of ['login', '"passkeyChallenge"', '"oidcFlow"', 'mail', '"telegramNotice"'])
      assert.equal(await one(`(select count(*)::int from ${table})`), 0, table);
    assert.deepEqual(await one(`(select array_agg(("endedAt" is null)::text || (successor is null)) from session)`), [
      'falsetrue',
      'falsetrue',
    ]);
    assert.equal(
      await one(`(select count(*)::int from session where "endedAt" = '2026-01-01')`),
      1,
      'one that had ended stays so',
    );
    assert.deepEqual(
      await one(`(select array_agg(("usedAt" is null)::text || ("replacedAt" is null) order by "usedAt") from "mailLink")`),
      ['falsetrue', 'truefalse'],
    );
    assert.deepEqual(
      await one(
        `(select array_agg(("usedAt" is null)::text || ("expiredAt" <= now()) order by "usedAt") from "joinToken" where "clientID" = 7001)`,
      ),
      ['falsefalse', 'truetrue'],
      'a node that joined by one may ask by it again',
    );
    assert.deepEqual(await one(`(select array_agg(state order by state) from "webhookDelivery")`), ['done', 'failed']);
    assert.equal(await one(`(select bool_or("mailDue") from notice)`), false);
    // nothing is asked of a table that an older release did not have
    await there.query('begin; drop table mail, "webhookDelivery", "oidcFlow"');
    const { mail: _mail, webhookDelivery: _delivery, oidcFlow: _flow, ...older } = archive.facts.tables;
    await forget(there, older);
  } finally {
    await there.end();
  }
});
