/** Lines by continent, country, region and ASN: rows, the one who steers, a real name server with data of a test's own, and dig(1). */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { GeoData } from '#server/resolution/geo/data.ts';
import { Steering } from '#server/resolution/steer.ts';
import { poll } from '#server/store/engine-process.ts';
import { row } from '#server/store/db.ts';
import { testFolder } from '#system/engines.ts';
import { NameServer } from '#system/name-server.ts';
import { broken, by, ok } from './expect.ts';
import { asnOf, cityOf, mmdb } from './geo-files.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let names: NameServer;
let a: Tenant;
let steering: Steering;
let geo: GeoData;
const zone = 'places.example.net';
let groupID: number;
let zoneID: number;
const lineIDs = new Map<string, number>();

/** Countries with regions, and ASNs that cross them. */
const where = mmdb({
  '198.51.100.0/25': cityOf('AS', 'TW', 'TPE', 'Taipei'),
  '198.51.100.128/25': cityOf('AS', 'TW', 'KHH', 'Kaohsiung'),
  '203.0.112.0/24': cityOf('EU', 'DE', 'BE', 'Berlin'),
  '203.0.113.0/24': cityOf('AS', 'JP'),
  '2001:db8:a::/48': cityOf('AS', 'TW'),
});
const whose = mmdb({
  '198.51.100.64/26': asnOf(64_500, 'Carrier'),
  '203.0.112.128/25': asnOf(64_500, 'Carrier'),
  '203.0.113.0/25': asnOf(64_501, 'Other'),
});
const address = {
  everybody: ['192.0.2.1', '2001:db8::1'],
  asia: ['192.0.2.10'],
  taiwan: ['192.0.2.20', '2001:db8::20'],
  taipei: ['192.0.2.30'],
  carrier: ['192.0.2.40'],
  office: ['192.0.2.50'],
} as const;

before(async () => {
  names = await NameServer.start();
  geo = new GeoData(testFolder('places-geo'), { hasPackages: false });
  api = await Api.start({ knot: names.service, geo });
  a = await api.tenant('a');
  ({ groupID, zoneID } = (await row<{ groupID: number; zoneID: number }>(
    api.database.db,
    sql`select g.id as "groupID", g."zoneID" from site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID" where s.id = ${a.siteID}`,
  ))!);
  await sql`delete from "lineNode" where "groupID" = ${groupID}`.execute(api.database.db);
  steering = new Steering(api.database.url, api.services, { steadySeconds: 0.2 });
  steering.start();
  ok(await client().post('/client/setting/dns', { driver: 'knot' }));
  ok(await client().post('/client/setting/dns/cname', { domainName: zone, nameServers: ['ns1.example.org'] }));
});
after(async () => {
  await steering?.stop();
  geo?.stop();
  await api?.stop();
  await names?.stop();
  assert.deepEqual(api.failures, []);
});

const client = () => by(api, a.client);
let made = 0;
async function assign(addresses: readonly string[], line: number): Promise<void> {
  const { id } = (await row<{ id: number }>(
    api.database.db,
    sql`insert into node ("clientID", "zoneID", name, type, status, addresses, "lastBeat", "publicKey")
      select z."clientID", z.id, ${`n${++made}`}, 'edge', 'normal', ${[...addresses]}::text[], now(), ${`key ${made}`} from zone z where z.id = ${zoneID} returning id`,
  ))!;
  ok(await client().post(`/client/group/${groupID}/line/${line}/nodes`, { ids: [id] }));
}
/** Until dig says so. */
async function answers(wanted: readonly string[], subnet: string, type = 'A', file = ''): Promise<void> {
  let last: string[] = [];
  const ask = () => names.dig(...(subnet ? [`+subnet=${subnet}`] : []), `g${groupID}.l.${zone}`, type);
  const isSo = await poll(async () => String((last = await ask())) === String(wanted), 20_000, 50);
  assert.ok(isSo, `${subnet} ${type} ${file} is answered ${last.join(', ')} instead of ${wanted.join(', ')}`);
}
const preview = async (visitor: string) => {
  const shown = await client().read(`/client/group/${groupID}/answer?visitor=${visitor}`);
  return [shown.lineName, shown.by, shown.of, shown.answer.a];
};
const set = async (lines: object[]) => {
  ok(await client().patch('/client/group', { id: groupID, lines }));
  const { data } = await client().read(`/client/zone/${zoneID}/groups`);
  for (const one of data.find((found: { id: number }) => found.id === groupID).lines) lineIDs.set(one.name, one.id);
};

