/** Two people and one row: every change of one row heeds the version its maker saw. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { groups } from '#contract/index.ts';
import { calls as declare, mounted } from '#contract/kit/call.ts';
import { id, obj, opt, str } from '#contract/kit/schema.ts';
import { implementations, sharedParams } from '#server/calls.ts';
import { implement } from '#server/kit/implement.ts';
import { zoneTable } from '#server/node/tables.ts';
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
  const lax = declare(
    { base: '/client/lax', resource: 'zones' },
    {
      'PUT /zone': { body: obj({ id: id(), name: str(40) }) },
      'PATCH /zone': { body: obj({ id: id(), name: opt(str(40)), memo: opt(str(40)) }) },
    },
  );
  const handlers = implement(lax, {
    'PUT /zone': async ({ ctx, body }) => {
      await sql`update zone set name = ${body.name} where id = ${body.id}`.execute(ctx.db);
      return {};
    },
    'PATCH /zone': async ({ ctx, body: { memo, ...body } }) => {
      const before = await ctx.store(zoneTable).get(body.id);
      await ctx.expect('zone', before, { ...body, memo });
      await ctx.store(zoneTable).set(body.id, body);
      if (memo !== undefined) await sql`update zone set memo = ${memo} where id = ${body.id}`.execute(ctx.db);
      return {};
    },
  });
  const bad = await Api.start({}, { groups: [lax], implementations: [handlers] }, api.database.url);
  try {
    const token = (await bad.sessions.open(bad.database.db, world.people.client.id)).accessToken;
    const people = { ...world.people, client: { ...world.people.client, token } };
    const badRig = new Rig(bad, { groups: [lax], implementations: [handlers], params: sharedParams }, rig.gate);
    const { problems } = await staleProblems(badRig, [...mounted([lax])], { ...world, people });
    assert.equal(problems.length, 2, problems.join('\n'));
    assert.match(problems[0]!, /^PUT .* of a version nobody saw: 200/);
    assert.match(problems[1]!, /^PATCH .* memo changed alone, and who saw the version before it: 200/);
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

test('an operator does not learn which of the installation’s people it was; an admin learns all', async () => {
  const { client, admin } = world.people;
  const self = async () => (await api.call('GET', '/client/account/self', { token: client.token })).body;
  const { version } = await self();
  const put = (token: string, path: string, body: object, seen: number) =>
    api.call('PUT', path, { token, body, headers: { 'if-match': `"${seen}"` } });
  assert.equal((await put(admin.token, '/admin/account', { id: client.id, name: 'by-admin' }, version)).status, 200);
  const late = await put(client.token, '/client/account/self', { name: 'mine' }, version);
  assert.deepEqual([late.status, late.body.extra.by, late.body.extra.now], [409, null, { name: 'by-admin' }]);
  const upper = await put(admin.token, '/admin/account', { id: client.id, name: 'again' }, version);
  assert.equal(upper.body.extra.by, 'juliett-admin@test.test');
  // of its customers’ people it learns the names
  const site = await rig.at(world, 'site');
  const tags = (area: 'client' | 'user', body: object, seen: number) =>
    api.call(area === 'user' ? 'PUT' : 'PATCH', area === 'user' ? `/user/site/${site}/tags` : '/client/site', {
      token: world.people[area].token,
      body,
      headers: { 'if-match': `"${seen}"` },
    });
  const seen = (await api.call('GET', `/client/site/${site}`, { token: client.token })).body;
  assert.equal((await tags('user', { tags: ['of-the-customer'] }, seen.version)).status, 200);
  const told = await tags('client', { id: site, tags: ['of-the-operator'] }, seen.version);
  assert.deepEqual([told.status, told.body.extra?.by], [409, 'juliett-user@test.test']);
});

test('a customer does not learn which of another customer’s people it was, when a site has come from there', async () => {
  const site = await rig.fresh(world, 'site', 'client');
  const { token, id: mine } = world.people.user;
  const path = `/user/site/${site}/tags`;
  const put = (by: string, tag: string, version: number) =>
    api.call('PUT', path, { token: by, body: { tags: [tag] }, headers: { 'if-match': `"${version}"` } });
  const owner = (userID: number) => sql`update site set "userID" = ${userID} where id = ${site}`.execute(api.database.db);
  const stranger = await api.account('user', 'stranger@test.test', { parentClient: world.people.client.id });
  await owner(stranger.id);
  assert.equal((await put(stranger.token, 'of-the-stranger', 1)).status, 200);
  await owner(mine);
  const late = await put(token, 'mine', 1);
  assert.deepEqual([late.status, late.body.extra.by, late.body.extra.now], [409, null, { tags: ['of-the-stranger'] }]);
});

test('who locks an account is told of its state alone: who locked it follows from that, and nobody sent it', async () => {
  const { client } = world.people;
  const account = await api.account('user', 'to-be-locked@test.test', { parentClient: client.id });
  const lock = await api.call('PUT', '/client/account', {
    token: client.token,
    body: { id: account.id, status: 'lock' },
    headers: { 'if-match': '"999"' },
  });
  assert.deepEqual([lock.status, lock.body.errorData], [409, [{ path: 'status', rule: 'stale' }]]);
  assert.deepEqual(lock.body.extra.now, { status: 'normal' });
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

test('the same in another order of keys is the same: what is stored comes back ordered by the database', async () => {
  const site = await rig.at(world, 'site');
  const { token } = world.people.user;
  const path = `/user/site/${site}/module/proxyRewrite`;
  const rules = [{ target: '/new/', source: '/old/', matchType: 'prefix' }];
  const made = await api.call('POST', `${path}s`, {
    token,
    body: { items: [{ name: 'ordered', enabled: true, memo: '', rules }] },
  });
  assert.equal(made.status, 200, made.text);
  const put = (change: object, version: number) =>
    api.call('PUT', path, { token, body: { id: made.body.ids[0], ...change }, headers: { 'if-match': `"${version}"` } });
  assert.equal((await put({ memo: 'by the first' }, 1)).status, 200);
  const { data } = (await api.call('GET', `${path}s?keyword=ordered`, { token })).body;
  assert.notEqual(JSON.stringify(data[0].rules), JSON.stringify(rules), 'the database orders keys in its own way');
  const late = await put({ rules }, 1);
  assert.equal(late.status, 200, late.text);
  assert.equal((await put({ rules: [{ matchType: 'prefix', target: '/new/', source: '/old/' }] }, 1)).status, 200);
  assert.deepEqual((await put({ rules: [{ ...rules[0], target: '/newer/' }] }, 1)).body.errorData, [
    { path: 'rules', rule: 'stale' },
  ]);
});
