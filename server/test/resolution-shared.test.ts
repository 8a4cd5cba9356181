/** One operator's lines cost the others nothing: neither the time in which a node that fails leaves their answers, nor memory. */
import assert from 'node:assert/strict';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { lineKeysMax, operatorLineRulesMax } from '#contract/limits.ts';
import { DnsProblem } from '#server/domain/dns/driver.ts';
import type { GeoIndex, GeoPlaces } from '#server/kit/services.ts';
import type { GroupAnswer, GroupsOf, NameZone } from '#server/resolution/driver.ts';
import { KnotControl } from '#server/resolution/knot-control.ts';
import { KnotDriver } from '#server/resolution/knot.ts';
import { Steering } from '#server/resolution/steer.ts';
import { poll } from '#server/store/engine-process.ts';
import { row } from '#server/store/db.ts';
import { testFolder } from '#system/engines.ts';
import { NameServer } from '#system/name-server.ts';
import { broken, by, ok } from './expect.ts';
import { cityOf, mmdb } from './geo-files.ts';
import { Api, type Tenant } from './harness.ts';

let names: NameServer;
let api: Api;
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
});

const zone = (id: number, operatorID: number): NameZone => ({
  id,
  operatorID,
  name: `z${id}.shared.test`,
  nameServers: [{ name: 'ns1.example.org', addresses: [] }],
});
const answer = (address: string) => ({ a: [address], aaaa: [], cname: null });
const group = (groupID: number, version: number, address: string, cidrs: string[] = []): GroupAnswer => ({
  groupID,
  version,
  fallback: answer(address),
  lines: cidrs.length ? [{ cidrs, answer: answer('192.0.2.77') }] : [],
});
/** No line has what another has. */
const networks = (n: number, line = 0) => Array.from({ length: n }, (_, i) => `${10 + line}.${i >> 8}.${i & 255}.0/24`);
const name = ({ name: of }: NameZone, groupID: number) => `g${groupID}.l.${of}`;
const sizeOf = ({ id }: NameZone) => statSync(join(names.service.lines, `${id}.geo`)).size;
const none = () => Promise.resolve(() => []);
const inside = '+subnet=10.0.0.1/32';

test('whoever left is not answered any more though lines cannot be read, and a zone is read without the others', async () => {
  const driver = new KnotDriver(names.service);
  const [mine, other] = [zone(101, 1), zone(102, 2)];
  await driver.prepare([mine, other], [mine, other], none);
  await driver.applyGroups(mine, [group(1, 1, '192.0.2.1')], [group(1, 1, '192.0.2.1')], []);
  // somebody else's file cannot be read: all together could not
  writeFileSync(join(names.service.lines, `${other.id}.geo`), 'no list\n  of: [');
  const now = [group(1, 2, '192.0.2.2', networks(3))];
  await driver.applyGroups(mine, now, now, []);
  assert.deepEqual(await names.dig(inside, name(mine, 1), 'A'), ['192.0.2.77']);
  assert.deepEqual(await names.dig(name(mine, 1), 'A'), ['192.0.2.2']);
  // nothing is read at all
  const blind = new KnotDriver({ ...names.service, socket: `${names.service.socket}.none` });
  const next = [group(1, 3, '192.0.2.3', networks(4))];
  await assert.rejects(blind.applyGroups(mine, next, next, []), /control/);
  assert.deepEqual(await names.dig(name(mine, 1), 'A'), ['192.0.2.3']);
});

test('what one operator wishes for is bounded, in all its zones together', async () => {
  const driver = new KnotDriver(names.service);
  const zones = [1, 2, 3, 4].map(n => zone(200 + n, 1));
  const other = zone(300, 2);
  const own = [...Array.from({ length: 3 }, (_, n) => group(n + 1, 1, '192.0.2.1', networks(30_000)))];
  const groupsOf: GroupsOf = of => (of === other ? [group(9, 1, '192.0.2.9', networks(20))] : own);
  await driver.prepare([...zones, other], [...zones, other], () => Promise.resolve(groupsOf));
  // a rule has some hundred bytes, with its version
  const all = zones.reduce((sum, one) => sum + sizeOf(one), 0);
  assert.ok(all < operatorLineRulesMax * 120, `${all}`);
  assert.match(driver.lacks(zones[0]!)!, /do not count/);
  assert.equal(driver.lacks(other), undefined);
  for (const one of [...zones, other]) {
    const groups = one === other ? [group(9, 1, '192.0.2.9', networks(20))] : own;
    await driver.applyGroups(one, groups, groups, []);
  }
  assert.deepEqual(await names.dig(inside, name(other, 9), 'A'), ['192.0.2.77']);
  // what has no room goes on with everybody's answer
  assert.deepEqual(await names.dig(inside, name(zones[0]!, 3), 'A'), ['192.0.2.1']);
  await driver.prepare([], [], none);
  assert.ok(!existsSync(join(names.service.lines, '201.geo')));
});

