/** Lines of a group among each other: names, what two of them are for, and what no address is in. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { GeoData } from '#server/resolution/geo/data.ts';
import { row } from '#server/store/db.ts';
import { testFolder } from '#system/engines.ts';
import { broken, by, is, ok } from './expect.ts';
import { asnOf, cityOf, mmdb } from './geo-files.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let geo: GeoData;
let a: Tenant;
before(async () => {
  geo = new GeoData(testFolder('lines-geo'), { hasPackages: false });
  api = await Api.start({ geo });
  a = await api.tenant('a');
});
after(async () => {
  geo?.stop();
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const client = () => by(api, a.client);
const set = (...lines: object[]) => client().patch('/client/group', { id: a.groupID, lines });
const line = (name: string, more: object = {}) => ({ name, cidrs: [], asns: [], ...more });
interface Line {
  id: number;
  name: string;
  places: string[];
  unmatched: string[];
}
async function lines(): Promise<Line[]> {
  const { data } = await client().read(`/client/zone/${a.zoneID}/groups`);
  return data.find((one: { id: number }) => one.id === a.groupID).lines;
}

test('two lines swap their names in one change, three in a ring, and who else has a name keeps it', async () => {
  ok(await set(...['one', 'two', 'three'].map((name, i) => line(name, { asns: [i + 1] }))));
  const [one, two, three] = (await lines()) as [Line, Line, Line];
  ok(
    await set(
      line('TWO', { lineID: one.id, asns: [1] }),
      line('one', { lineID: two.id, asns: [2] }),
      line('three', { lineID: three.id, asns: [3] }),
    ),
  );
  assert.deepEqual(
    (await lines()).map(({ id, name }) => [id, name]),
    [
      [one.id, 'TWO'],
      [two.id, 'one'],
      [three.id, 'three'],
    ],
  );
  ok(
    await set(
      line('three', { lineID: one.id, asns: [1] }),
      line('TWO', { lineID: two.id, asns: [2] }),
      line('one', { lineID: three.id, asns: [3] }),
    ),
  );
  assert.deepEqual(
    (await lines()).map(({ name }) => name),
    ['three', 'TWO', 'one'],
  );
  // one that goes leaves its name to one that comes
  ok(await set(line('three', { lineID: one.id, asns: [1] }), line('one', { asns: [4] })));
  assert.deepEqual(
    (await lines()).map(({ name }) => name),
    ['three', 'one'],
  );
});

test('a name twice, everybody’s name, and what two lines are for are told where they stand', async () => {
  const before = await lines();
  broken(await set(line('a', { asns: [1] }), line(' A', { asns: [2] })), 'lines.1.name', 'duplicateValue');
  broken(await set(line('Default', { asns: [1] })), 'lines.0.name', 'nameForbidden');
  broken(
    await set(line('a', { cidrs: ['192.0.2.0/24'] }), line('b', { cidrs: ['203.0.113.1', '192.0.2.9/24'] })),
    'lines.1.cidrs.1',
  );
  broken(
    await set(line('a', { cidrs: ['192.0.2.0/24'] }), line('b', { cidrs: ['203.0.113.1', '192.0.2.0/24'] })),
    'lines.1.cidrs.1',
    'lineTwice',
  );
  broken(await set(line('a', { asns: [1] }), line('b', { asns: [2, 1] })), 'lines.1.asns.1', 'lineTwice');
  broken(await set(line('a', { places: ['TW'] }), line('b', { places: ['JP', 'TW'] })), 'lines.1.places.1', 'lineTwice');
  assert.deepEqual(await lines(), before);
  // a network in a larger one is another: the narrowest counts
  ok(await set(line('a', { cidrs: ['192.0.2.0/24'] }), line('b', { cidrs: ['192.0.2.0/28'] })));
  // who says no places keeps those it has, and they are taken
  ok(await set(line('a', { places: ['TW'] })));
  const [kept] = (await lines()) as [Line];
  broken(await set(line('b', { places: ['TW'] }), line('a', { lineID: kept.id })), 'lines.1.places.0', 'lineTwice');
});

test('places and ASNs that the data have for nobody are told, and no longer once they have', async () => {
  ok(await set(line('a', { asns: [64_500, 64_999], places: ['TW', 'TW-TPE', 'DE', 'continent:AS', 'continent:EU'] })));
  const told = async () => (await lines())[0]!.unmatched;
  // there are no data: that is told elsewhere, and says nothing of this line
  assert.deepEqual(await told(), []);
  (await geo.take(mmdb({ '203.0.113.0/24': cityOf('AS', 'TW') }))).count();
  assert.deepEqual(await told(), ['TW-TPE', 'DE', 'continent:EU', 'AS64500', 'AS64999']);
  (await geo.take(mmdb({ '203.0.113.0/24': asnOf(64_500, 'Carrier') }))).count();
  (await geo.take(mmdb({ '203.0.113.0/24': cityOf('AS', 'TW', 'TPE', 'Taipei') }))).count();
  assert.deepEqual(await told(), ['DE', 'continent:EU', 'AS64999']);
  is(await set(line('a', { places: ['XX'] })), 'parameter');
});

interface Offered {
  id: number;
  name: string;
  kind: string;
  groupID: number | null;
  asns: number[];
  places: string[];
  unmatched: string[];
}
const offered = (asked: string): Promise<{ data: Offered[]; total: number }> => client().read(`/client/dns/lines?${asked}`);
const only = async (asked: string): Promise<Offered> => {
  const { data } = await offered(asked);
  assert.equal(data.length, 1, `${asked} finds ${data.map(one => one.name).join()}`);
  return data[0]!;
};
const regions = mmdb({
  '198.51.100.0/24': cityOf('AS', 'TW', 'KHH', 'Kaohsiung'),
  '203.0.113.0/24': cityOf('AS', 'TW', 'TPE', 'Taipei'),
});
const carriers = mmdb({
  '198.51.100.0/24': asnOf(64_501, 'Other'),
  '203.0.113.0/25': asnOf(64_502, 'Carrier One'),
  '203.0.113.128/25': asnOf(64_500, 'Carrier One'),
});
async function newNode(): Promise<number> {
  const { id } = (await row<{ id: number }>(
    api.database.db,
    sql`insert into node ("clientID", "zoneID", name, type, status, addresses, "lastBeat", "publicKey")
      select z."clientID", z.id, gen_random_uuid()::text, 'edge', 'normal', '{192.0.2.1}', now(), gen_random_uuid()::text from zone z where z.id = ${a.zoneID} returning id`,
  ))!;
  return id;
}

test('continents, countries, regions of the data and their providers are offered, by pages, by kind and by word', async () => {
  (await geo.take(regions)).count();
  (await geo.take(carriers)).count();
  ok(await set(line('x', { asns: [1] })));
  const first = await offered('pageSize=3');
  assert.deepEqual(
    first.data.map(({ kind }) => kind),
    ['default', 'custom', 'continent'],
  );
  const all = await offered('pageSize=500');
  assert.equal(all.total, first.total);
  assert.equal(new Set(all.data.map(({ id }) => id)).size, all.total);
  // the next page goes on where the first ended
  assert.deepEqual((await offered('pageSize=3&page=2')).data, all.data.slice(3, 6));
  assert.ok(!all.data.some(({ kind }) => kind === 'isp'), 'nobody asked for one');
  assert.deepEqual(
    (await offered('kind=region')).data.map(({ name, places }) => [name, places]),
    [
      ['Taiwan Kaohsiung', ['TW-KHH']],
      ['Taiwan Taipei', ['TW-TPE']],
    ],
  );
  const { id: taiwan } = await only('kind=country&keyword=taiw');
  // its id is the same wherever, and the caller's language changes its name alone
  assert.equal(taiwan, 2_000_000_001_143);
  const reply = await api.call('GET', `/client/dns/lines?kind=country&keyword=${encodeURIComponent('台灣')}`, {
    token: a.client.token,
    headers: { 'accept-language': 'zh-TW' },
  });
  assert.deepEqual(
    reply.body.data.map(({ id, name }: Offered) => [id, name]),
    [[taiwan, '台灣']],
  );
  assert.deepEqual((await only('kind=country&keyword=Iceland')).unmatched, ['IS']);
  assert.deepEqual((await only('kind=continent&keyword=Asia')).places, ['continent:AS']);
  assert.equal((await offered('kind=isp')).total, 0);
  assert.equal((await offered('kind=isp&keyword=c')).total, 0);
  const carrier = await only('kind=isp&keyword=carrier');
  assert.deepEqual([carrier.name, carrier.asns, carrier.id], ['Carrier One', [64_500, 64_502], 4_000_000_064_500]);
  assert.equal((await only('kind=isp&keyword=AS64502')).id, carrier.id);
});

test('who is put on a place’s or a provider’s line makes it the group’s own, once, and it is found by both ids', async () => {
  ok(await set());
  const nodeID = await newNode();
  const at = (id: number) => `/client/group/${a.groupID}/line/${id}/nodes`;
  const country = await only('kind=country&keyword=taiwan');
  const carrier = await only('kind=isp&keyword=carrier');
  // to read, to change and to take away make none
  assert.equal((await client().read(at(country.id))).total, 0);
  broken(await client().patch(at(country.id), { ids: [nodeID], backup: true }), 'ids', 'unknown', 404);
  await client().del(at(country.id), { ids: [nodeID] });
  assert.deepEqual(await lines(), []);
  for (const one of [country, carrier]) {
    ok(await client().post(at(one.id), { ids: [nodeID] }));
    ok(await client().post(at(one.id), { ids: [nodeID] }));
  }
  const made = await lines();
  assert.deepEqual(
    made.map(({ name, places, unmatched }) => [name, places, unmatched]),
    [
      ['Taiwan', ['TW'], []],
      ['Carrier One', [], []],
    ],
  );
  for (const [i, one] of [country, carrier].entries()) {
    assert.deepEqual((await client().read(at(one.id))).data, (await client().read(at(made[i]!.id))).data);
    assert.equal((await client().read(at(one.id))).total, 1);
  }
  ok(await client().patch(at(country.id), { ids: [nodeID], backup: true }));
  assert.equal((await client().read(at(made[0]!.id))).data[0].backup, true);
  ok(await client().del(at(country.id), { ids: [nodeID] }));
  assert.equal((await client().read(at(made[0]!.id))).total, 0);
  // a virtual node likewise
  const vNode = await client().make('/client/virtualNode', { zoneID: a.zoneID, name: 'v' });
  const region = await only('kind=region&keyword=TW-KHH');
  ok(await client().post(`/client/group/${a.groupID}/line/${region.id}/virtualNodes`, { ids: [vNode] }));
  assert.equal((await client().read(`/client/group/${a.groupID}/line/${region.id}/virtualNodes`)).total, 1);
  assert.deepEqual((await lines()).at(-1)!.places, ['TW-KHH']);
});

test('such a line keeps to the bounds of all lines, and no id leads to what is nobody’s or another’s', async () => {
  ok(await set());
  const nodeID = await newNode();
  const put = (id: number, as = client(), groupID = a.groupID) =>
    as.post(`/client/group/${groupID}/line/${id}/nodes`, { ids: [nodeID] });
  const country = await only('kind=country&keyword=taiwan');
  const carrier = await only('kind=isp&keyword=carrier');
  // another line is for the place and for more: who would be answered by which is nobody's to guess
  ok(await set(line('both', { places: ['TW', 'JP'], asns: [64_502] })));
  broken(await put(country.id), 'l', 'lineTwice');
  broken(await put(carrier.id), 'l', 'lineTwice');
  // a name that is taken gets its code
  ok(await set(line('TAIWAN', { asns: [7] })));
  ok(await put(country.id));
  assert.deepEqual(
    (await lines()).map(({ name }) => name),
    ['TAIWAN', 'Taiwan (TW)'],
  );
  ok(await set(...Array.from({ length: 100 }, (_, i) => line(`l${i}`, { asns: [i + 1] }))));
  broken(await put(country.id), 'l', 'tooManyLines');
  assert.equal((await lines()).length, 100);
  ok(await set());
  // no place, no provider, a region that the data do not have, and another one's group
  for (const id of [2_000_000_000_001, 4_000_000_000_001, 5_000_000_000_000, 1_000_000_000_000, country.id + 1])
    broken(await put(id), 'l', 'unknown', 404);
  const b = await api.tenant('b');
  broken(await put(country.id, by(api, b.client)), 'g', 'unknown', 404);
  broken(await put(country.id, by(api, b.client), b.groupID), 'ids', 'unknown', 404);
  assert.deepEqual(await lines(), []);
});
