/** Who steers: one at a time, one who can, without haste; and what it mends is its operator's own. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, mock, test } from 'node:test';
import { sql } from 'kysely';
import { DnsProblem } from '#server/domain/dns/driver.ts';
import { compare } from '#server/resolution/compare.ts';
import { KnotDriver } from '#server/resolution/knot.ts';
import { zonesOf } from '#server/resolution/load.ts';
import { Steering } from '#server/resolution/steer.ts';
import { poll } from '#server/store/engine-process.ts';
import { row } from '#server/store/db.ts';
import { WatchedClient } from '#server/store/mute.ts';
import { NameServer } from '#system/name-server.ts';
import { broken, by, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let names: NameServer;
let a: Tenant;
let b: Tenant;
const running = new Set<Steering>();

before(async () => {
  names = await NameServer.start();
  api = await Api.start({ knot: names.service });
  [a, b] = await Promise.all([api.tenant('a'), api.tenant('b')]);
  for (const one of [a, b]) ok(await by(api, one.client).post('/client/setting/dns', { driver: 'knot' }));
});
after(async () => {
  mock.restoreAll();
  for (const one of running) await one.stop();
  await api?.stop();
  await names?.stop();
  assert.deepEqual(api.failures, []);
});

function start<T extends Steering>(one: T): T {
  running.add(one);
  one.start();
  return one;
}
async function stop(one: Steering): Promise<void> {
  running.delete(one);
  await one.stop();
}
/** Of whoever steers: the connection that holds the lock. */
const holder = async () =>
  (
    await row<{ pid: number }>(
      api.database.db,
      sql`select pid from pg_locks where locktype = 'advisory' and objid = 72031 and granted and database = (select oid from pg_database where datname = current_database())`,
    )
  )?.pid;

test('news that it had before it lost the lock does not make it ask for it without end', async () => {
  let go = () => {};
  const gate = new Promise<void>(done => (go = done));
  let turns = 0;
  class Slow extends Steering {
    override async turn(): Promise<number> {
      turns++;
      await gate;
      return 1000;
    }
  }
  const heard = mock.method(WatchedClient.prototype, 'emit').mock;
  const asked = mock.method(WatchedClient.prototype, 'query').mock;
  const one = start(new Slow(api.database.url, api.services));
  assert.ok(await poll(() => turns === 1, 10_000, 20));
  // told in the midst of a turn, and then cut off
  await sql`select pg_notify('resolution', 'nodes')`.execute(api.database.db);
  assert.ok(await poll(() => heard.calls.some(call => call.arguments[0] === 'notification'), 10_000, 20));
  const pid = await holder();
  const other = new WatchedClient({ connectionString: api.database.url });
  await other.connect();
  try {
    const waiting = other.query('select pg_advisory_lock(72031)');
    await sql`select pg_terminate_backend(${pid})`.execute(api.database.db);
    await waiting;
    go();
    const tries = () => asked.calls.filter(call => String(call.arguments[0]).includes('pg_try_advisory_lock')).length;
    const before = tries();
    assert.ok(await poll(() => tries() > before, 10_000, 5));
    const [triesAt, startedAt] = [tries(), performance.now()];
    // each of its looks is one question; ours are as many as there is time for
    for (let n = 0; n < 300; n++) await sql`select 1`.execute(api.database.db);
    const most = 2 + (performance.now() - startedAt) / 500;
    assert.ok(tries() - triesAt <= most, `it asked ${tries() - triesAt} times`);
  } finally {
    await other.end();
    mock.restoreAll();
  }
  await stop(one);
});

const zone = 'cdn.steer.test';
let cnameID: number;
async function nodeOf({ client, zoneID, groupID }: Tenant, address: string, lineID = 1): Promise<void> {
  const { id } = (await row<{ id: number }>(
    api.database.db,
    sql`insert into node ("clientID", "zoneID", name, type, status, addresses, "lastBeat", "publicKey")
      values (${client.id}, ${zoneID}, ${address}, 'edge', 'normal', ${[address]}, now(), ${address}) returning id`,
  ))!;
  ok(await by(api, client).post(`/client/group/${groupID}/line/${lineID}/nodes`, { ids: [id] }));
}
const answers = (wanted: string, ...args: string[]) => poll(async () => String(await names.dig(...args)) === wanted, 20_000, 50);

test('what a strange group is mended with is of the zone’s own operator', async () => {
  const one = start(new Steering(api.database.url, api.services, { steadySeconds: 0.2 }));
  cnameID = await by(api, a.client).make('/client/setting/dns/cname', { domainName: zone, nameServers: ['ns1.steer.test'] });
  await sql`delete from "lineNode" where "groupID" = any(${[a.groupID, b.groupID]})`.execute(api.database.db);
  await nodeOf(a, '192.0.2.1');
  const other = by(api, b.client);
  ok(await other.patch('/client/group', { id: b.groupID, lines: [{ name: 'office', cidrs: ['198.51.100.0/24'], asns: [] }] }));
  const { data } = await other.read(`/client/zone/${b.zoneID}/groups`);
  await nodeOf(b, '192.0.2.77', data.find((group: { id: number }) => group.id === b.groupID).lines[0].id);
  assert.ok(await answers('192.0.2.1', `g${a.groupID}.l.${zone}`, 'A'));
  const stored = () =>
    row(api.database.db, sql`select 1 from "groupAnswer" where "groupID" = ${b.groupID} and lines::text like '%192.0.2.77%'`);
  assert.ok(await poll(async () => (await stored()) !== undefined, 10_000, 50));
  const strange = { groupID: 888_888, version: 1, fallback: { a: ['192.0.2.66'], aaaa: [], cname: null }, lines: [] };
  // by itself: whoever steers writes the whole file anew afterwards
  await stop(one);
  const driver = new KnotDriver(names.service);
  const [held] = await zonesOf(api.database.db, sql`c.id = ${cnameID}`);
  await driver.applyGroups(held!.zone, [strange], [strange], []);
  assert.ok(await answers('192.0.2.66', `g888888.l.${zone}`, 'A'));
  await compare(api.database.db, driver, held!);
  assert.ok(await answers('status: NXDOMAIN', `g888888.l.${zone}`, 'A'));
  assert.doesNotMatch(readFileSync(join(names.dir, 'lines', `${cnameID}.geo`), 'utf8'), /192\.0\.2\.77/);
});

