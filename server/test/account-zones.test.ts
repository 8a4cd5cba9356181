/** An operator's root assigns zones to its sub-accounts (decisions.md, Who may do what). */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { rows } from '#server/store/db.ts';
import { broken, by, is, mark, ok } from './expect.ts';
import { Api, type Person, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let b: Tenant;
let op: ReturnType<typeof by>;
before(async () => {
  api = await Api.start();
  [a, b] = [await api.tenant('a'), await api.tenant('b')];
  op = by(api, a.client);
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});
const keys = ['accounts.view', 'accounts.edit', 'zones.view', 'zones.edit', 'sites.view'];
const sub = (email: string, parent?: Person) =>
  api.account('client', email, { rootID: a.client.id, keys, ...(parent ? { grade: 2, parentID: parent.id } : {}) });
const seen = async (person: Person) =>
  (await by(api, person).read('/client/zones?page=1&pageSize=10')).data.map((zone: { id: number }) => zone.id);

test('a sub-account sees the zones that are assigned to it, and what stands in them', async () => {
  const [one, other] = [await sub('one@test.test'), await sub('other@test.test')];
  const second = await op.make('/client/zone', { name: 'second' });
  const path = `/client/${one.id}/zones`;
  assert.deepEqual(await op.read(path), []);
  assert.deepEqual(await seen(one), []);
  const look = await mark(api);
  ok(await op.put(path, { zoneIDs: [second, a.zoneID, second] }));
  const [line] = await look.audits();
  assert.deepEqual(
    line?.changes.map(({ table, id, before, after }) => ({ table, id, before, after })),
    [{ table: 'zoneAccount', id: one.id, before: { zoneIDs: [] }, after: { zoneIDs: [a.zoneID, second] } }],
  );
  assert.deepEqual(
    (await op.read(path)).map((zone: { name: string }) => zone.name),
    ['a-zone', 'second'],
  );
  assert.deepEqual((await seen(one)).sort(), [a.zoneID, second]);
  assert.deepEqual(await seen(other), []);
  assert.equal((await by(api, one).read('/client/sites?page=1&pageSize=10')).total, 1);
  ok(await op.put(path, { zoneIDs: [second] }));
  assert.deepEqual(await seen(one), [second]);
  assert.equal((await by(api, one).read('/client/sites?page=1&pageSize=10')).total, 0);
  is(await by(api, one).put('/client/zone', { id: a.zoneID, memo: 'mine' }), 'parameter', 404);
  ok(await op.put(path, { zoneIDs: [] }));
  assert.deepEqual(await seen(one), []);
});

test('by the root alone, of its own people and zones', async () => {
  const [head, below] = [await sub('head@test.test'), await sub('below@test.test', await sub('between@test.test'))];
  ok(await op.put(`/client/${head.id}/zones`, { zoneIDs: [a.zoneID] }));
  // also for whoever stands deeper in the tree
  ok(await op.put(`/client/${below.id}/zones`, { zoneIDs: [a.zoneID] }));
  const its = by(api, head);
  for (const one of [head, below]) {
    is(await its.get(`/client/${one.id}/zones`), 'permissionDenied');
    is(await its.put(`/client/${one.id}/zones`, { zoneIDs: [] }), 'permissionDenied');
  }
  broken(await op.put(`/client/${head.id}/zones`, { zoneIDs: [a.zoneID, b.zoneID] }), 'zoneIDs', undefined, 404);
  assert.deepEqual(await seen(head), [a.zoneID]);
  // a root sees all of it, a customer none, and another operator's people are unknown
  const stranger = await api.account('client', 'stranger@test.test', { rootID: b.client.id, keys });
  for (const id of [a.client.id, a.user.id, stranger.id, 999_999]) {
    is(await op.get(`/client/${id}/zones`), 'parameter', 404);
    is(await op.put(`/client/${id}/zones`, { zoneIDs: [] }), 'parameter', 404);
  }
});

test('whoever saw an older state of the account is told, and what was removed is not assigned', async () => {
  const late = await sub('late@test.test');
  const path = `/client/${late.id}/zones`;
  const gone = await op.make('/client/zone', { name: 'gone' });
  ok(await op.put(path, { zoneIDs: [gone] }));
  const put = (zoneIDs: number[], version: string) =>
    api.call('PUT', path, { token: a.client.token, body: { zoneIDs }, headers: { 'if-match': version } });
  const { headers } = ok(await put([gone], '"2"'));
  assert.equal(headers['etag'], '"2"');
  broken(await put([a.zoneID], '"1"'), 'zoneIDs', 'stale', 409);
  ok(await op.del('/client/zone', { ids: [gone] }));
  assert.deepEqual(await op.read(path), []);
  broken(await op.put(path, { zoneIDs: [gone] }), 'zoneIDs', undefined, 404);
  ok(await op.put(path, { zoneIDs: [a.zoneID] }));
  assert.equal(
    (await rows(api.database.db, sql`select 1 from "zoneAccount" where "accountID" = ${late.id} and "zoneID" = ${a.zoneID}`))
      .length,
    1,
  );
});
