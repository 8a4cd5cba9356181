/** Clocks that are set back, rows that cannot be read, a name server that is away: names go on being looked after, and somebody is told. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { Health } from '#server/kit/health.ts';
import { KnotDriver } from '#server/resolution/knot.ts';
import { addNamesCheck } from '#server/resolution/names-check.ts';
import { Steering } from '#server/resolution/steer.ts';
import { row, rows } from '#server/store/db.ts';
import { poll } from '#server/store/engine-process.ts';
import { NameServer } from '#system/name-server.ts';
import { by, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let names: NameServer;
let a: Tenant;
let b: Tenant;
let steering: Steering;
const zone = 'cdn.faults.test';
before(async () => {
  names = await NameServer.start();
  api = await Api.start({ knot: names.service });
  [a, b] = await Promise.all([api.tenant('a'), api.tenant('b')]);
  await sql`delete from "lineNode"`.execute(db());
  for (const one of [a, b]) {
    await sql`insert into node ("clientID", "zoneID", name, type, status, addresses, "lastBeat", "publicKey", "wellAt")
      values (${one.client.id}, ${one.zoneID}, 'one', 'edge', 'normal', '{192.0.2.1}', now(), ${String(one.zoneID)}, now() - interval '1 hour')`.execute(
      db(),
    );
    const node = await row<{ id: number }>(db(), sql`select id from node where "zoneID" = ${one.zoneID} and name = 'one'`);
    ok(await by(api, one.client).post(`/client/group/${one.groupID}/line/1/nodes`, { ids: [node!.id] }));
  }
  ok(await by(api, a.client).post('/client/setting/dns', { driver: 'knot' }));
  ok(await by(api, a.client).post('/client/setting/dns/cname', { domainName: zone, nameServers: ['ns1.faults.test'] }));
  steering = new Steering(api.database.url, api.services, { steadySeconds: 0.2 });
  steering.start();
  await answers('192.0.2.1');
});
after(async () => {
  await steering?.stop();
  await api?.stop();
  await names?.stop();
  assert.deepEqual(api.failures, []);
});

const db = () => api.database.db;
async function answers(wanted: string): Promise<void> {
  let last = '';
  const ask = async () => (last = String(await names.dig(`g${a.groupID}.l.${zone}`, 'A').catch(() => ['nobody'])));
  assert.ok(await poll(async () => (await ask()) === wanted, 20_000, 50), `${last} instead of ${wanted}`);
}
/** Of a name server that is kept up, however often it ends. */
async function answersAgain(wanted: string): Promise<void> {
  const isAnswered = async () => {
    await names.keepUp();
    return String(await names.dig(`g${a.groupID}.l.${zone}`, 'A').catch(() => ['nobody'])) === wanted;
  };
  assert.ok(await poll(isAnswered, 40_000, 50), 'its names are not answered again');
}
const move = (address: string) =>
  sql`update node set addresses = ${[address]} where "zoneID" = ${a.zoneID} and name = 'one'`.execute(db());

test('a clock that is set back by an hour keeps no zone from its changes', { timeout: 60_000 }, async () => {
  await sql`update cname set "nextAt" = now() + interval '59 minutes', "comparedAt" = now() + interval '59 minutes'`.execute(
    db(),
  );
  await move('192.0.2.2');
  await answers('192.0.2.2');
  // also one that waited for its next try then
  await sql`update cname set tries = 3, error = 'away', "nextAt" = now() + interval '59 minutes'`.execute(db());
  await move('192.0.2.3');
  await answers('192.0.2.3');
  // what somebody changes by hand is found
  await names.stop();
  await names.up();
  await sql`update cname set "comparedAt" = now() + interval '59 minutes'`.execute(db());
  const isCompared = async () => (await row(db(), sql`select 1 from cname where "comparedAt" <= now()`)) !== undefined;
  assert.ok(await poll(isCompared, 20_000, 50));
});