test('of two operators who take a name and one below it at once, one is refused', async () => {
  let go = () => {};
  const gate = new Promise<void>(done => (go = done));
  let isHeld = false;
  // somebody takes the name above, and is not done yet
  const first = api.database.db.transaction().execute(async db => {
    await sql`select pg_advisory_xact_lock(72033)`.execute(db);
    await sql`insert into cname ("clientID", "domainName", "dnsSettingID", "nameServers", memo)
      select ${a.client.id}, 'both.steer.test', id, '{}', '' from "dnsSetting" where "clientID" = ${a.client.id}`.execute(db);
    isHeld = true;
    await gate;
  });
  assert.ok(await poll(() => isHeld, 10_000, 20));
  const second = by(api, b.client).post('/client/setting/dns/cname', { domainName: 'deep.both.steer.test' });
  const waits = async () =>
    (await row(api.database.db, sql`select 1 from pg_locks where locktype = 'advisory' and objid = 72033 and not granted`)) !==
    undefined;
  await Promise.race([second, poll(waits, 10_000, 20)]);
  go();
  await first;
  broken(await second, 'domainName', 'zoneOfAnother', 409);
});

test('one without a name server gives way to one that has it', async () => {
  const without = start(new Steering(api.database.url, {}, { steadySeconds: 0.2 }));
  assert.ok(await poll(async () => (await holder()) !== undefined, 10_000, 20));
  const one = start(new Steering(api.database.url, api.services, { steadySeconds: 0.2 }));
  await nodeOf(a, '192.0.2.2');
  assert.ok(await answers('192.0.2.1,192.0.2.2', `g${a.groupID}.l.${zone}`, 'A'));
  await Promise.all([stop(without), stop(one)]);
});

test('what somebody else who steered meanwhile was told to wait is waited by who steers again', { timeout: 60_000 }, async () => {
  const db = api.database.db;
  let asked = 0;
  const driver = new (class extends KnotDriver {
    override prepare(...[, due]: Parameters<KnotDriver['prepare']>): never {
      if (due.length) asked++;
      throw new DnsProblem('away', 'not now');
    }
  })(names.service);
  let turns = 0;
  class Counting extends Steering {
    override async turn(): Promise<number> {
      const soonMs = await super.turn();
      turns++;
      return soonMs;
    }
  }
  const one = start(new Counting(api.database.url, api.services, { steadySeconds: 0.2, driver: () => driver }));
  assert.ok(await poll(() => asked > 1, 10_000, 20));
  const other = new WatchedClient({ connectionString: api.database.url });
  await other.connect();
  const waiting = other.query('select pg_advisory_lock(72031)');
  await sql`select pg_terminate_backend(${await holder()})`.execute(db);
  await waiting;
  // nothing that was under way is left
  const rests = async () => {
    const before = asked;
    await sql`select pg_sleep(0.3)`.execute(db);
    return asked === before;
  };
  assert.ok(await poll(rests, 20_000, 20));
  await sql`update cname set tries = 5, "nextAt" = clock_timestamp() + interval '10 minutes' where "deletedAt" is null`.execute(
    db,
  );
  // longer than anybody waits by himself
  const [before, turned] = [asked, turns];
  await sql`select pg_sleep(4)`.execute(db);
  await other.end();
  assert.ok(await poll(() => turns > turned + 2, 20_000, 20));
  assert.equal(asked - before, 0);
  await stop(one);
  await sql`update cname set tries = 0, error = '', "failingSince" = null`.execute(db);
});

test('the key that the zone above knows is the one that was shown first, however many came after it, until that is back', async () => {
  const signed = await by(api, a.client).make('/client/setting/dns/cname', { domainName: 'keys.steer.test' });
  await sql`update cname set signed = true where id = ${signed}`.execute(api.database.db);
  const [held] = await zonesOf(api.database.db, sql`c.id = ${signed}`);
  let key = '';
  const driver = new (class extends KnotDriver {
    override observe = () => Promise.resolve({ names: new Map(), groups: new Map() });
    override trust = () => Promise.resolve(key ? [key] : []);
  })(names.service);
  const told = async (now: string) => {
    key = now;
    await compare(api.database.db, driver, held!);
    const found = await row<{ ds: string[]; dsBefore: string[] }>(
      api.database.db,
      sql`select ds, "dsBefore" from cname where id = ${signed}`,
    );
    return [found!.ds.join(), found!.dsBefore.join()];
  };
  assert.deepEqual(await told('one'), ['one', '']);
  assert.deepEqual(await told('two'), ['two', 'one']);
  assert.deepEqual(await told(''), ['two', 'one']);
  assert.deepEqual(await told('three'), ['three', 'one']);
  assert.deepEqual(await told('one'), ['one', '']);
});
