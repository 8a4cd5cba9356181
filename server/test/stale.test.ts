/** Two people and one row: every change of one row heeds the version its maker saw. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { groups } from '#contract/index.ts';
import { calls as declare, mounted } from '#contract/kit/call.ts';
import { id, obj, str } from '#contract/kit/schema.ts';
import { implementations, sharedParams } from '#server/calls.ts';
import { implement } from '#server/kit/implement.ts';
import { staleProblems } from './guards/stale.ts';
import { nodeGate, Rig, type World } from './guards/world.ts';
import { Api } from './harness.ts';

let api: Api;
let rig: Rig;
let world: World;
before(async () => {
  const gate = await nodeGate(() => api);
  api = await Api.start({ nodes: gate });
  rig = new Rig(api, { groups, implementations, params: sharedParams }, gate);
  world = await rig.world('juliett');
});
after(() => api?.stop());

test('sample: a change that looks at no version', async () => {
  const lax = declare({ base: '/client/lax', resource: 'zones' }, { 'PUT /zone': { body: obj({ id: id(), name: str(40) }) } });
  const handlers = implement(lax, {
    'PUT /zone': async ({ ctx, body }) => {
      await sql`update zone set name = ${body.name} where id = ${body.id}`.execute(ctx.db);
      return {};
    },
  });
  const bad = await Api.start({}, { groups: [lax], implementations: [handlers] }, api.database.url);
  try {
    const token = (await bad.sessions.open(bad.database.db, world.people.client.id)).accessToken;
    const people = { ...world.people, client: { ...world.people.client, token } };
    const badRig = new Rig(bad, { groups: [lax], implementations: [handlers], params: sharedParams }, rig.gate);
    const { problems } = await staleProblems(badRig, [...mounted([lax])], { ...world, people });
    assert.match(problems.join('\n'), /of a version nobody saw: 200/);
  } finally {
    await bad.stop();
  }
});

test('every change of one row refuses a version that is not the row’s, names the fields, and changes nothing', async () => {
  const { problems, tried } = await staleProblems(rig, [...mounted(groups)], world);
  assert.deepEqual(problems, [], `${problems.length} problems\n${problems.join('\n')}`);
  assert.ok(tried >= 40, `only ${tried} calls`);
  assert.deepEqual(api.failures, []);
});

test('who is late learns what it holds now, who changed it and when; the same wish twice is no conflict', async () => {
  const { token } = world.people.client;
  const zone = await rig.fresh(world, 'zone', 'client');
  const seen = async () =>
    (await api.call('GET', '/client/zones?pageSize=500', { token })).body.data.find((one: { id: number }) => one.id === zone);
  const put = (body: object, version: number) =>
    api.call('PUT', '/client/zone', { token, body: { id: zone, ...body }, headers: { 'if-match': `"${version}"` } });
  const { version } = await seen();
  assert.equal(version, 1);
  assert.equal((await put({ memo: 'of the first' }, version)).status, 200);
  const late = await put({ memo: 'of the second', name: (await seen()).name }, version);
  assert.equal(late.status, 409);
  assert.deepEqual(late.body.errorData, [{ path: 'memo', rule: 'stale' }]);
  const { extra } = late.body;
  assert.deepEqual([extra.version, extra.now, extra.by], [2, { memo: 'of the first' }, 'juliett-client@test.test']);
  assert.ok(Math.abs(Date.parse(extra.at) - Date.now()) < 60_000);
  assert.equal((await put({ memo: 'of the first' }, version)).status, 200);
  assert.equal((await seen()).version, 2, 'nothing was written');
  assert.equal((await put({ memo: 'of the second' }, extra.version)).status, 200);
  assert.equal((await seen()).memo, 'of the second');
});

test('a customer does not learn which of the operator’s people it was', async () => {
  const site = await rig.at(world, 'site');
  const path = (area: string) => `/${area}/site/${site}/setting/cacheRule`;
  const rule = { type: 'prefix', value: '/a/', duration: 5, mode: 'followOrigin' };
  const made = await api.call('POST', path('user'), { token: world.people.user.token, body: { items: [rule] } });
  const put = (area: 'client' | 'user', duration: number, version: number) =>
    api.call('PUT', path(area), {
      token: world.people[area].token,
      body: { id: made.body.ids[0], duration },
      headers: { 'if-match': `"${version}"` },
    });
  assert.equal((await put('client', 7, 1)).status, 200);
  const late = await put('user', 9, 1);
  assert.deepEqual([late.status, late.body.extra.by, late.body.extra.now], [409, null, { duration: 7 }]);
});