test('one that failed, and whose clock is set back a little, waits no longer than it was to', { timeout: 60_000 }, async () => {
  await names.stop();
  await move('192.0.2.4');
  const isFailing = async () => (await row(db(), sql`select 1 from cname where tries > 0`)) !== undefined;
  assert.ok(await poll(isFailing, 20_000, 20));
  await names.up();
  await sql`update cname set "nextAt" = "nextAt" + interval '5 minutes'`.execute(db());
  await answers('192.0.2.4');
});

test('a group whose answer cannot be read is made anew, and keeps no other waiting', { timeout: 60_000 }, async () => {
  for (const lines of ['{}', '[{"lineID": 1}]', '[null]', '"x"']) {
    await sql`update "groupAnswer" set lines = ${lines}::jsonb where "groupID" = ${b.groupID}`.execute(db());
    const isWell = async () =>
      (await row(
        db(),
        sql`select 1 from "groupAnswer" where "groupID" = ${b.groupID} and jsonb_typeof(lines) = 'array' and lines->0->'a'->>0 = '192.0.2.1'`,
      )) !== undefined;
    assert.ok(await poll(isWell, 20_000, 50), lines);
  }
  // nor does one that cannot be written down
  await sql`alter table "groupAnswer" add constraint poisoned check ("groupID" <> ${sql.lit(b.groupID)} or version < 0) not valid`.execute(
    db(),
  );
  await sql`update node set addresses = '{192.0.2.99}' where "zoneID" = ${b.zoneID}`.execute(db());
  await move('192.0.2.5');
  await answers('192.0.2.5');
  // and whoever is asked how names are says so, until it can be
  const unread = async () =>
    (await rows<{ detail: string }>(db(), sql`select detail from "groupUnread" where "groupID" = ${b.groupID}`))[0]?.detail;
  assert.match((await unread())!, /poisoned/);
  await sql`alter table "groupAnswer" drop constraint poisoned`.execute(db());
  assert.ok(await poll(async () => (await unread()) === undefined, 20_000, 50));
});

test('what one who was frozen writes when it wakes up is looked at by who steers meanwhile', { timeout: 90_000 }, async () => {
  await steering.stop();
  let go = () => {};
  const gate = new Promise<void>(done => (go = done));
  let isWriting = false;
  class Late extends KnotDriver {
    override async applyGroups(...all: Parameters<KnotDriver['applyGroups']>): Promise<void> {
      if (!isArmed) return super.applyGroups(...all);
      isWriting = true;
      await gate;
      await super.applyGroups(...all);
      // its own view of who has what is as old
      throw new Error('frozen');
    }
  }
  let isArmed = false;
  class Frozen extends Steering {
    override async turn(): Promise<number> {
      const soonMs = await super.turn();
      if (isWriting) await gate;
      return soonMs;
    }
  }
  const driver = new Late(names.service);
  const frozen = new Frozen(api.database.url, api.services, { steadySeconds: 0.2, driver: () => driver });
  frozen.start();
  const isAsWritten = async () =>
    (await row(db(), sql`select 1 from cname where "comparedAt" is not null and tries = 0`)) !== undefined;
  await move('192.0.2.5');
  await answers('192.0.2.5');
  assert.ok(await poll(isAsWritten, 20_000, 50));
  isArmed = true;
  await move('192.0.2.7');
  assert.ok(await poll(() => isWriting, 20_000, 20));
  await move('192.0.2.5');
  await sql`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = 72031 and granted
    and database = (select oid from pg_database where datname = current_database())`.execute(db());
  steering = new Steering(api.database.url, api.services, { steadySeconds: 0.2 });
  steering.start();
  await answers('192.0.2.5');
  const seen = async () =>
    (await row<{ at: string | null }>(db(), sql`select "comparedAt"::text as at from cname where tries = 0`))?.at;
  let compared: string | null | undefined;
  assert.ok(await poll(async () => (compared = await seen()) != null, 20_000, 50));
  go();
  assert.ok(
    await poll(async () => ((now: string | null | undefined) => now != null && now !== compared)(await seen()), 20_000, 50),
  );
  await answers('192.0.2.5');
  await frozen.stop();
});

/** What stands there is somebody else's, from a byte on. */
function damage(store: string, from: number, bytes: number): void {
  const path = join(names.dir, 'db', store, 'data.mdb');
  const all = readFileSync(path);
  randomBytes(bytes).copy(all, from);
  writeFileSync(path, all);
}

