/** What is told of names, to whom it matters: whether the name server, whoever steers, or one operator's zone is in trouble. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { keyOf } from '#contract/system/health.ts';
import { Health } from '#server/kit/health.ts';
import { noteFailed } from '#server/resolution/failing.ts';
import { zonesOf } from '#server/resolution/load.ts';
import { addNamesCheck, type NamesCheckOptions } from '#server/resolution/names-check.ts';
import { Steering } from '#server/resolution/steer.ts';
import { row } from '#server/store/db.ts';
import { poll } from '#server/store/engine-process.ts';
import { NameServer } from '#system/name-server.ts';
import { by, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let names: NameServer;
let a: Tenant;
let b: Tenant;
before(async () => {
  names = await NameServer.start();
  api = await Api.start({ knot: names.service });
  [a, b] = await Promise.all([api.tenant('a'), api.tenant('b')]);
});
after(async () => {
  await api?.stop();
  await names?.stop();
  assert.deepEqual(api.failures, []);
});

/** One that nobody asked yet: what was found last stays for a second. */
function looker(options?: NamesCheckOptions) {
  const health = new Health();
  addNamesCheck(health, api.services, options);
  return async (reason?: string) =>
    (await health.look()).flatMap(({ id, key, reason: why, state }) =>
      id === 'names' && state !== 'ok' && (reason === undefined || why === reason) ? [`${state} ${why} ${key ?? ''}`.trim()] : [],
    );
}
const zoneOf = async (one: Tenant, domainName: string) =>
  by(api, one.client).make('/client/setting/dns/cname', { domainName, nameServers: ['ns1.health.test'] });
const failing = (ids: readonly number[]) =>
  sql`update cname set tries = 3, error = 'no', "failingSince" = now() - interval '2 minutes' where id = any(${ids})`.execute(
    api.database.db,
  );

test('a name server that is away is a fault where somebody’s names stand there', async () => {
  await names.stop();
  assert.deepEqual(await looker()('names.away'), ['warn names.away server']);
  ok(await by(api, a.client).post('/client/setting/dns', { driver: 'knot' }));
  await zoneOf(a, 'one.health.test');
  assert.deepEqual(await looker()('names.away'), ['fail names.away server']);
  await names.up();
  assert.deepEqual(await looker()(), []);
});

test('a group that cannot be worked out is told to its operator after a while, and no longer than that lasts', async () => {
  const told = `warn names.unread ${keyOf('operator', b.client.id, 'groups')}`;
  await sql`insert into "groupUnread" ("groupID", detail) values (${b.groupID}, 'a value is out of range')`.execute(
    api.database.db,
  );
  assert.deepEqual(await looker()('names.unread'), []);
  await sql`update "groupUnread" set since = since - interval '5 minutes'`.execute(api.database.db);
  assert.deepEqual(await looker()('names.unread'), [told]);
  await sql`delete from "groupUnread"`.execute(api.database.db);
  assert.deepEqual(await looker()('names.unread'), []);
});

test('names of sites that are refused are told as such, in words of their own; a group among them is a change that does not come through', async () => {
  const { db } = api.database;
  const one = sql`"domainName" = 'one.health.test'`;
  const refuse = (...names: string[]) =>
    sql`update cname set tries = 0, error = 'no', "failingSince" = now() - interval '1 hour', "refusedCount" = 7,
      refused = ${JSON.stringify(names.map(name => ({ name, why: 'no', said: null })))}::jsonb where ${one}`.execute(db);
  const second = await zoneOf(a, 'also.health.test');
  await refuse('denied.one.health.test');
  await failing([second]);
  const late = `warn names.late ${keyOf('operator', a.client.id)}`;
  const refused = `warn names.refused ${keyOf('operator', a.client.id, 'names')}`;
  // nor are all zones of the name server late
  assert.deepEqual((await looker()()).sort(), [late, refused]);
  await sql`update cname set tries = 0, "failingSince" = null where id = ${second}`.execute(db);
  assert.deepEqual(await looker()(), [refused]);
  await refuse('g7.l.one.health.test', 'denied.one.health.test');
  assert.deepEqual(await looker()(), [late]);
  // that nothing comes through begins when it does
  await refuse('denied.one.health.test');
  const [held] = await zonesOf(db, one);
  await noteFailed(db, held!, { why: 'away', said: undefined, retrySeconds: undefined });
  assert.deepEqual(await looker()(), []);
  await sql`update cname set "failingSince" = "failingSince" - interval '2 minutes' where ${one}`.execute(db);
  await noteFailed(db, held!, { why: 'away', said: undefined, retrySeconds: undefined });
  assert.deepEqual(await looker()(), [late]);
  await sql`update cname set tries = 0, error = '', "failingSince" = null, refused = '[]', "refusedCount" = 0 where ${one}`.execute(
    db,
  );
  ok(await by(api, a.client).del('/client/setting/dns/cname', { ids: [second] }));
});