/** Calls of the driver that do not come to their end: `prepare`, `applyGroups ZONE`; `rest`: it wants no other list of zones. */
const held = new Map<string, Promise<void>>();
/** zones whose next change gets no answer */
const failing = new Set<string>();
/** Whoever steers, by the real name server. */
function steer(): Steering {
  const driver = new (class extends KnotDriver {
    override isResting() {
      return held.has('rest');
    }
    override async prepare(...args: Parameters<KnotDriver['prepare']>) {
      await held.get('prepare');
      return super.prepare(...args);
    }
    override async applyGroups(...args: Parameters<KnotDriver['applyGroups']>) {
      await held.get(`applyGroups ${args[0].name}`);
      if (failing.delete(args[0].name)) throw new DnsProblem('away', 'no answer in time');
      return super.applyGroups(...args);
    }
  })(names.service);
  return new Steering(api.database.url, api.services, { steadySeconds: 0.2, driver: () => driver });
}
let made = 0;
async function add({ client, zoneID, groupID }: Tenant, address: string): Promise<void> {
  const { id } = (await row<{ id: number }>(
    api.database.db,
    sql`insert into node ("clientID", "zoneID", name, type, status, addresses, "lastBeat", "publicKey")
      values (${client.id}, ${zoneID}, ${`m${++made}`}, 'edge', 'normal', ${[address]}, now(), ${`key m${made}`}) returning id`,
  ))!;
  ok(await by(api, client).post(`/client/group/${groupID}/line/1/nodes`, { ids: [id] }));
}
const has = (of: string, address: string, ms = 15_000) => poll(async () => (await names.dig(of, 'A')).includes(address), ms, 50);

test(
  'while zones are being made, and while one operator’s many zones take for ever, the others’ nodes come and go',
  { timeout: 240_000 },
  async () => {
    for (const one of [a, b]) {
      await sql`delete from "lineNode" where "groupID" = ${one.groupID}`.execute(api.database.db);
      ok(await by(api, one.client).post('/client/setting/dns', { driver: 'knot' }));
    }
    const cname = (of: Tenant, domainName: string) =>
      by(api, of.client).make('/client/setting/dns/cname', { domainName, nameServers: ['ns1.example.org'] });
    for (let n = 0; n < 24; n++) await cname(a, `a${n}.shared.example`);
    await cname(b, 'b.shared.example');
    const steering = steer();
    steering.start();
    const { promise, resolve } = Promise.withResolvers<void>();
    try {
      const of = `g${b.groupID}.l.b.shared.example`;
      await add(b, '192.0.2.1');
      assert.ok(await has(of, '192.0.2.1', 120_000), 'all zones are made');
      for (let n = 0; n < 24; n++) held.set(`applyGroups a${n}.shared.example`, promise);
      await add(a, '192.0.2.100');
      await add(b, '192.0.2.2');
      // three seconds for each, four at a time, would take longer
      assert.ok(await has(of, '192.0.2.2'), 'it waits for the other operator');
      held.set('prepare', promise);
      await cname(a, 'new.shared.example');
      for (const address of ['192.0.2.3', '192.0.2.4']) {
        await add(b, address);
        assert.ok(await has(of, address), `${address} does not come while a zone is made`);
      }
    } finally {
      held.clear();
      resolve();
      await steering.stop();
    }
  },
);

test('while the name server rests only what is new waits: a zone whose change failed, or that is lost, has its turn', async () => {
  const steering = steer();
  steering.start();
  const of = `g${b.groupID}.l.b.shared.example`;
  const start = async (zone: string) => String(await names.dig(zone, 'SOA')).includes('hostmaster');
  try {
    await add(b, '192.0.2.5');
    assert.ok(await has(of, '192.0.2.5', 60_000));
    held.set('rest', Promise.resolve());
    await by(api, a.client).make('/client/setting/dns/cname', {
      domainName: 'rests.shared.example',
      nameServers: ['ns1.example.org'],
    });
    failing.add('b.shared.example');
    await add(b, '192.0.2.6');
    assert.ok(await has(of, '192.0.2.6'), 'it waits for the rest');
    await new KnotControl(names.service.socket).do('-f', 'zone-purge', 'b.shared.example', 'l.b.shared.example');
    assert.ok(await poll(async () => !(await start('b.shared.example')), 10_000, 20));
    assert.ok(await has(of, '192.0.2.6', 30_000), 'what is lost is not there again');
    assert.ok(!(await start('rests.shared.example')));
    held.clear();
    assert.ok(await poll(() => start('rests.shared.example'), 30_000, 50), 'the new zone never comes');
  } finally {
    held.clear();
    await steering.stop();
  }
});

