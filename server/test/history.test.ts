/** What became of a row: who, when, from what to what; and for whom that is told. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { groups } from '#contract/index.ts';
import { type Mounted, mounted } from '#contract/kit/call.ts';
import { hidden, hiddenOther } from '#contract/kit/hidden.ts';
import { implementations, sharedParams } from '#server/calls.ts';
import { listedBy } from '#server/kit/listed.ts';
import { unknownID } from './guards/checks.ts';
import { bare, defOf } from './guards/generate.ts';
import { rowOf } from './guards/lists.ts';
import { lists, nodeGate, Rig, type World } from './guards/world.ts';
import { Api, type Person } from './harness.ts';

let api: Api;
let rig: Rig;
let world: World;
let other: World;
before(async () => {
  const gate = await nodeGate(() => api);
  api = await Api.start({ nodes: gate });
  rig = new Rig(api, { groups, implementations, params: sharedParams }, gate);
  world = await rig.world('kilo');
  other = await rig.world('lima');
});
after(() => api?.stop());

const ask = (who: Person, resource: string, id?: number, more = '') =>
  api.call('GET', `/${who.area}/history?resource=${encodeURIComponent(resource)}${id === undefined ? '' : `&id=${id}`}${more}`, {
    token: who.token,
  });
const removed = (who: Person, resource: string, parentID?: number) =>
  api.call(
    'GET',
    `/${who.area}/history/removed?resource=${encodeURIComponent(resource)}${parentID ? `&parentID=${parentID}` : ''}`,
    { token: who.token },
  );
async function done(who: Person, method: string, path: string, body: unknown): Promise<number[]> {
  const reply = await api.call(method, `/${who.area}${path}`, { token: who.token, body });
  assert.equal(reply.status, 200, `${method} ${path}: ${reply.text} ${api.failures.join(' ')}`);
  return reply.body.ids;
}

/** How a history names the list of a call. */
const resourceOf = (call: Mounted) => call.path.slice(call.area!.length + 1);
const handlerOf = (call: Mounted) =>
  implementations.find(one => one.group === call.group)!.handlers[
    `${call.method} ${call.key.slice(call.method.length + 1 + call.group.base.length)}`
  ]!;
const reads = [...mounted(groups)].filter(call => call.method === 'GET' && call.area);
/** Rows that a person changes have a version. */
const ofRows = reads.filter(call => {
  const data = call.def.answer && defOf(bare(call.def.answer)).shape?.['data'];
  return data && 'version' in (rowOf(call) ?? {});
});

test('every list whose rows have versions has a history, and so has every setting', () => {
  const without: Record<string, string> = {
    'GET /{area}/site/{siteID}/setting/urlCaches': 'a purge is made, and never changed',
    'GET /user/announcements':
      'customers read what their operator changes; the version tells that one was changed since it was put away',
  };
  for (const call of ofRows) assert.ok(listedBy(handlerOf(call)) || call.key in without, `${call.key} has no history`);
  const settings = reads.filter(call => {
    const shape: object = (call.def.answer && defOf(bare(call.def.answer)).shape) ?? {};
    return 'from' in shape && 'version' in shape;
  });
  for (const call of settings) assert.ok(listedBy(handlerOf(call)), `${call.key} has no history`);
  assert.ok(ofRows.length >= 36 && settings.length >= 4, `${ofRows.length} lists, ${settings.length} settings`);
});

test('a stranger’s row is as unknown as one that nobody has, in every list', async () => {
  let compared = 0;
  for (const call of ofRows) {
    const kind = lists[call.key]?.kind;
    if (!kind || !listedBy(handlerOf(call)) || call.area === 'admin') continue;
    const make = lists[call.key]!.make ?? ((r, w, a) => r.fresh(w, kind, a));
    const who = world.people[call.area!];
    const of = async (w: World) => make(rig, w, call.area!, await rig.ids(call, w));
    const [own, foreign] = [await of(world), await of(other)];
    const [mine, theirs, nobodys] = [
      await ask(who, resourceOf(call), own),
      await ask(who, resourceOf(call), foreign),
      await ask(who, resourceOf(call), unknownID),
    ];
    assert.equal(mine.status, 200, `${call.path}: ${mine.text}`);
    assert.equal(nobodys.status, 404, `${call.path}: ${nobodys.text}`);
    assert.equal(theirs.text, nobodys.text, call.path);
    compared++;
  }
  assert.ok(compared >= 30, `only ${compared} lists`);
});