test('a line says a place that there is, once, and one of network, ASN and place', async () => {
  const send = (line: object) =>
    client().patch('/client/group', { id: groupID, lines: [{ name: 'x', cidrs: [], asns: [], ...line }] });
  broken(await send({}), 'lines.0.cidrs', 'required');
  for (const bad of ['XX', 'tw', 'continent:XX', 'TW-', 'TW-TOOLONG', 'TW;1', 'Taiwan'])
    broken(await send({ places: ['DE', bad] }), 'lines.0.places.1', 'wrongFormat');
  broken(await send({ places: ['TW', 'TW'] }), 'lines.0.places.1', 'duplicateValue');
});

test(
  'without data nobody is on a line by place; with them everybody is on the most exact one',
  { timeout: 120_000 },
  async () => {
    await set([
      { name: 'asia', cidrs: [], asns: [], places: ['continent:AS'] },
      { name: 'taiwan', cidrs: [], asns: [], places: ['TW'] },
      { name: 'taipei', cidrs: [], asns: [], places: ['TW-TPE'] },
      { name: 'carrier', cidrs: [], asns: [64_500] },
      { name: 'office', cidrs: ['198.51.100.96/28'], asns: [] },
    ]);
    for (const [name, addresses] of Object.entries(address)) await assign(addresses, lineIDs.get(name) ?? 1);
    await answers(['192.0.2.50'], '198.51.100.97/32');
    await answers(['192.0.2.1'], '198.51.100.130/32');
    assert.deepEqual(await preview('198.51.100.130'), ['default', 'default', null, ['192.0.2.1']]);
    (await geo.take(where)).count();
    (await geo.take(whose)).count();
    for (const [visitor, line, why, of] of [
      ['198.51.100.97', 'office', 'network', '198.51.100.96/28'],
      ['198.51.100.65', 'carrier', 'asn', 'AS64500'],
      ['203.0.112.200', 'carrier', 'asn', 'AS64500'],
      ['198.51.100.1', 'taipei', 'region', 'TW-TPE'],
      ['198.51.100.130', 'taiwan', 'country', 'TW'],
      ['2001:db8:a::1', 'taiwan', 'country', 'TW'],
      ['203.0.113.1', 'asia', 'continent', 'continent:AS'],
      ['203.0.112.1', 'default', 'default', null],
      ['10.0.0.1', 'default', 'default', null],
    ] as const) {
      const [v4] = address[line === 'default' ? 'everybody' : line];
      await answers([v4], `${visitor}/${visitor.includes(':') ? 64 : 32}`, 'A', line);
      // it is written down once it stands there
      const wanted = [line, why, of, [v4]];
      assert.ok(await poll(async () => isDeepStrictEqual(await preview(visitor), wanted), 10_000, 50), String(wanted));
    }
    // of a family that a line has none of, everybody's
    await answers(['2001:db8::20'], '198.51.100.130/32', 'AAAA');
    for (const visitor of ['198.51.100.1/32', '198.51.100.65/32', '198.51.100.97/32', '203.0.113.1/32'])
      await answers(['2001:db8::1'], visitor, 'AAAA');
    // asked by nobody's network, as by who tells of none
    await answers(['192.0.2.1'], '');
  },
);

test('a preview says where a visitor is taken to be', async () => {
  const shown = await client().read(`/client/group/${groupID}/answer?visitor=198.51.100.65`);
  assert.deepEqual(shown.place, {
    continent: 'AS',
    country: 'TW',
    region: 'TPE',
    regionName: 'Taipei',
    asn: 64_500,
    organisation: 'Carrier',
  });
});

