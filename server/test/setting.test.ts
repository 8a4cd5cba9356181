/** Settings with levels: whose value counts, what a change publishes, what the audit tells of it. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { sql } from 'kysely';
import { groups } from '#contract/index.ts';
import { int, str } from '#contract/kit/schema.ts';
import { gzip } from '#contract/site/gzip.ts';
import { settingOf, settingValue } from '#contract/kit/setting.ts';
import { implementations, sharedParams } from '#server/calls.ts';
import { implementSetting } from '#server/kit/setting.ts';
import { zoneTable } from '#server/node/tables.ts';
import { compile } from '#server/compile/compile.ts';
import { load } from '#server/compile/load.ts';
import { row, rows } from '#server/store/db.ts';
import { Api, type Tenant } from './harness.ts';

const depth = settingOf({
  name: 'depth',
  fields: { depth: int(1, 9), word: str(20) },
  defaults: { depth: 1, word: 'none' },
  levels: {
    system: { base: '/client/setting', path: '/depth', areas: ['client'], resource: 'zones', canReset: true },
    zone: { base: '/client/zone/{id}/setting', path: '/depth', areas: ['client'], resource: 'zones', canReset: true },
    site: { base: '/{area}/site/{siteID}/setting', path: '/depth', areas: ['user', 'client'], resource: 'sites', canReset: true },
  },
  edge: 'site',
});

let api: Api;
let alpha: Tenant;
let bravo: Tenant;
before(async () => {
  api = await Api.start(
    {},
    {
      groups: [...groups, depth.calls.system, depth.calls.zone, depth.calls.site],
      implementations: [
        ...implementations,
        implementSetting(depth, 'system'),
        implementSetting(depth, 'zone', zoneTable),
        implementSetting(depth, 'site'),
      ],
      params: sharedParams,
    },
  );
  alpha = await api.tenant('alpha');
  bravo = await api.tenant('bravo');
});
after(() => api?.stop());
beforeEach(() => sql`delete from "scopedSetting"`.execute(api.database.db));

const client = (method: string, path: string, body?: unknown) =>
  api.call(method, `/client/${path}`, { token: alpha.client.token, body });
const set = async (path: string, body: unknown) => {
  await sql`delete from outbox`.execute(api.database.db);
  const reply = await client(body === undefined ? 'DELETE' : 'PUT', path, body);
  assert.equal(reply.status, 200, reply.text);
  const found = await rows<{ kind: string; id: number }>(
    api.database.db,
    sql`select kind, "entityID" as id from outbox order by "entityID"`,
  );
  return found.map(one => `${one.kind} ${one.id}`);
};
const at = async (path: string) => (await client('GET', path)).body as Record<string, unknown>;
const site = () => `site/${alpha.siteID}/setting/depth`;
const zone = () => `zone/${alpha.zoneID}/setting/depth`;

test('the nearest level that has a value counts, and GET says which; DELETE gives it back to what is above', async () => {
  const none = { from: 'default', value: { depth: 1, word: 'none' } };
  assert.deepEqual(await at(site()), { depth: 1, word: 'none', from: 'default', version: 0, above: none });
  const system = { depth: 2, word: 'system' };
  await set('setting/depth', system);
  const ofSystem = { from: 'system', value: system };
  assert.deepEqual(await at(site()), { ...system, from: 'system', version: 0, above: ofSystem });
  const ofZone = { from: 'zone', value: { depth: 3, word: 'zone' } };
  await set(zone(), ofZone.value);
  await set(site(), { depth: 4, word: 'site' });
  await set(site(), { depth: 5, word: 'site' });
  assert.deepEqual(await at(site()), { depth: 5, word: 'site', from: 'site', version: 2, above: ofZone });
  assert.deepEqual(await at('setting/depth'), { ...system, from: 'system', version: 1, above: none });
  await set(site(), undefined);
  assert.deepEqual(await at(site()), { ...ofZone.value, from: 'zone', version: 3, above: ofZone });
  await set(zone(), undefined);
  assert.deepEqual(await at(site()), { ...system, from: 'system', version: 3, above: ofSystem });
  assert.deepEqual(await set(site(), undefined), [], 'given back already');
  const other = await api.call('GET', `/client/site/${bravo.siteID}/setting/depth`, { token: bravo.client.token });
  assert.equal(other.body.from, 'default', 'another operator has a system of its own');
});

test('a value that was given back and set anew has a version nobody saw before', async () => {
  const { token } = alpha.client;
  const put = (depth: number, version: number) =>
    api.call('PUT', `/client/${site()}`, { token, body: { depth, word: 'a' }, headers: { 'if-match': `"${version}"` } });
  assert.equal((await put(2, 0)).status, 200);
  const { version } = await at(site());
  await set(site(), undefined);
  assert.equal((await put(3, (await at(site()))['version'] as number)).status, 200);
  const late = await put(4, version as number);
  assert.deepEqual([late.status, late.body.extra?.now], [409, { depth: 3 }]);
});

test('a change is published for every site below that has no value of its own, and for no other', async () => {
  const made = await client('POST', 'site', { siteName: 'second', productID: alpha.productID, userID: alpha.user.id });
  const second = made.body.ids[0] as number;
  const both = [`site ${alpha.siteID}`, `site ${second}`];
  assert.deepEqual(await set('setting/depth', { depth: 2, word: 'a' }), both);
  assert.deepEqual(await set(`site/${second}/setting/depth`, { depth: 3, word: 'a' }), [`site ${second}`]);
  assert.deepEqual(await set('setting/depth', { depth: 4, word: 'a' }), [`site ${alpha.siteID}`]);
  assert.deepEqual(await set(zone(), { depth: 5, word: 'a' }), [`site ${alpha.siteID}`]);
  assert.deepEqual(await set('setting/depth', { depth: 6, word: 'a' }), [], 'the zone has a value, so nobody takes this one');
  assert.deepEqual(await set(`site/${second}/setting/depth`, undefined), [`site ${second}`]);
  assert.deepEqual(await set(zone(), undefined), both);
  assert.deepEqual(await set('setting/depth', { depth: 6, word: 'a' }), [], 'what says the same changes nothing');
  // a site's value that can no longer be read: the site takes this one
  await sql`insert into "scopedSetting" (name, "siteID", value) values ('depth', ${second}, '{"depth": 99}')
    on conflict ("siteID", name) where "siteID" is not null do update set value = excluded.value`.execute(api.database.db);
  assert.deepEqual(await set('setting/depth', { depth: 7, word: 'a' }), both);
});

test('the audit tells what is another now, and nothing of what stayed', async () => {
  await set(site(), { depth: 2, word: 'none' });
  const { changes } = (await row<{ changes: unknown }>(
    api.database.db,
    sql`select changes from audit where url like '%/setting/depth' order by id desc limit 1`,
  ))!;
  assert.deepEqual(changes, [{ table: 'depth.site', id: alpha.siteID, before: { depth: 1 }, after: { depth: 2 } }]);
});

test('gzip: what a site sets stands in its document; the default stood there before', async () => {
  const document = async () =>
    compile('site', (await load(api.database.pool, 'site', [alpha.siteID])).get(alpha.siteID)!).document.gzip;
  const { enabled, level } = (await document())!;
  assert.deepEqual({ enabled, level }, { enabled: true, level: 5 });
  const wanted = { enabled: false, types: ['text/css'], minLength: 200, level: 9 };
  const path = `site/${alpha.siteID}/setting/gzip`;
  assert.deepEqual(await set(path, wanted), [`site ${alpha.siteID}`]);
  assert.deepEqual(await document(), wanted);
  const now = await at(path);
  assert.deepEqual(now, { ...wanted, from: 'site', version: 1, above: { from: 'default', value: gzip.defaults } });
  const wrong = await client('PUT', path, { ...wanted, types: ['text'] });
  assert.deepEqual(wrong.body.errorData, [{ path: 'types.0', rule: 'wrongFormat', bounds: { why: 'mediaType' } }]);
});

test('a field that came later has its default; a value that fits no longer means nothing', () => {
  assert.deepEqual(settingValue(depth, { depth: 4 }), { depth: 4, word: 'none' });
  assert.deepEqual(settingValue(depth, { depth: 4, word: 'a', gone: 1 }), { depth: 4, word: 'a' });
  assert.equal(settingValue(depth, { depth: 99 }), undefined);
});

test('sample: a level nearer than the document that carries it is refused when declared', () => {
  assert.throws(() => settingOf({ ...depth, levels: { site: depth.levels.site }, edge: 'zone' }), /no zone can carry/);
});