test('each change says who, when, which fields, from what to what; the newest first, page by page', async () => {
  const { client } = world.people;
  const [id] = (await done(client, 'POST', '/zone', { name: 'hist', memo: 'one' })) as [number];
  await done(client, 'PUT', '/zone', { id, memo: 'two' });
  await done(client, 'PUT', '/zone', { id, memo: 'two' });
  await done(client, 'PUT', '/zone', { id, name: 'hist-b', memo: 'three' });
  const { body } = await ask(client, '/zones', id);
  assert.equal(body.total, 3, 'what changed nothing is no entry');
  assert.deepEqual(
    body.data.map((one: { kind: string; fields: unknown }) => [one.kind, one.fields]),
    [
      [
        'changed',
        [
          { name: 'name', before: 'hist', after: 'hist-b' },
          { name: 'memo', before: 'two', after: 'three' },
        ],
      ],
      ['changed', [{ name: 'memo', before: 'one', after: 'two' }]],
      [
        'added',
        [
          { name: 'name', before: null, after: 'hist' },
          { name: 'memo', before: null, after: 'one' },
        ],
      ],
    ],
  );
  const [last] = body.data;
  assert.deepEqual([last.by, last.isProxy, last.proxy, last.isWhole], ['kilo-client@test.test', false, null, true]);
  assert.ok(Math.abs(Date.parse(last.at) - Date.now()) < 60_000);
  const second = await ask(client, '/zones', id, '&page=2&pageSize=1');
  assert.deepEqual([second.body.total, second.body.data.length, second.body.data[0].fields[0].after], [3, 1, 'two']);
  // once it is removed too
  await done(client, 'DELETE', '/zone', { ids: [id] });
  const gone = await ask(client, '/zones', id);
  assert.deepEqual([gone.body.data[0].kind, gone.body.total], ['removed', 4]);
  assert.equal(gone.body.data[0].fields.find((one: { name: string }) => one.name === 'name').before, 'hist-b');
  // what the list does not tell, the history does not tell either
  assert.ok(!gone.text.includes('clientID'), gone.text);
});

test('a customer does not learn which of the operator’s people it was, nor who acted in its name; the operator does', async () => {
  const { client, user } = world.people;
  const site = await rig.at(world, 'site');
  const path = `/site/${site}/setting/cacheRule`;
  const [id] = (await done(user, 'POST', path, {
    items: [{ type: 'prefix', value: '/h/', duration: 5, mode: 'followOrigin' }],
  })) as [number];
  await done(client, 'PUT', path, { id, duration: 7 });
  const opened = await api.call('POST', '/client/proxy', { token: client.token, body: { id: user.id } });
  await done({ ...user, token: opened.body.accessToken }, 'PUT', path, { id, duration: 9 });
  const told = async (who: Person) =>
    (await ask(who, '/site/{siteID}/setting/cacheRules', id)).body.data.map(
      (one: { by: string | null; isProxy: boolean; proxy: string | null }) => [one.by, one.isProxy, one.proxy],
    );
  assert.deepEqual(await told(user), [
    ['kilo-user@test.test', true, null],
    [null, false, null],
    ['kilo-user@test.test', false, null],
  ]);
  assert.deepEqual(await told(client), [
    ['kilo-user@test.test', true, 'kilo-client@test.test'],
    ['kilo-client@test.test', false, null],
    ['kilo-user@test.test', false, null],
  ]);
});

test('who may not read the list does not read its history; who may reads that of its own rows', async () => {
  const { user } = world.people;
  const site = await rig.at(world, 'site');
  const [id] = (await done(user, 'POST', `/site/${site}/firewall/setting/blacklists`, {
    items: [{ ips: ['192.0.2.7'], blockType: 'deny', enabled: true, memo: '' }],
  })) as [number];
  const sub = (name: string, keys: string[]) =>
    api.account('user', `${name}@test.test`, { rootID: user.id, parentClient: world.people.client.id, keys });
  const resource = '/site/{siteID}/firewall/setting/blacklists';
  const without = await sub('kilo-without', ['cache.view', 'modules.view']);
  const unassigned = await sub('kilo-unassigned', ['firewall.view']);
  const assigned = await sub('kilo-assigned', ['firewall.view']);
  await sql`insert into "siteUser" ("siteID", "userID") values (${site}, ${without.id}), (${site}, ${assigned.id})`.execute(
    api.database.db,
  );
  assert.equal((await ask(without, resource, id)).body.code, 101018);
  assert.equal((await removed(without, resource, site)).body.code, 101018);
  assert.equal((await ask(unassigned, resource, id)).status, 404);
  assert.equal((await removed(unassigned, resource, site)).status, 404);
  assert.deepEqual((await ask(assigned, resource, id)).body.total, 1);
  assert.equal((await removed(assigned, resource, site)).body.total, 0);
  // a list of another area, none at all, no id
  for (const [bad, field] of [
    ['/zones', 'resource'],
    ['/nowhere', 'resource'],
  ] as const) {
    const reply = await ask(user, bad, id);
    assert.deepEqual([reply.status, reply.body.errorData], [400, [{ path: field, rule: 'unknown' }]]);
  }
  assert.deepEqual((await ask(user, resource)).body.errorData, [{ path: 'id', rule: 'required' }]);
});

