/** What one operator has, or what is damaged on the disk, keeps nobody else's names from being changed. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { KnotDriver } from '#server/resolution/knot.ts';
import { Steering } from '#server/resolution/steer.ts';
import { poll } from '#server/store/engine-process.ts';
import { row } from '#server/store/db.ts';
import { NameServer } from '#system/name-server.ts';
import { broken, by, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let names: NameServer;
let steering: Steering;
interface Operator {
  tenant: Tenant;
  zone: string;
  cnameID: number;
  key: string;
  groupID: number;
  zoneID: number;
}
let a: Operator;
let b: Operator;

before(async () => {
  names = await NameServer.start();
  api = await Api.start({ knot: names.service });
  steering = steer();
  steering.start();
  const operator = async (name: 'a' | 'b'): Promise<Operator> => {
    const tenant = await api.tenant(name);
    const found = await row<{ key: string; groupID: number; zoneID: number }>(
      api.database.db,
      sql`select s."cnameKey" as key, g.id as "groupID", g."zoneID" from site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID" where s.id = ${tenant.siteID}`,
    );
    await sql`delete from "lineNode" where "groupID" = ${found!.groupID}`.execute(api.database.db);
    const client = by(api, tenant.client);
    ok(await client.post('/client/setting/dns', { driver: 'knot' }));
    const zone = `cdn-${name}.example.net`;
    const reply = await client.post('/client/setting/dns/cname', { domainName: zone, nameServers: ['ns1.example.org'] });
    ok(reply);
    return { tenant, zone, cnameID: reply.body.ids[0], ...found! };
  };
  a = await operator('a');
  b = await operator('b');
});
after(async () => {
  await steering?.stop();
  await api?.stop();
  await names?.stop();
});

/** A zone whose name server does not come to an end with it. */
let slow: { name: string; until: Promise<void> } | undefined;
/** Whoever steers, by the real name server. */
function steer(): Steering {
  const real = new KnotDriver(names.service);
  const driver = new Proxy(real, {
    get: (target, name) => {
      if (name === 'applyGroups')
        return async (...args: Parameters<KnotDriver['applyGroups']>) => {
          if (args[0].name === slow?.name) await slow.until;
          return target.applyGroups(...args);
        };
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  return new Steering(api.database.url, api.services, { steadySeconds: 0.2, driver: () => driver });
}
let made = 0;
/** A node more on a line of everybody, or of networks. */
async function add(one: Operator, address: string, line = 1): Promise<void> {
  const found = await row<{ id: number }>(
    api.database.db,
    sql`insert into node ("clientID", "zoneID", name, type, status, addresses, "lastBeat", "publicKey")
      select z."clientID", z.id, ${`n${++made}`}, 'edge', 'normal', ${[address]}, now(), ${`key ${made}`} from zone z where z.id = ${one.zoneID} returning id`,
  );
  ok(await by(api, one.tenant.client).post(`/client/group/${one.groupID}/line/${line}/nodes`, { ids: [found!.id] }));
}
async function answers(wanted: string[], ...args: string[]): Promise<void> {
  let last: string[] = [];
  const isSo = await poll(async () => String((last = await names.dig(...args))) === String(wanted), 40_000, 50);
  assert.ok(isSo, `${args.join(' ')} answers ${last.join(', ')} instead of ${wanted.join(', ')}`);
}
const group = (one: Operator) => `g${one.groupID}.l.${one.zone}`;
const lines = (one: Operator) => join(names.service.lines, `${one.cnameID}.geo`);
const inside = '+subnet=198.51.100.7/24';
const reload = () => execFileSync('knotc', ['-b', '-s', names.service.socket, 'reload']);

test('a zone that the name server does not take keeps no other from being changed, and says why', async () => {
  await add(a, '192.0.2.1');
  await add(b, '192.0.2.2');
  await answers(['192.0.2.1'], group(a), 'A');
  await answers(['192.0.2.2'], group(b), 'A');
  await answers([`${group(b)}.`], `${b.key}.${b.zone}`, 'CNAME');
  const client = by(api, b.tenant.client);
  const told = async () => (await client.read('/client/setting/dns/cnames')).data[0].error as string;
  let last = 10;
  for (const [set, why] of [
    // an address where a name leads on
    [sql`"nameServers" = ${[`${b.key}.${b.zone} 192.0.2.53`]}`, /control/],
    [sql`"nameServers" = '{ns1.example.org}', "domainName" = 'b"ad.example.net'`, /no name of a zone/],
    [sql`"domainName" = ${a.zone}`, /another zone/],
  ] as const) {
    await sql`alter table cname disable trigger user`.execute(api.database.db).catch(() => {});
    await sql`drop index if exists cname_name`.execute(api.database.db);
    await sql`update cname set ${set}, tries = 0, "nextAt" = now() where id = ${b.cnameID}`.execute(api.database.db);
    await sql`alter table cname enable trigger user`.execute(api.database.db).catch(() => {});
    let said = '';
    assert.ok(await poll(async () => why.test((said = await told())), 40_000, 50), `it says ${said}`);
    assert.ok(!said.includes('/'), said);
    await add(a, `192.0.2.${++last}`);
    const all = ['192.0.2.1', ...Array.from({ length: last - 10 }, (_, n) => `192.0.2.${11 + n}`)];
    await answers(all, group(a), 'A');
  }
  // what stands there twice is one
  await sql`update cname set "domainName" = ${b.zone}, "nameServers" = ${[`ns1.${b.zone} 192.0.2.53 192.0.2.53`, `ns1.${b.zone} 192.0.2.53`]}, tries = 0, "nextAt" = now() where id = ${b.cnameID}`.execute(
    api.database.db,
  );
  await answers(['192.0.2.53'], `ns1.${b.zone}`, 'A');
  assert.ok(await poll(async () => (await told()) === '', 40_000, 50));
});

test('a zone of too long a name for lines goes on without them, says so, and keeps nobody else from being changed', async () => {
  const client = by(api, b.tenant.client);
  const long = `${'x'.repeat(60)}.${'y'.repeat(60)}.example.net`;
  ok(await client.patch('/client/group', { id: b.groupID, lines: [{ name: 'office', cidrs: ['198.51.100.0/24'], asns: [] }] }));
  const { data } = await client.read(`/client/zone/${b.zoneID}/groups`);
  const lineID = data.find((one: { id: number }) => one.id === b.groupID).lines[0].id;
  await add(b, '192.0.2.40', lineID);
  await answers(['192.0.2.40'], inside, group(b), 'A');
  broken(
    await client.post('/client/setting/dns/cname', { domainName: long, nameServers: ['ns1.example.org'] }),
    'domainName',
    'tooLong',
  );
  // an earlier release took it
  const name = async (domainName: string) =>
    sql`update cname set "domainName" = ${domainName}, tries = 0, "nextAt" = now() where id = ${b.cnameID}`.execute(
      api.database.db,
    );
  await name(long);
  await answers(['192.0.2.2'], inside, `g${b.groupID}.l.${long}`, 'A');
  const told = async () => (await client.read('/client/setting/dns/cnames')).data[0].error as string;
  assert.ok(await poll(async () => /too long for lines/.test(await told()), 40_000, 50), await told());
  const { zones } = await client.read(`/client/group/${b.groupID}/answer?visitor=198.51.100.7`);
  assert.deepEqual([zones[0].lines, zones[0].answer.a], ['noRoom', ['192.0.2.2']]);
  await add(a, '192.0.2.19');
  assert.ok(await poll(async () => (await names.dig(group(a), 'A')).includes('192.0.2.19'), 40_000, 50));
  await name(b.zone);
  await answers(['192.0.2.40'], inside, group(b), 'A');
  ok(await client.patch('/client/group', { id: b.groupID, lines: [] }));
});

test('what everybody is told is no answer of a line; lines that were lost behind our back come back', async () => {
  const client = by(api, a.tenant.client);
  ok(await client.patch('/client/group', { id: a.groupID, lines: [{ name: 'office', cidrs: ['198.51.100.0/24'], asns: [] }] }));
  const { data } = await client.read(`/client/zone/${a.zoneID}/groups`);
  const lineID = data.find((one: { id: number }) => one.id === a.groupID).lines[0].id;
  await add(a, '192.0.2.20', lineID);
  await answers(['192.0.2.20'], inside, group(a), 'A');
  const driver = new KnotDriver(names.service);
  const zone = { id: a.cnameID, name: a.zone, nameServers: [] };
  const version = await driver.version(zone, a.groupID);
  assert.ok(version);
  assert.equal(await driver.version(zone, a.groupID, '198.51.100.0/24'), version);
  assert.equal(await driver.version(zone, a.groupID, '203.0.113.0/24'), undefined);
  await steering.stop();
  writeFileSync(lines(a), '');
  reload();
  assert.equal(await driver.version(zone, a.groupID, '198.51.100.0/24'), undefined);
  assert.equal(await driver.version(zone, a.groupID), version);
  steering = steer();
  steering.start();
  await answers(['192.0.2.20'], inside, group(a), 'A');
  // while one steers; also where the file is as it should be, and was never read
  const { readFileSync } = await import('node:fs');
  const whole = readFileSync(lines(a), 'utf8');
  writeFileSync(lines(a), '');
  reload();
  writeFileSync(lines(a), whole);
  ok(await client.post('/client/setting/dns/recovery', {}));
  await answers(['192.0.2.20'], inside, group(a), 'A');
});

test('a file of lines that cannot be read is written anew, while the name server runs and when it starts', async () => {
  const damaged = 'g1.l.example.net:\n  - net: "\n';
  writeFileSync(lines(b), damaged);
  await add(a, '192.0.2.30', 1);
  assert.ok(
    await poll(async () => (await names.dig(group(a), 'A')).includes('192.0.2.30'), 40_000, 50),
    'the change of a arrives',
  );
  await names.kill();
  writeFileSync(lines(b), damaged);
  await names.up();
  assert.ok(existsSync(`${lines(b)}.unread`));
  assert.ok(!existsSync(join(names.service.lines, 'zones.conf.unread')), 'the list of zones is whole');
  await answers(['192.0.2.20'], inside, group(a), 'A');
  await answers(['192.0.2.2'], group(b), 'A');
});

test('a zone that takes for ever keeps no other waiting, and goes on when it is through', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  slow = { name: a.zone, until: promise };
  await add(a, '192.0.2.201');
  // each comes while the other is still under way: none waits for it
  for (const address of ['192.0.2.202', '192.0.2.203', '192.0.2.204']) {
    await add(b, address);
    const isSo = await poll(async () => (await names.dig(group(b), 'A')).includes(address), 10_000, 50);
    assert.ok(isSo, `${address} does not come while another zone is slow`);
  }
  assert.ok(!(await names.dig(group(a), 'A')).includes('192.0.2.201'));
  slow = undefined;
  resolve();
  assert.ok(await poll(async () => (await names.dig(group(a), 'A')).includes('192.0.2.201'), 15_000, 50));
});
