/** PostgreSQL goes away and comes back under a running server. */
import assert from 'node:assert/strict';
import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { calls as declare } from '#contract/kit/call.ts';
import { implement } from '#server/kit/implement.ts';
import { toFail } from '#server/kit/failures.ts';
import { listen, openDatabase, rows } from '#server/store/db.ts';
import { allPids, poll } from '#server/store/engine-process.ts';
import { type PostgresEngine, startPostgres } from '#server/store/postgres-launcher.ts';
import { testFolder } from '#system/engines.ts';
import { is, ok } from './expect.ts';
import { Api, type Reply, type Tenant } from './harness.ts';

const dir = join(testFolder('pg'), 'pg');
let engine: PostgresEngine;
const start = async (port?: number) =>
  (engine = await startPostgres({ dir, ...(port ? { port } : {}), durable: false, ref: false }));

const slow = declare({ base: '/client/slow', resource: 'slow' }, { 'GET /read': {}, 'POST /write': {}, 'POST /pause': {} });
const began = { reads: 0, writes: 0, pauses: 0 };
let resume: () => void = () => {};
const slowCalls = implement(slow, {
  'GET /read': async ({ ctx }) => {
    began.reads++;
    await sql`select pg_sleep(60)`.execute(ctx.db);
    return {};
  },
  'POST /write': async ({ ctx }) => {
    await sql`insert into line values (77, 'default', 'half done')`.execute(ctx.db);
    began.writes++;
    await sql`select pg_sleep(60)`.execute(ctx.db);
    return {};
  },
  // a transaction between two statements
  'POST /pause': async ({ ctx }) => {
    await sql`insert into line values (78, 'default', 'half done')`.execute(ctx.db);
    began.pauses++;
    await new Promise<void>(done => (resume = done));
    await sql`select 1`.execute(ctx.db);
    return {};
  },
});

let api: Api;
let side: Api;
let a: Tenant;
before(async () => {
  await start();
  api = await Api.start({}, {}, engine.url);
  a = await api.tenant('a');
  side = await Api.start({}, { groups: [slow], implementations: [slowCalls] }, engine.url);
});
after(async () => {
  await side?.stop();
  await api?.stop();
  await engine?.stop();
});

/** 101005, and when to come again: the database is expected back. */
const isAway = (reply: Reply) => {
  is(reply, 'database', 503);
  assert.equal(reply.headers['retry-after'], '5');
};
const list = () => api.call('GET', '/user/sites', { token: a.user.token });
const tag = (tags: string[]) => api.call('PUT', `/user/site/${a.siteID}/tags`, { token: a.user.token, body: { tags } });

test('while it is away every call is told 101005 soon; when it is back the same server goes on', async () => {
  ok(await list());
  const { port } = engine;
  for (let round = 0; round < 2; round++) {
    await engine.stop();
    const begin = performance.now();
    for (const reply of await Promise.all([
      list(),
      tag(['lost']),
      list(),
      api.call('POST', '/user/verify', { body: { email: a.user.email, password: 'x' } }),
    ]))
      isAway(reply);
    assert.ok(performance.now() - begin < 15_000);
    // what needs no database is still answered as ever
    is(await api.call('GET', '/user/sites'), 'credentialFailed');
    is(await api.call('GET', '/user/sites', { token: 'nonsense' }), 'invalidToken');
    await start(port);
    assert.ok(await poll(async () => (await list()).status === 200, 15_000));
    ok(await tag([`round-${round}`]));
  }
  assert.deepEqual((await list()).body.data[0].tags, ['round-1']);
  for (const line of api.failures.splice(0)) assert.match(line, /"code":101005/);
});

test('calls that are under way when it dies end with 101005, and half of a change is none', async () => {
  const { accessToken } = await side.sessions.open(side.database.db, a.client.id);
  const under = [
    side.call('GET', '/client/slow/read', { token: accessToken }),
    side.call('POST', '/client/slow/write', { token: accessToken }),
  ];
  assert.ok(await poll(() => began.reads === 1 && began.writes === 1, 10_000));
  const { port } = engine;
  await engine.stop();
  for (const reply of await Promise.all(under)) isAway(reply);
  await start(port);
  assert.ok(await poll(async () => (await list()).status === 200, 15_000));
  assert.equal((await rows(api.database.db, sql`select 1 from line where id = 77`)).length, 0);
  for (const line of side.failures.splice(0)) assert.match(line, /"code":101005/);
});

/** PostgreSQL's processes work in its folder. */
function worksHere(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === dir;
  } catch {
    return false;
  }
}

test('while it stands still (it accepts, and answers nothing) calls are told 101005; a statement that only takes long is left alone', async () => {
  const { accessToken } = await side.sessions.open(side.database.db, a.client.id);
  const reads = began.reads;
  const patient = side.call('GET', '/client/slow/read', { token: accessToken });
  assert.ok(await poll(() => began.reads === reads + 1, 10_000));
  // others were asked after ten seconds of it, so it was looked at and found alive
  const asleep = async () =>
    (
      await rows<{ seconds: number }>(
        api.database.db,
        sql`select extract(epoch from clock_timestamp() - query_start)::float8 as seconds from pg_stat_activity where query like 'select pg_sleep%' and state = 'active'`,
      )
    )[0]?.seconds;
  assert.ok(await poll(async () => ((await asleep()) ?? 0) > 12, 30_000, 200), 'a long statement goes on');
  const stopped = allPids().filter(worksHere);
  assert.ok(stopped.length > 4, 'with a process for each connection');
  for (const pid of stopped) process.kill(pid, 'SIGSTOP');
  try {
    let replies: Reply[] | undefined;
    void Promise.all([
      patient,
      list(),
      tag(['lost']),
      side.call('POST', '/client/slow/write', { token: accessToken }),
      api.call('POST', '/user/verify', { body: { email: a.user.email, password: 'x' } }),
    ]).then(all => (replies = all));
    assert.ok(await poll(() => replies !== undefined, 45_000, 100), 'they hang');
    for (const reply of replies!) isAway(reply);
  } finally {
    for (const pid of stopped) process.kill(pid, 'SIGCONT');
  }
  assert.ok(await poll(async () => (await list()).status === 200, 15_000));
  ok(await tag(['found']));
  assert.deepEqual((await list()).body.data[0].tags, ['found']);
  assert.equal((await rows(api.database.db, sql`select 1 from line where id = 77`)).length, 0);
  for (const line of [...side.failures.splice(0), ...api.failures.splice(0)]) assert.match(line, /"code":101005/);
});