test('a journal that cannot be opened, or ends who reads it, goes aside and is written anew', { timeout: 90_000 }, async () => {
  const journal = join(names.dir, 'db/journal/data.mdb');
  for (const [from, bytes] of [
    [0, 8192],
    [8192, Math.floor(statSync(journal).size / 8192) * 4096],
  ] as const) {
    await names.kill();
    damage('journal', from, bytes);
    // what is damaged may end it only when a zone is read: whoever starts it does so again
    await answersAgain('192.0.2.5');
    assert.ok(existsSync(join(names.dir, 'db/journal.unread')));
  }
});

test('lines of a signed zone whose keys were lost are answered again', { timeout: 90_000 }, async () => {
  const client = by(api, a.client);
  ok(await client.patch('/client/group', { id: a.groupID, lines: [{ name: 'office', cidrs: ['198.51.100.0/24'], asns: [] }] }));
  const { data } = await client.read(`/client/zone/${a.zoneID}/groups`);
  const { lines } = data.find((group: { id: number }) => group.id === a.groupID);
  const node = await row<{ id: number }>(
    db(),
    sql`insert into node ("clientID", "zoneID", name, type, status, addresses, "lastBeat", "publicKey", "wellAt")
      values (${a.client.id}, ${a.zoneID}, 'office', 'edge', 'normal', '{192.0.2.50}', now(), 'office', now() - interval '1 hour') returning id`,
  );
  ok(await client.post(`/client/group/${a.groupID}/line/${lines[0].id}/nodes`, { ids: [node!.id] }));
  const cname = await row<{ id: number }>(db(), sql`select id from cname where "domainName" = ${zone}`);
  ok(await client.put('/client/setting/dns/cname', { id: cname!.id, signed: true }));
  const office = async () =>
    String(await names.dig('+subnet=198.51.100.1/32', `g${a.groupID}.l.${zone}`, 'A').catch(() => ['nobody']));
  const hasKeys = async () =>
    (await row(db(), sql`select 1 from cname where id = ${cname!.id} and ds <> '{}' and "comparedAt" is not null`)) !== undefined;
  assert.ok(await poll(async () => (await office()) === '192.0.2.50' && (await hasKeys()), 30_000, 100));
  for (const act of [() => rmSync(join(names.dir, 'db/keys'), { recursive: true }), () => damage('keys', 0, 8192)]) {
    await names.kill();
    act();
    await names.up();
    assert.ok(await poll(async () => (await office()) === '192.0.2.50', 30_000, 100), await office());
  }
  await answers('192.0.2.5');
});

test('a name server that is away, changes that do not arrive and nobody who steers are told', { timeout: 90_000 }, async () => {
  const health = new Health();
  addNamesCheck(health, api.services);
  const found = async () => {
    const all = await health.look();
    return all.flatMap(({ id, reason, state }) => (id === 'names' && state !== 'ok' ? [`${state} ${reason}`] : [])).sort();
  };
  assert.deepEqual(await found(), []);
  await names.stop();
  await move('192.0.2.6');
  const told = async (wanted: string) => {
    let last: string[] = [];
    assert.ok(await poll(async () => (last = await found()).includes(wanted), 20_000, 100), `${last.join()} lacks ${wanted}`);
  };
  await told('fail names.away');
  assert.ok(
    await poll(async () => (await row(db(), sql`select 1 from cname where "failingSince" is not null`)) !== undefined, 20_000),
  );
  await sql`update cname set "failingSince" = now() - interval '2 minutes'`.execute(db());
  // a zone alone says nothing of the name server, which is away anyway
  await told('warn names.late');
  ok(await by(api, b.client).post('/client/setting/dns', { driver: 'knot' }));
  await by(api, b.client).make('/client/setting/dns/cname', {
    domainName: 'well.faults.test',
    nameServers: ['ns1.faults.test'],
  });
  await names.up();
  await answers('192.0.2.6');
  assert.ok(await poll(async () => (await found()).length === 0, 20_000, 100), String(await found()));
});
