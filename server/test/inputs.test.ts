/** What calls take and answer beyond their first use: names of any script, Host after the making, lines of a group, prices, caps of exports. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { broken, by, is, mark, ok } from './expect.ts';
import { a, api, b, me, op } from './operators.ts';

const named = '台北門市 №1 – Café';

describe('names', () => {
  test('of sites, roles, nodes and accounts are of any script; of zones, groups and products of letters, digits and hyphens', async () => {
    const siteID = await op.make('/client/site', { siteName: named, productID: a.productID, userID: a.user.id });
    assert.equal((await op.read(`/client/site/${siteID}`)).siteName, named);
    assert.deepEqual(
      (await me.read(`/user/metaSites?keyword=${encodeURIComponent('門市')}`)).map((one: { id: number }) => one.id),
      [siteID],
    );
    const role = await op.make('/client/role', { name: named, permissionKeys: [] });
    ok(await op.post('/client/nodes/joinToken', { name: named, zoneID: a.zoneID }));
    await op.make('/client/account', { email: 'branch@test.test', name: named, auth: 'client', role });
    for (const [path, more] of [
      ['zone', {}],
      ['group', { zoneID: a.zoneID }],
      ['product', { groupID: a.groupID }],
    ] as const)
      broken(await op.post(`/client/${path}`, { name: '台北', ...more }), 'name', 'nameFormat');
  });

  test('hold nothing that cannot be seen or turns the line around', async () => {
    for (const bad of ['a\u0000b', 'a\nb', 'a\u202eb', 'a\u2066b', 'a\u2028b', '\u200f'])
      broken(
        await op.post('/client/site', { siteName: bad, productID: a.productID, userID: a.user.id }),
        'siteName',
        'wrongFormat',
      );
    broken(await op.post('/client/site', { siteName: ' ', productID: a.productID, userID: a.user.id }), 'siteName', 'required');
  });
});

test('the Host an origin is asked for is changed on domains that are there, and published', async () => {
  const path = `/user/site/${a.siteID}`;
  const ids = [
    await me.make(`${path}/domains`, { domains: [{ domainName: 'one.test', upstreams: [{ address: '192.0.2.1' }] }] }),
    await me.make(`${path}/domains`, { domains: [{ domainName: 'two.test', upstreams: [{ address: '192.0.2.1' }] }] }),
  ];
  const since = await mark(api);
  ok(await me.patch(`${path}/domain/setting/originHost`, { domainIDs: ids, originHost: 'origin.example.com' }));
  assert.equal((await me.read(`${path}/domain/${ids[1]}`)).originHost, 'origin.example.com');
  assert.deepEqual(
    (await since.outbox()).map(one => [one.kind, one.entityID]),
    ids.map(id => ['domain', id]),
  );
  broken(await me.patch(`${path}/domain/setting/originHost`, { domainIDs: ids, originHost: 'a b' }), 'originHost');
});

test('a product has its way of selling and its price', async () => {
  const id = await op.make('/client/product', { groupID: a.groupID, name: 'priced', sellType: 'usage', trafficPrice: 0.0085 });
  const of = async () =>
    (await op.read('/client/products?keyword=priced')).data.map((one: { sellType: string; trafficPrice: number }) => [
      one.sellType,
      one.trafficPrice,
    ]);
  assert.deepEqual(await of(), [['usage', 0.0085]]);
  ok(await op.put('/client/product', { id, trafficPrice: 12 }));
  assert.deepEqual(await of(), [['usage', 12]]);
  broken(await op.put('/client/product', { id, trafficPrice: -1 }), 'trafficPrice');
});

test('a site whose time is over says so', async () => {
  const of = async () => (await me.read(`/user/site/${a.siteID}`)).isExpired;
  assert.equal(await of(), false);
  ok(await op.put('/client/site/expired', { ids: [a.siteID], expired: '2020-01-01T00:00:00Z' }));
  assert.equal(await of(), true);
  ok(await op.put('/client/site/expired', { ids: [a.siteID], expired: null }));
  assert.equal(await of(), false);
});

describe('log exports a day', () => {
  const of = async (id: number) =>
    (await op.read('/client/accounts?pageSize=500')).data.find((one: { id: number }) => one.id === id).maxLogExportTimes;

  test('are set by who stands above; a customer gives its own no more than it has', async () => {
    ok(await op.put('/client/account', { id: a.user.id, maxLogExportTimes: 3 }));
    assert.equal(await of(a.user.id), 3);
    assert.equal((await me.read('/user/account/self')).maxLogExportTimes, 3);
    const sub = await api.account('user', 'sub@test.test', {
      rootID: a.user.id,
      parentClient: a.client.id,
      parentID: a.user.id,
      keys: [],
    });
    broken(await me.put('/user/account', { id: sub.id, maxLogExportTimes: 4 }), 'maxLogExportTimes', 'tooBig');
    ok(await me.put('/user/account', { id: sub.id, maxLogExportTimes: 2 }));
    assert.equal(await of(sub.id), 2);
    is(await me.put('/user/account', { id: a.user.id, maxLogExportTimes: 100 }), 'permissionDenied');
  });
});

describe('lines of a group', () => {
  const lines = async () =>
    (await op.read(`/client/zone/${a.zoneID}/groups`)).data.find((one: { id: number }) => one.id === a.groupID).lines;

  test('are made, changed and taken away in one; nodes answer on them', async () => {
    ok(
      await op.patch('/client/group', {
        id: a.groupID,
        lines: [
          { name: '電信', cidrs: ['198.51.100.0/24', '2001:db8::/32'], asns: [64_500] },
          { name: 'office', cidrs: ['203.0.113.7'], asns: [] },
        ],
      }),
    );
    const [first, second] = await lines();
    assert.deepEqual([first.name, first.asns, second.cidrs, first.kind], ['電信', [64_500], ['203.0.113.7'], 'custom']);
    const node = await api.database.db.transaction().execute(async db => {
      const made = await sql<{ id: number }>`insert into node ("clientID", "zoneID", name, "publicKey")
        values (${a.client.id}, ${a.zoneID}, 'n', 'UX') returning id`.execute(db);
      return made.rows[0]!.id;
    });
    const at = `/client/group/${a.groupID}/line/${second.id}/nodes`;
    ok(await op.post(at, { ids: [node] }));
    assert.equal((await op.read(at)).total, 1);
    ok(
      await op.patch('/client/group', {
        id: a.groupID,
        lines: [{ lineID: first.id, name: 'carrier', cidrs: [], asns: [64_501] }],
      }),
    );
    assert.deepEqual(
      (await lines()).map((one: { id: number; name: string; asns: number[] }) => [one.id, one.name, one.asns]),
      [[first.id, 'carrier', [64_501]]],
    );
    broken(await op.get(at), 'l', 'unknown', 404);
    // without the field they stay
    ok(await op.patch('/client/group', { id: a.groupID, memo: 'x' }));
    assert.equal((await lines()).length, 1);
  });

  test('say whom they are for, and are nobody else’s', async () => {
    const wrong = (line: object) =>
      op.patch('/client/group', { id: a.groupID, lines: [{ name: 'x', cidrs: [], asns: [], ...line }] });
    broken(await wrong({}), 'lines.0.cidrs', 'required');
    broken(await wrong({ cidrs: ['198.51.100.0/99'] }), 'lines.0.cidrs.0', 'wrongFormat');
    broken(await wrong({ cidrs: ['192.0.2.0/24', '192.0.2.0/24'] }), 'lines.0.cidrs.1', 'duplicateIP');
    const [own] = await lines();
    const theirs = by(api, b.client);
    assert.ok(!(await theirs.read('/client/dns/lines?kind=custom')).data.some((one: { id: number }) => one.id === own.id));
    assert.ok((await op.read('/client/dns/lines?kind=custom')).data.some((one: { id: number }) => one.id === own.id));
    broken(await theirs.get(`/client/group/${b.groupID}/line/${own.id}/nodes`), 'l', 'unknown', 404);
    const other = await op.make('/client/group', { zoneID: a.zoneID, name: 'other' });
    broken(await op.get(`/client/group/${other}/line/${own.id}/nodes`), 'l', 'unknown', 404);
    broken(
      await op.patch('/client/group', { id: other, lines: [{ lineID: own.id, name: 'x', cidrs: [], asns: [1] }] }),
      'lines',
      'unknown',
      404,
    );
  });
});
