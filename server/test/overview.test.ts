/** What the vendor's first page tells: counted over all operators, and for the vendor alone. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { by } from './expect.ts';
import { Api } from './harness.ts';

let api: Api;
before(async () => {
  api = await Api.start();
});
after(async () => {
  await api.stop();
});

test('operators with what hangs on them, nodes by state and by version; what was deleted counts nowhere', async () => {
  const { db } = api.database;
  const admin = by(api, await api.account('admin', 'admin@test.test'));
  const empty = await admin.read('/admin/installation');
  assert.deepEqual([empty.operatorCount, empty.operators, empty.nodes, empty.versions], [0, [], [], []]);
  assert.match(empty.version, /^\d+\.\d+\.\d+$/);
  const [one, two] = [await api.tenant('one'), await api.tenant('two')];
  await sql`insert into site ("clientID", "userID", "productID", "siteName") values (${two.client.id}, ${two.user.id}, ${two.productID}, 'second')`.execute(
    db,
  );
  await sql`insert into domain ("siteID", "domainName", "deletedAt") values (${one.siteID}, 'a.one.test', null), (${one.siteID}, 'gone.one.test', now())`.execute(
    db,
  );
  const zone = sql`(select id from zone where "clientID" = ${one.client.id} limit 1)`;
  await sql`insert into node ("clientID", "zoneID", name, status, version, "deletedAt") values
    (${one.client.id}, ${zone}, 'a', 'normal', '0.2.0', null), (${one.client.id}, ${zone}, 'b', 'offline', '0.1.0', null),
    (${one.client.id}, null, 'c', 'normal', '', null), (${one.client.id}, ${zone}, 'd', 'normal', '0.1.0', null),
    (${one.client.id}, ${zone}, 'e', 'normal', '0.0.1', now())`.execute(db);
  const told = await admin.read('/admin/installation');
  assert.deepEqual(
    told.operators.map((all: Record<string, unknown>) => [
      all['id'],
      all['customers'],
      all['sites'],
      all['domains'],
      all['nodes'],
      all['normalNodes'],
    ]),
    [
      [two.client.id, 1, 2, 0, 0, 0],
      [one.client.id, 1, 1, 1, 4, 2],
    ],
  );
  assert.deepEqual([told.operatorCount, told.customers, told.sites, told.domains], [2, 2, 3, 1]);
  assert.deepEqual(told.nodes, [
    { status: 'normal', count: 2 },
    { status: 'offline', count: 1 },
    { status: 'uninitialized', count: 1 },
  ]);
  assert.deepEqual(told.versions, [
    { version: '0.1.0', nodes: 2 },
    { version: '0.2.0', nodes: 1 },
    { version: '', nodes: 1 },
  ]);
});