test('one zone alone keeps the installation from nothing, all of several do, and each is told until it comes through', async () => {
  const first = await row<{ id: number }>(api.database.db, sql`select id from cname where "domainName" = 'one.health.test'`);
  await failing([first!.id]);
  const told = `names.late ${keyOf('operator', a.client.id)}`;
  assert.deepEqual(await looker()(), [`warn ${told}`]);
  const second = await zoneOf(a, 'two.health.test');
  assert.deepEqual(await looker()(), [`warn ${told}`]);
  await failing([first!.id, second]);
  assert.deepEqual(await looker()(), [`fail ${told}`]);
  // who has all compared has it tried at once: that mends nothing yet
  ok(await by(api, a.client).post('/client/setting/dns/recovery'));
  assert.deepEqual(await looker()(), [`fail ${told}`]);
  const steering = new Steering(api.database.url, api.services, { steadySeconds: 0.2 });
  steering.start();
  let last: string[] = [];
  assert.ok(await poll(async () => (last = await looker()()).length === 0, 20_000, 200), String(last));
  await steering.stop();
});

test('of more operators than are told, those of this installation’s own name server are', async () => {
  ok(
    await by(api, a.client).post('/client/setting/dns', {
      ...{ driver: 'rfc2136', server: '192.0.2.53', keyName: 'k.test', algorithm: 'hmacSHA256', credentials: 'c2VjcmV0' },
    }),
  );
  const own = await row<{ id: number }>(
    api.database.db,
    sql`update cname set "dnsSettingID" = (select max(id) from "dnsSetting") where "domainName" = 'one.health.test' returning id`,
  );
  ok(await by(api, b.client).post('/client/setting/dns', { driver: 'knot' }));
  const ours = await zoneOf(b, 'three.health.test');
  await failing([own!.id, ours]);
  assert.deepEqual(await looker({ operatorsMost: 1 })(), [`warn names.late ${keyOf('operator', b.client.id)}`]);
  assert.deepEqual((await looker()()).sort(), [
    `warn names.late ${keyOf('operator', a.client.id, 'own')}`,
    `warn names.late ${keyOf('operator', b.client.id)}`,
  ]);
  await sql`update cname set tries = 0, "failingSince" = null`.execute(api.database.db);
});

test('nobody steers: it is told, and not of the time in which the database could not say', { timeout: 60_000 }, async () => {
  const look = looker({ idleSeconds: 4 });
  assert.deepEqual(await look(), []);
  // whoever asks waits for this, longer than nobody may steer
  let go = () => {};
  const gate = new Promise<void>(done => (go = done));
  const locked = api.database.db.transaction().execute(async trx => {
    await sql`lock table cname in access exclusive mode`.execute(trx);
    await gate;
  });
  const startedAt = performance.now();
  const isAway = async () => (await look()).includes('fail database.away');
  await poll(async () => (await isAway()) && performance.now() - startedAt > 5000, 20_000, 100);
  go();
  await locked;
  let last: string[] = [];
  const isAnswered = async () => !(last = await look()).includes('fail database.away');
  assert.ok(await poll(isAnswered, 20_000, 50), String(last));
  assert.deepEqual(last, []);
  assert.ok(await poll(async () => (last = await look()).includes('fail names.idle'), 20_000, 500), String(last));
});
