/** Lines of a group among each other: names, what two of them are for, and what no address is in. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { GeoData } from '#server/resolution/geo/data.ts';
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

test('lines to choose from say nothing of what the data have for nobody: that is not looked at for them', async () => {
  const all = await client().read('/client/dns/lines');
  assert.ok(all.length > 0);
  assert.ok(all.every((one: object) => !('unmatched' in one)));
});