test('other data, and none, count within seconds', { timeout: 60_000 }, async () => {
  (await geo.take(mmdb({ '203.0.113.0/24': cityOf('AS', 'TW', 'TPE') }))).count();
  await answers(['192.0.2.30'], '203.0.113.200/32');
  await answers(['192.0.2.1'], '198.51.100.1/32');
  (await geo.take(where)).count();
  await answers(['192.0.2.10'], '203.0.113.200/32');
  assert.ok(
    await poll(async () => readdirSync(names.service.lines).filter(name => name.endsWith('.mmdb')).length === 1, 10_000, 50),
  );
});

test(
  'a name server that begins with a file of places that it cannot read has everything again',
  { timeout: 60_000 },
  async () => {
    const places = readdirSync(names.service.lines).find(name => name.endsWith('.places'))!;
    await names.kill();
    writeFileSync(join(names.service.lines, places), 'no list\n  of: [');
    await names.up();
    await answers(['192.0.2.20'], '198.51.100.130/32');
  },
);

test('one that begins with data that were cut has them, and its lines by place, again', { timeout: 60_000 }, async () => {
  const data = readdirSync(names.service.lines).find(name => name.endsWith('.mmdb'))!;
  await names.kill();
  truncateSync(join(names.service.lines, data), 100);
  await names.up();
  await answers(['192.0.2.20'], '198.51.100.130/32');
});

test(
  'one that begins with data that were damaged, and are as long as they were, has its lines by place again',
  { timeout: 60_000 },
  async () => {
    const data = join(
      names.service.lines,
      readdirSync(names.service.lines).find(name => name.endsWith('.mmdb'))!,
    );
    await names.kill();
    writeFileSync(data, Buffer.concat([readFileSync(data).subarray(0, -60), Buffer.alloc(60, 0xa5)]));
    await names.up();
    await answers(['192.0.2.20'], '198.51.100.130/32');
  },
);

test('a line made by the id of a country answers visitors of that country', { timeout: 60_000 }, async () => {
  const { data } = await client().read('/client/dns/lines?kind=country&keyword=germany');
  await assign(['192.0.2.60'], data[0].id);
  await answers(['192.0.2.60'], '203.0.112.1/32');
  // who is on a more exact one stays there
  await answers(['192.0.2.40'], '203.0.112.200/32');
  const { data: groups } = await client().read(`/client/zone/${zoneID}/groups`);
  const { lines } = groups.find((one: { id: number }) => one.id === groupID);
  await set(
    lines
      .filter((one: { places: string[] }) => !one.places.includes('DE'))
      .map(({ id, name, asns, places, cidrs }: Record<string, unknown>) => ({ lineID: id, name, asns, places, cidrs })),
  );
  await answers(['192.0.2.1'], '203.0.112.1/32');
});

test('an everybody’s name elsewhere is nobody’s on a line by place', { timeout: 60_000 }, async () => {
  await sql`delete from "lineNode" where "groupID" = ${groupID} and "lineID" = 1`.execute(api.database.db);
  const reply = await client().post('/client/virtualNode', { zoneID, name: 'elsewhere' });
  ok(reply);
  const [id] = reply.body.ids;
  ok(await client().post(`/client/virtualNode/${id}/record/cname`, { target: 'elsewhere.example.org' }));
  ok(await client().post(`/client/group/${groupID}/line/1/virtualNodes`, { ids: [id] }));
  await answers(['elsewhere.example.org.'], '203.0.112.1/32');
  await answers(['192.0.2.20'], '198.51.100.130/32');
  await answers(['192.0.2.30'], '198.51.100.1/32');
  // it has one family: the other would be answered by the name
  assert.deepEqual(await names.dig('+subnet=198.51.100.1/32', `g${groupID}.l.${zone}`, 'AAAA'), ['status: NOERROR']);
});

