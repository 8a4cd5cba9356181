/** API tokens: programs act as their owner, within what a person gave them and what the owner is now. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { groups } from '#contract/index.ts';
import { type Area, mounted, permissionKeys, siteKeys } from '#contract/kit/call.ts';
import { row, rows } from '#server/store/db.ts';
import { pathOf } from './guards/world.ts';
import type { Person } from './harness.ts';
import { a, api, customer, is, self } from './signing.ts';

interface Made {
  id: number;
  token: string;
  refreshToken: string;
}
const make = (person: Person, body: object = {}) =>
  api.call('POST', `/${person.area}/apiToken`, {
    token: person.token,
    body: { name: 'deploy', permissionKeys: ['sites.view'], ...body },
  });
async function made(person: Person, body: object = {}): Promise<Made> {
  const reply = await make(person, body);
  assert.equal(reply.status, 200, reply.text);
  return reply.body;
}
const sites = (token: string, area: Area = 'user', headers: Record<string, string> = {}) =>
  api.call('GET', `/${area}/sites`, { token, headers });
const refresh = ({ token, refreshToken }: Omit<Made, 'id'>, area = 'user', headers: Record<string, string> = {}) =>
  api.call('PATCH', `/${area}`, { body: { accessToken: token, refreshToken }, headers });
const from = (ip: string) => ({ 'x-forwarded-for': ip });
let names = 0;
const subOf = (person: Person, keys: string[]) =>
  api.account(person.area, `sub-${++names}@test.test`, {
    rootID: person.id,
    ...(person.area === 'user' ? { parentClient: a.client.id } : {}),
    keys,
  });
const keysOf = async (of: Person, keys: string[]) => {
  await sql`update role set "permissionKeys" = ${keys} from account x where x.id = ${of.id} and role.id = x."roleID"`.execute(
    api.database.db,
  );
  await api.changed();
};

describe('making one', () => {
  test('is told once, with what renews it; the list has its last four characters and nothing more of it', async () => {
    const person = await customer();
    const { id, token, refreshToken } = await made(person, { name: 'CI', networks: ['203.0.113.0/24'] });
    const list = await api.call('GET', '/user/apiTokens', { token: person.token });
    assert.equal(list.body.total, 1);
    const [told] = list.body.data;
    assert.equal(told.id, id);
    assert.equal(told.ending, token.slice(-4));
    assert.deepEqual(told.networks, ['203.0.113.0/24']);
    assert.equal(told.accountName, person.email);
    for (const secret of [token, refreshToken]) assert.ok(!list.text.includes(secret.slice(8, 30)));
    // nor is it anywhere in the database
    const stored = await row<{ text: string }>(
      api.database.db,
      sql`select (select json_agg(t)::text from "apiToken" t) || (select json_agg(x)::text from audit x) as text`,
    );
    for (const secret of [token, refreshToken]) assert.ok(!stored!.text.includes(secret.slice(8, 30)));
  });

  test('never gives more than its maker holds now', async () => {
    const sub = await subOf(a.client, ['apiTokens.view', 'apiTokens.edit', 'sites.view']);
    const reply = await make(sub, { permissionKeys: ['sites.view', 'sites.edit'] });
    is(reply, 'parameter');
    assert.deepEqual(reply.body.errorData[0].path, 'permissionKeys');
    is(await make(sub, { permissionKeys: ['nobody.knows'] }), 'parameter');
    is(await make(sub, { permissionKeys: [] }), 'parameter');
    await made(sub, { permissionKeys: ['sites.view'] });
    await keysOf(sub, ['sites.view']);
    is(await make(sub), 'permissionDenied');
  });

  test('sites of others, keys beyond sites, an end that is over, networks that are none', async () => {
    is(await make(a.user, { siteIDs: [77_777_777] }), 'parameter', 404);
    const other = await api.tenant(`other${++names}`);
    is(await make(a.user, { siteIDs: [other.siteID] }), 'parameter', 404);
    const wide = await make(a.user, { siteIDs: [a.siteID], permissionKeys: ['sites.view', 'accounts.edit'] });
    assert.deepEqual(
      wide.body.errorData.map((one: { rule: string }) => one.rule),
      ['beyondSites'],
    );
    is(await make(a.user, { expiredAt: new Date(Date.now() - 1000).toISOString() }), 'parameter');
    is(await make(a.user, { networks: ['10.0.0.0/33'] }), 'parameter');
    is(await make(a.user, { accountID: 1 }), 'parameter');
  });

  test('not by a token, and not in the name of another', async () => {
    const { token } = await made(a.user, { permissionKeys: ['apiTokens.view', 'apiTokens.edit'] });
    is(
      await api.call('POST', '/user/apiToken', { token, body: { name: 'x', permissionKeys: ['apiTokens.view'] } }),
      'permissionDenied',
    );
    const proxy = await api.call('POST', '/client/proxy', { token: a.client.token, body: { id: a.user.id } });
    assert.equal(proxy.status, 200, proxy.text);
    is(await make({ ...a.user, token: proxy.body.accessToken }), 'permissionDenied');
  });
});

test('each call that asks for a person refuses a token of all keys; no other does for its being one', async () => {
  const wrong: string[] = [];
  let persons = 0;
  for (const area of ['user', 'client', 'admin'] as const) {
    const person =
      area === 'user' ? await customer() : area === 'client' ? a.client : await api.account('admin', 'vendor@test.test');
    const { token } = await made(person, { permissionKeys: permissionKeys(groups, area) });
    for (const call of mounted(groups)) {
      if (call.area !== area || (call.auth !== 'any' && call.auth !== 'session') || call.def.owner || call.def.as === 'sse')
        continue;
      // needs the analytics store, which this server has not
      if (call.path.endsWith('/resourceInfo')) continue;
      const ids = Object.fromEntries(call.params.map(name => [name, 77_777_777]));
      const reply = await api.call(call.method, pathOf(call, ids), { token, ...(call.method === 'GET' ? {} : { body: {} }) });
      const isRefused = reply.body?.code === 101018;
      if (call.auth === 'session') persons++;
      if (isRefused !== (call.auth === 'session'))
        wrong.push(`${call.method} ${call.path} ${reply.status} ${reply.text.slice(0, 90)}`);
    }
  }
  assert.deepEqual(wrong, []);
  assert.ok(persons >= 3 * 6, `only ${persons} calls ask for a person`);
});

test('leaves nothing that outlives it: no line that lets a node in, no other name of its owner', async () => {
  const { token } = await made(a.client, { permissionKeys: permissionKeys(groups, 'client') });
  const lines = async () => (await row<{ n: number }>(api.database.db, sql`select count(*) as n from "joinToken"`))!.n;
  const before = await lines();
  is(await api.call('POST', '/client/nodes/joinToken', { token, body: {} }), 'permissionDenied');
  assert.equal(await lines(), before);
  const name = async () => (await self(a.client.token, 'client')).body.name;
  const was = await name();
  is(await api.call('PUT', '/client/account/self', { token, body: { name: 'somebody else' } }), 'permissionDenied');
  assert.equal(await name(), was);
});

describe('what one may do', () => {
  test('its keys and no others, also of a root', async () => {
    const { token } = await made(a.client, { permissionKeys: ['sites.view'] });
    assert.equal((await sites(token, 'client')).status, 200);
    is(await api.call('GET', '/client/zones', { token }), 'permissionDenied');
    is(await api.call('GET', '/user/sites', { token }), 'permissionDenied');
    assert.deepEqual((await self(token, 'client')).body.selfPerms, ['sites.view']);
  });

  test('with accounts.edit a root’s token acts on nobody who holds more than it', async () => {
    const { token } = await made(a.client, { permissionKeys: ['accounts.view', 'accounts.edit'] });
    const sub = await subOf(a.client, ['zones.edit']);
    is(await api.call('PUT', '/client/account', { token, body: { id: sub.id, status: 'lock' } }), 'permissionDenied');
    const small = await subOf(a.client, ['accounts.view']);
    assert.equal((await api.call('PUT', '/client/account', { token, body: { id: small.id, name: 'new' } })).status, 200);
    const first = await api.call('POST', '/client/account', {
      token,
      body: { email: 'by-token@test.test', name: 'x', auth: 'user', password: 'long enough' },
    });
    assert.equal(first.body.errorData?.[0].rule, 'passwordNeedsPerson', first.text);
  });

  test('some sites alone: nothing of others, no new one, nothing beyond', async () => {
    const second = await api.call('POST', '/client/site', {
      token: a.client.token,
      body: { siteName: 'second', productID: a.productID, userID: a.user.id },
    });
    const [otherID] = second.body.ids;
    for (const person of [a.user, a.client]) {
      const { token } = await made(person, {
        permissionKeys: ['sites.view', 'siteSettings.view', 'statistics.view'],
        siteIDs: [a.siteID],
      });
      const list = await sites(token, person.area);
      assert.deepEqual(
        list.body.data.map((one: { id: number }) => one.id),
        [a.siteID],
        list.text,
      );
      assert.equal((await api.call('GET', `/${person.area}/site/${a.siteID}/setting/gzip`, { token })).status, 200);
      is(await api.call('GET', `/${person.area}/site/${otherID}/setting/gzip`, { token }), 'parameter', 404);
      is(
        await api.call('POST', `/${person.area}/statistics/info`, {
          token,
          body: { sites: [otherID], types: [2], startTime: '2026-01-01T00:00:00Z', endTime: '2026-01-01T01:00:00Z' },
        }),
        'parameter',
        404,
      );
    }
    const { token } = await made(a.client, { permissionKeys: ['sites.edit'], siteIDs: [a.siteID] });
    is(
      await api.call('POST', '/client/site', { token, body: { siteName: 'third', productID: a.productID, userID: a.user.id } }),
      'permissionDenied',
    );
    is(await api.call('PATCH', '/client/site', { token, body: { id: otherID, siteName: 'mine' } }), 'parameter', 404);
  });
});

test('what a token for some sites may hold reaches nothing but sites, by the word of whoever declared it', () => {
  for (const area of ['user', 'client'] as const) {
    const about = siteKeys(groups, area);
    const wider = [...mounted(groups)].filter(
      call =>
        call.area === area &&
        call.permission &&
        about.includes(call.permission) &&
        !call.params.includes('siteID') &&
        !call.group.ofSites,
    );
    assert.deepEqual(
      wider.map(call => `${call.method} ${call.path}`),
      [],
    );
    for (const key of ['accounts.edit', 'roles.edit', 'apiTokens.edit', 'zones.edit', 'nodes.edit'])
      assert.ok(!about.includes(key), key);
  }
});

describe('what it does not outlive', () => {
  test('its owner’s keys', async () => {
    const sub = await subOf(a.client, ['apiTokens.edit', 'sites.view', 'zones.view']);
    const { token } = await made(sub, { permissionKeys: ['sites.view', 'zones.view'] });
    assert.equal((await sites(token, 'client')).status, 200);
    await keysOf(sub, ['zones.view']);
    is(await sites(token, 'client'), 'permissionDenied');
    assert.equal((await api.call('GET', '/client/zones', { token })).status, 200);
  });

  test('its owner: paused, then gone; renewing it included', async () => {
    const person = await customer();
    const pair = await made(person);
    const set = (status: string) =>
      api.call('PUT', '/client/account', { token: a.client.token, body: { id: person.id, status } });
    assert.equal((await set('pause')).status, 200);
    is(await sites(pair.token), 'accountNotEnabled');
    is(await refresh(pair), 'accountNotEnabled');
    assert.equal((await set('normal')).status, 200);
    assert.equal((await sites(pair.token)).status, 200);
    assert.equal(
      (await api.call('DELETE', '/client/account', { token: a.client.token, body: { ids: [person.id] } })).status,
      200,
    );
    is(await sites(pair.token), 'invalidToken');
    is(await refresh(pair), 'refreshTokenFailed');
  });

  test('its networks', async () => {
    const person = await customer();
    const pair = await made(person, { networks: ['203.0.113.0/24', '2001:db8::7'] });
    assert.equal((await sites(pair.token, 'user', from('203.0.113.9'))).status, 200);
    assert.equal((await sites(pair.token, 'user', from('2001:db8::7'))).status, 200);
    is(await sites(pair.token, 'user', from('203.0.114.9')), 'permissionDenied');
    is(await refresh(pair, 'user', from('198.51.100.1')), 'refreshTokenFailed');
    assert.equal((await refresh(pair, 'user', from('203.0.113.9'))).status, 200);
  });

  test('its end; renewing it moves none', async () => {
    const person = await customer();
    const expiredAt = new Date(Date.now() + 3_600_000).toISOString();
    const pair = await made(person, { expiredAt });
    assert.equal((await sites(pair.token)).status, 200);
    const next = await refresh(pair);
    assert.equal(next.status, 200, next.text);
    const list = await api.call('GET', '/user/apiTokens', { token: person.token });
    assert.equal(list.body.data[0].expiredAt, expiredAt);
    await sql`update "apiToken" set "expiredAt" = now() - interval '1 second' where id = ${pair.id}`.execute(api.database.db);
    await api.changed();
    is(await sites(next.body.accessToken), 'tokenExpired');
    is(await refresh({ token: next.body.accessToken, refreshToken: next.body.refreshToken }), 'refreshTokenFailed');
  });

  test('its deletion, by whoever made it or by the root of the tree; by nobody beside', async () => {
    const sub = await subOf(a.client, ['apiTokens.view', 'apiTokens.edit', 'sites.view']);
    const beside = await subOf(a.client, ['apiTokens.view', 'apiTokens.edit', 'sites.view']);
    const one = await made(sub);
    const end = (by: Person, id: number) => api.call('DELETE', `/${by.area}/apiTokens`, { token: by.token, body: { ids: [id] } });
    assert.equal((await api.call('GET', '/client/apiTokens', { token: beside.token })).body.total, 0);
    is(await end(beside, one.id), 'parameter', 404);
    is(await end(a.user, one.id), 'parameter', 404);
    assert.equal((await sites(one.token, 'client')).status, 200);
    assert.equal((await end(a.client, one.id)).status, 200);
    is(await sites(one.token, 'client'), 'invalidToken');
    is(await refresh(one, 'client'), 'refreshTokenFailed');
  });
});

describe('renewing', () => {
  test('answers another pair; within ten seconds the same one; later the token ends', async () => {
    const person = await customer();
    const pair = await made(person);
    const [first, second] = [await refresh(pair), await refresh(pair)];
    assert.equal(first.status, 200, first.text);
    assert.deepEqual(second.body, first.body);
    assert.notEqual(first.body.accessToken, pair.token);
    // what is under way goes on
    assert.equal((await sites(pair.token)).status, 200);
    assert.equal((await sites(first.body.accessToken)).status, 200);
    await sql`update "apiToken" set "previousUntil" = now() - interval '1 second' where id = ${pair.id}`.execute(api.database.db);
    await api.changed();
    is(await sites(pair.token), 'invalidToken');
    is(await refresh(pair), 'refreshTokenFailed');
    is(await sites(first.body.accessToken), 'invalidToken');
  });

  test('not with another’s half, in another area, or with a guess; none of these ends anything', async () => {
    const person = await customer();
    const [one, two] = [await made(person), await made(person)];
    is(await refresh({ token: one.token, refreshToken: two.refreshToken }), 'refreshTokenFailed');
    is(await refresh(one, 'client'), 'refreshTokenFailed');
    is(await refresh({ ...one, refreshToken: `${one.refreshToken.slice(0, -1)}x` }), 'refreshTokenFailed');
    is(await refresh({ token: person.token, refreshToken: one.refreshToken }), 'refreshTokenFailed');
    assert.equal((await sites(one.token)).status, 200);
    assert.equal((await refresh(one)).status, 200);
  });

  test('guesses that are none of ours cost no look into the database', async () => {
    const { token } = await made(await customer());
    is(await sites(`${token.slice(0, -2)}zz`), 'invalidToken');
    is(await sites('bwt_1_x'), 'invalidToken');
  });
});

test('the audit names it: what it did, what it was refused, and that it was renewed', async () => {
  const person = await customer();
  const pair = await made(person, { name: 'robot', permissionKeys: ['roles.view', 'roles.edit'] });
  const done = await api.call('POST', '/user/role', { token: pair.token, body: { name: 'r', permissionKeys: ['roles.view'] } });
  assert.equal(done.status, 200, done.text);
  is(
    await api.call('POST', '/user/role', { token: pair.token, body: { name: 's', permissionKeys: ['sites.view'] } }),
    'parameter',
  );
  await refresh(pair);
  const lines = await rows<{ method: string; tokenID: number; tokenName: string; status: number; accountName: string }>(
    api.database.db,
    sql`select method, status, "tokenID", "tokenName", "accountName" from audit where "accountID" = ${person.id} and "tokenID" is not null order by id`,
  );
  const of = { tokenID: pair.id, tokenName: 'robot', accountName: person.email };
  assert.deepEqual(lines, [
    { method: 'POST', status: 200, ...of },
    { method: 'POST', status: 400, ...of },
    { method: 'PATCH', status: 200, ...of },
  ]);
});

test('that and from where it was used is told', async () => {
  const person = await customer();
  const { token } = await made(person);
  await sites(token, 'user', from('198.51.100.7'));
  const deadline = performance.now() + 20_000;
  for (;;) {
    const { data } = (await api.call('GET', '/user/apiTokens', { token: person.token })).body;
    if (data[0].lastUsedAt !== null) {
      assert.equal(data[0].lastIP, '198.51.100.7');
      break;
    }
    assert.ok(performance.now() < deadline, 'never told');
    await new Promise(done => setTimeout(done, 20));
  }
});

test('a hundred of one account at most, counted under its lock', async () => {
  const person = await customer();
  await sql`insert into "apiToken" ("accountID", "rootID", name, "permissionKeys")
    select ${person.id}, ${person.id}, 'n' || n, '{}' from generate_series(1, 99) n`.execute(api.database.db);
  const replies = await Promise.all([make(person), make(person), make(person)]);
  assert.equal(replies.filter(reply => reply.status === 200).length, 1);
  for (const reply of replies.filter(one => one.status !== 200)) assert.equal(reply.body.errorData[0].rule, 'tooManyApiTokens');
});
