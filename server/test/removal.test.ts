/** Deleting several rows: what can go goes, the rest is told with its reason. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { by, is, mark, multiple } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let b: Tenant;
before(async () => {
  api = await Api.start();
  [a, b] = [await api.tenant('a'), await api.tenant('b')];
});
after(() => api?.stop());

const unknown = 77_777_777;

test('rows of a site: those that are there go, one that is gone or another’s is named', async () => {
  const path = (tenant: Tenant) => `/user/site/${tenant.siteID}/firewall/setting/blacklists`;
  const add = (tenant: Tenant) => by(api, tenant.user).make(path(tenant), { items: [{ ips: ['192.0.2.1'] }] });
  const me = by(api, a.user);
  const [first, second, stays, foreign] = [await add(a), await add(a), await add(a), await add(b)];
  const since = await mark(api);
  const some = await me.del(path(a), { ids: [first, unknown, second, foreign, first] });
  multiple(some, ['parameter', [String(unknown), String(foreign)]]);
  assert.match(some.body.errorData[0].message, /Does not exist/);
  const left = (await me.read(path(a))).data.map((row: { id: number }) => row.id);
  assert.deepEqual(left, [stays]);
  assert.equal((await by(api, b.user).read(path(b))).total, 1, 'another’s row stays');
  assert.ok((await since.outbox()).length > 0, 'nodes are told of what went');
  assert.equal((await since.audits()).length, 1);

  is(await me.del(path(a), { ids: [unknown] }), 'parameter', 404);
  is(await me.del(path(a), { ids: [unknown, foreign] }), 'parameter', 404);
  assert.equal((await me.read(path(a))).total, 1);
});

test('what something keeps is told beside what is gone; the rest goes', async () => {
  const me = by(api, a.client);
  const used = (await me.read('/client/zones')).data[0];
  const free = await me.make('/client/zone', { name: 'free-1' });
  const reply = await me.del('/client/zone', { ids: [used.id, unknown, free] });
  multiple(reply, ['groupActive', [used.name]], ['parameter', [String(unknown)]]);
  assert.deepEqual(
    (await me.read('/client/zones')).data.map((zone: { id: number }) => zone.id),
    [used.id],
  );
});

test('the operator’s frequencies: the zones are told although one was gone', async () => {
  const me = by(api, a.client);
  const item = { urlRegex: '^/a', type: 'ip', seconds: 10, times: 5 };
  const id = await me.make('/client/setting/frequency', { items: [item] });
  const since = await mark(api);
  multiple(await me.del('/client/setting/frequency', { ids: [id, unknown] }), ['parameter', [String(unknown)]]);
  assert.ok(
    (await since.outbox()).some(line => line.kind === 'zone'),
    'the zone’s document is made again',
  );
});