test('settings of a module are its fields; a header that lets somebody in is told to have changed, never what it holds', async () => {
  const { user } = world.people;
  const site = await rig.at(world, 'site');
  const header = (value: string) => [{ name: 'Authorization', value }];
  const [id] = (await done(user, 'POST', `/site/${site}/module/customHeaders`, {
    modules: [{ name: 'headers', request: header('Bearer first-secret'), response: [] }],
  })) as [number];
  await done(user, 'PUT', `/site/${site}/module/customHeader/${id}`, {
    request: header('Bearer second-secret'),
    memo: 'rotated',
  });
  const reply = await ask(user, '/site/{siteID}/module/customHeaders', id);
  assert.ok(!/first-secret|second-secret/.test(reply.text), reply.text);
  assert.deepEqual(reply.body.data[0].fields, [
    { name: 'memo', before: '', after: 'rotated' },
    { name: 'request', before: header(hidden), after: header(hiddenOther) },
  ]);
  const made = reply.body.data[1].fields.find((one: { name: string }) => one.name === 'request');
  assert.deepEqual(made.after, header(hidden));
});

test('modules of another type are none of a list’s, there or removed', async () => {
  const { user } = world.people;
  const site = await rig.at(world, 'site');
  const [id] = (await done(user, 'POST', `/site/${site}/module/cors`, {
    modules: [
      {
        name: 'other type',
        allowOrigin: 'https://a.test',
        allowMethods: ['GET'],
        allowHeaders: [],
        exposeHeaders: [],
        allowCredentials: false,
        maxAge: 60,
      },
    ],
  })) as [number];
  const headers = '/site/{siteID}/module/customHeaders';
  assert.equal((await ask(user, headers, id)).status, 404);
  await done(user, 'DELETE', `/site/${site}/module/cors`, { ids: [id] });
  const listed = async (resource: string) =>
    (await removed(user, resource, site)).body.data.map((one: { id: number }) => one.id) as number[];
  assert.ok((await listed('/site/{siteID}/module/cors')).includes(id));
  assert.ok(!(await listed(headers)).includes(id));
  assert.equal((await ask(user, headers, id)).status, 404);
});

test('a setting has the history of its owner', async () => {
  const { user } = world.people;
  const site = await rig.at(world, 'site');
  const now = await api.call('GET', `/user/site/${site}/setting/gzip`, { token: user.token });
  const { from: _from, version: _version, above: _above, ...value } = now.body;
  await done(user, 'PUT', `/site/${site}/setting/gzip`, { ...value, enabled: !value.enabled });
  const { body } = await ask(user, '/site/{siteID}/setting/gzip', site);
  assert.deepEqual(body.data[0].fields, [{ name: 'enabled', before: value.enabled, after: !value.enabled }]);
  assert.equal((await ask(user, '/site/{siteID}/setting/gzip', await rig.at(other, 'site'))).status, 404);
});

test('what is put back is whole: long values are kept as they were, or it is said that they were not', async () => {
  const { user } = world.people;
  const site = await rig.at(world, 'site');
  const path = `/site/${site}/firewall/setting/blacklists`;
  const many = (n: number) => Array.from({ length: n }, (_, i) => `2001:db8::${i.toString(16)}`);
  const resource = '/site/{siteID}/firewall/setting/blacklists';
  const [id] = (await done(user, 'POST', path, { items: [{ ips: many(900), blockType: 'deny', enabled: true, memo: '' }] })) as [
    number,
  ];
  await done(user, 'PUT', path, { id, ips: ['192.0.2.1'] });
  const kept = (await ask(user, resource, id)).body.data[0];
  assert.deepEqual([kept.isWhole, kept.fields[0].before], [true, many(900)]);
  await done(user, 'PUT', path, { id, ips: many(6000) });
  const cut = (await ask(user, resource, id)).body.data[0];
  assert.deepEqual([cut.kind, cut.isWhole, cut.fields], ['changed', false, []]);
});

test('removed rows are found with what they held, the newest first, and can be made again', async () => {
  const { user, client } = world.people;
  const site = await rig.at(world, 'site');
  const path = `/site/${site}/setting/userAgents`;
  const rule = { urlRegex: '/gone', userAgentRegex: 'bot', blockType: 'drop', enabled: false };
  const list = '/site/{siteID}/firewall/setting/userAgents';
  const at = path.replace('/setting/', '/firewall/setting/');
  const [id, second] = (await done(user, 'POST', at, { items: [rule, { ...rule, urlRegex: '/second' }] })) as [number, number];
  await done(user, 'DELETE', at, { ids: [id] });
  await done(client, 'DELETE', at, { ids: [second] });
  const { body, text } = await removed(user, list, site);
  assert.deepEqual([body.total, body.data.map((one: { id: number }) => one.id)], [2, [second, id]]);
  assert.deepEqual(
    body.data.map((one: { by: string | null }) => one.by),
    [null, 'kilo-user@test.test'],
  );
  assert.deepEqual(body.data[1].values, rule);
  assert.ok(!text.includes('siteID'), text);
  const [again] = (await done(user, 'POST', at, { items: [body.data[1].values] })) as [number];
  assert.notEqual(again, id);
  for (const foreign of [await rig.at(other, 'site'), unknownID]) {
    const reply = await removed(user, list, foreign);
    assert.deepEqual([reply.status, reply.body.errorData], [404, [{ path: 'parentID', rule: 'unknown' }]]);
  }
  assert.deepEqual(api.failures, []);
});