test('lines that wait while other data come are counted by those that they are written with', async () => {
  const folder = testFolder('shared-geo');
  const path = join(folder, 'places-1.mmdb');
  writeFileSync(path, mmdb({ '198.18.0.0/24': cityOf('AS', 'TW', 'TPE') }));
  const index: GeoIndex = {
    where: Array.from({ length: lineKeysMax + 1 }, (_, n) => ['AS', 'TW', String(n), '']),
    whose: [[64_500, '']],
    pairs: Array.from({ length: lineKeysMax + 1 }, (_, n) => [n, 0, '198.18.0.1']),
  };
  const now: { data?: GeoPlaces } = {};
  const driver = new KnotDriver(names.service, () => null, { places: () => Promise.resolve(now.data) });
  const one = zone(401, 1);
  await driver.prepare([one], [one], none);
  now.data = { name: 'places-1', path, of: () => undefined, index };
  const [come, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const preparing = driver.prepare([one], [one], () => {
    come.resolve();
    return go.promise.then(none);
  });
  await come.promise;
  const groups = [{ ...group(1, 1, '192.0.2.1'), lines: [{ cidrs: [], asns: [64_500], answer: answer('192.0.2.77') }] }];
  const applying = driver.applyGroups(one, groups, groups, []);
  assert.ok(await has(name(one, 1), '192.0.2.1'));
  go.resolve();
  await Promise.all([preparing, applying]);
  assert.deepEqual(driver.told(one), { data: 'places-1', placeless: [1], lineless: [] });
});

test('more lines than there may be are refused, and fewer than there were are not', async () => {
  const client = by(api, a.client);
  const { id } = (await row<{ id: number }>(
    api.database.db,
    sql`insert into "group" ("clientID", "zoneID", name) values (${a.client.id}, ${a.zoneID}, 'many') returning id`,
  ))!;
  const { n } = (await row<{ n: number }>(
    api.database.db,
    sql`select count(*)::int as n from cname where "clientID" = ${a.client.id} and "deletedAt" is null`,
  ))!;
  let lineCount = 0;
  const line = (name: string) => ({ name, cidrs: networks(Math.floor(operatorLineRulesMax / n / 5), lineCount++), asns: [] });
  const lines = Array.from({ length: 5 }, (_, i) => line(`l${i}`));
  ok(await client.patch('/client/group', { id, lines }));
  broken(await client.patch('/client/group', { id, lines: [...lines, line('more')] }), 'lines', 'lineRules');
  broken(
    await client.post('/client/setting/dns/cname', { domainName: 'more.shared.example', nameServers: ['ns1.example.org'] }),
    'domainName',
    'lineRules',
  );
  const { data } = await client.read('/client/setting/dns/cnames');
  broken(await client.put('/client/setting/dns/cname', { id: data[0].id, signed: true }), 'signed', 'lineRules');
  // each rule of a line counts once more with eight addresses: whoever stands on it, or comes, is reckoned with
  const node = async (n: number) =>
    (await row<{ id: number }>(
      api.database.db,
      sql`insert into node ("clientID", "zoneID", name, type, status, addresses, "publicKey") values (${a.client.id}, ${a.zoneID}, ${`rules ${n}`}, 'edge', 'normal',
        ${Array.from({ length: n }, (_, i) => `192.0.2.${n}${i}`)}, ${`key rules ${n}`}) returning id`,
    ))!.id;
  const [few, many] = [await node(7), await node(8)];
  const { data: groups } = await client.read(`/client/zone/${a.zoneID}/groups`);
  const own = groups.find((one: { id: number }) => one.id === id).lines.find((one: { name: string }) => one.name === 'l0');
  const at = `/client/group/${id}/line/${own.id}/nodes`;
  ok(await client.post(at, { ids: [few] }));
  broken(await client.post(at, { ids: [many] }), 'ids', 'lineRules');
  const withOwn = (nets: number, more: number[]) => ({
    id,
    lines: [{ ...line('l0'), lineID: own.id }, ...more.map((_, i) => line(`m${i}`))].map((one, i) => ({
      ...one,
      cidrs: networks([nets, ...more][i]!, i),
    })),
  });
  ok(await client.patch('/client/group', withOwn(10, [])));
  ok(await client.post(at, { ids: [many] }));
  const part = Math.floor(operatorLineRulesMax / n / 4);
  ok(await client.patch('/client/group', withOwn(part, [part, part])));
  broken(await client.patch('/client/group', withOwn(part, [part, part, 4])), 'lines', 'lineRules');
  await sql`delete from "lineNode" where "groupID" = ${id}`.execute(api.database.db);
  ok(await client.patch('/client/group', { id, lines }));
  // where they have none it is told, and not that the name server knows of no lines
  await sql`update cname set "linelessGroups" = array[${id}::bigint] where id = ${data[0].id}`.execute(api.database.db);
  const { zones } = await client.read(`/client/group/${id}/answer`);
  assert.equal(zones.find((one: { cnameID: number }) => one.cnameID === data[0].id).lines, 'noRoom');
  // what an earlier release let in may stay, and become less
  for (const old of ['old', 'older'])
    await sql`insert into line ("groupID", kind, name, cidrs) select ${id}, 'custom', ${old}, ${networks(1000)}`.execute(
      api.database.db,
    );
  const { cidrs } = line('old');
  const same = (name: string) => ({ name, cidrs: networks(cidrs.length), asns: [] });
  ok(await client.patch('/client/group', { id, lines: [...lines.slice(1), same('old'), same('older')] }));
  ok(await client.patch('/client/group', { id, lines: [] }));
});