test('a single connection that is cut is replaced, within a transaction too', async () => {
  const { accessToken } = await side.sessions.open(side.database.db, a.client.id);
  const under = side.call('POST', '/client/slow/write', { token: accessToken });
  assert.ok(await poll(() => began.writes === 2, 10_000));
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`.execute(
    api.database.db,
  );
  isAway(await under);
  // the same while nothing is asked of it: nobody waits for an answer who could be told
  // a pool may hand out a connection before it has heard of its end: who gets it is told to come again
  let paused = side.call('POST', '/client/slow/pause', { token: accessToken });
  let ended = false;
  const watch = () => void paused.then(() => (ended = true));
  watch();
  const hasBegun = () => {
    if (ended && began.pauses === 0) {
      ended = false;
      paused = side.call('POST', '/client/slow/pause', { token: accessToken });
      watch();
    }
    return began.pauses === 1;
  };
  assert.ok(await poll(hasBegun, 10_000));
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where state = 'idle in transaction'`.execute(api.database.db);
  assert.ok(
    await poll(
      async () =>
        (await rows(api.database.db, sql`select 1 from pg_stat_activity where state = 'idle in transaction'`)).length === 0,
      5000,
    ),
  );
  resume();
  isAway(await paused);
  assert.ok(await poll(async () => (await list()).status === 200, 15_000));
  for (const line of [...side.failures.splice(0), ...api.failures.splice(0)]) assert.match(line, /"code":101005/);
});

describe('notices', () => {
  test('come again after a loss, and what was missed meanwhile is made good', async () => {
    const heard: string[] = [];
    const listener = listen(engine.url, ['something'], (_channel, payload) => heard.push(payload));
    try {
      assert.ok(await poll(() => listener.isUp(), 10_000));
      assert.deepEqual(heard, ['']);
      const { port } = engine;
      for (let round = 0; round < 3; round++) {
        await engine.stop();
        assert.ok(await poll(() => !listener.isUp(), 10_000));
        await start(port);
        assert.ok(await poll(() => listener.isUp(), 15_000));
      }
      // one notice of its own for each connection, no more: none was opened twice
      assert.deepEqual(heard, ['', '', '', '']);
      const client = new pg.Client({ connectionString: engine.url });
      await client.connect();
      await client.query(`notify something, 'word'`);
      await client.end();
      assert.ok(await poll(() => heard.includes('word'), 30_000));
    } finally {
      await listener.stop();
    }
  });

  test('an account that is paused by another process while nothing can be heard is not let in afterwards', async () => {
    assert.ok(await poll(async () => (await list()).status === 200, 15_000));
    const { port } = engine;
    await engine.stop();
    await start(port);
    // nobody is told: whoever was remembered before the loss must not be trusted after it
    const client = new pg.Client({ connectionString: engine.url });
    await client.connect();
    await client.query(`update account set status = 'pause' where id = $1`, [a.user.id]);
    await client.end();
    assert.ok(await poll(async () => (await list()).status !== 503, 15_000));
    is(await list(), 'accountNotEnabled');
  });
});

test('when every connection is taken, whoever waits is told in time', async () => {
  const small = openDatabase(engine.url, 1, 200);
  try {
    const held = await small.pool.connect();
    const error = await sql`select 1`.execute(small.db).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    assert.equal(toFail(error).name, 'database', String(error));
    held.release();
    assert.equal((await rows(small.db, sql`select 1`)).length, 1);
  } finally {
    await small.close();
  }
});

test('what node and pg say about a lost database is 101005, what our code says is 101002', () => {
  const error = (message: string, more: object = {}) => Object.assign(new Error(message), more);
  for (const one of [
    error('connect ECONNREFUSED', { code: 'ECONNREFUSED', syscall: 'connect' }),
    error('read ECONNRESET', { code: 'ECONNRESET', syscall: 'read' }),
    error('Connection terminated unexpectedly'),
    error('Connection terminated due to connection timeout'),
    error('timeout exceeded when trying to connect'),
    error('Client has encountered a connection error and is not queryable'),
    error('terminating connection', { code: '57P01' }),
    error('could not extend file: No space left on device', { code: '53100' }),
  ])
    assert.equal(toFail(one).name, 'database', one.message);
  for (const one of [
    error('x is not a function'),
    error('no such file', { code: 'ENOENT' }),
    error('bad option', { code: 'ERR_INVALID_ARG_TYPE' }),
  ])
    assert.equal(toFail(one).name, 'unknown', one.message);
  // who comes again later finds it there, or finds room: not when the disk is full
  for (const one of [error('timeout exceeded when trying to connect'), error('terminated', { code: '25P04' })])
    assert.equal(toFail(one).status, 503, one.message);
  assert.equal(toFail(error('No space left on device', { code: '53100' })).status, 500);
  assert.equal(toFail(error('invalid byte sequence', { code: '22021' })).name, 'parameter');
});