test('a network whose line does not count then keeps nothing from being written', { timeout: 60_000 }, async () => {
  const { data } = await client().read(`/client/zone/${zoneID}/groups`);
  const { lines } = data.find((found: { id: number }) => found.id === groupID);
  await set(
    lines
      .filter((one: { kind: string }) => one.kind === 'custom')
      .map(({ id, name, asns, places, cidrs }: Record<string, unknown>) => ({
        lineID: id,
        name,
        asns,
        places,
        // nowhere in the data
        cidrs: name === 'office' ? ['10.9.0.0/16'] : cidrs,
      })),
  );
  const shown = () => client().read(`/client/group/${groupID}/answer`);
  assert.ok(await poll(async () => (await shown()).zones[0].isApplied, 20_000, 50));
  assert.deepEqual((await client().read('/client/setting/dns/unprocessed')).errors, []);
});

test(
  'an ASN in more places than a name server is told of costs its group its lines by place alone, and it is said',
  { timeout: 90_000 },
  async () => {
    const networks = Array.from({ length: 20_100 }, (_, n) => [
      `100.${64 + (n >> 14)}.${(n >> 6) & 255}.${(n & 63) * 4}/30`,
      { country_code: 'TW', subdivisions: [{ iso_code: n.toString(36).toUpperCase() }], autonomous_system_number: 64_500 },
    ]);
    (await geo.take(mmdb(Object.fromEntries(networks)))).count();
    const errors = async () =>
      (await client().read('/client/setting/dns/unprocessed')).errors.map((one: { error: string }) => one.error);
    assert.ok(
      await poll(async () => /lines by ASN and place do not count/.test(String(await errors())), 30_000, 50),
      String(await errors()),
    );
    // it goes on: networks, and everybody
    await answers(['192.0.2.50'], '10.9.0.1/32');
    await answers(['elsewhere.example.org.'], '100.64.0.1/32');
    const beforehand = await client().read(`/client/group/${groupID}/answer?visitor=100.64.0.1`);
    assert.deepEqual(
      [beforehand.by, beforehand.answer.cname, beforehand.zones[0].lines, beforehand.zones[0].isApplied],
      ['default', 'elsewhere.example.org', 'networks', true],
    );
    const shown = () => client().read(`/client/group/${groupID}/answer`);
    await sql`update node set addresses = '{192.0.2.51}' where addresses = '{192.0.2.50}'`.execute(api.database.db);
    await answers(['192.0.2.51'], '10.9.0.1/32');
    assert.ok(await poll(async () => (await shown()).zones[0].isApplied, 20_000, 50));
    (await geo.take(where)).count();
    (await geo.take(whose)).count();
    assert.ok(await poll(async () => (await errors()).length === 0, 30_000, 50));
    await answers(['192.0.2.20'], '198.51.100.130/32');
  },
);

test('lines that are taken away leave everybody’s', { timeout: 60_000 }, async () => {
  await set([{ lineID: lineIDs.get('taiwan')!, name: 'taiwan', cidrs: [], asns: [], places: ['JP'] }]);
  await answers(['192.0.2.20'], '203.0.113.1/32');
  await answers(['elsewhere.example.org.'], '198.51.100.130/32');
  // places that are left out stay
  await set([{ lineID: lineIDs.get('taiwan')!, name: 'japan', cidrs: [], asns: [] }]);
  await answers(['192.0.2.20'], '203.0.113.1/32');
});

test('what a line by place answers is signed where the zone is', { timeout: 60_000 }, async () => {
  const { data } = await client().read('/client/setting/dns/cnames');
  ok(await client().put('/client/setting/dns/cname', { id: data[0].id, signed: true }));
  const ask = () => names.dig('+dnssec', '+subnet=203.0.113.1/32', `g${groupID}.l.${zone}`, 'A');
  let last: string[] = [];
  const isSigned = async () => (last = await ask()).includes('192.0.2.20') && last.some(one => one.startsWith('A 13 '));
  assert.ok(await poll(isSigned, 20_000, 100), last.join(', '));
});
