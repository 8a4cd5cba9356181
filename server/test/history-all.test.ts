/** Nothing that was changed stands nowhere: rows beyond those a line names, what belongs to a row, and who really acted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { hidden, hiddenOther } from '#contract/kit/hidden.ts';
import { row, rows } from '#server/store/db.ts';
import { taskWorks } from '#server/tasks.ts';
import { broken, by, ok } from './expect.ts';
import type { Person } from './harness.ts';
import { a, api, b, copy, db, ended, sitesOf, tasksRig } from './tasks-rig.ts';

tasksRig(taskWorks);

interface Entry {
  kind: string;
  by: string | null;
  isProxy: boolean;
  proxy: string | null;
  isWhole: boolean;
  fields: unknown[];
}
const historyOf = async (who: Person, resource: string, id: number): Promise<Entry[]> =>
  (await by(api, who).read(`/${who.area}/history?resource=${encodeURIComponent(resource)}&id=${id}`)).data;
async function through(person: Person, opener: Person): Promise<Person> {
  const opened = await api.call('POST', `/${opener.area}/proxy`, { token: opener.token, body: { id: person.id } });
  assert.equal(opened.status, 200, opened.text);
  return { ...person, token: opened.body.accessToken };
}

test('each of more rows than a line names has its history, and whoever removed it is told', async () => {
  const [target] = (await sitesOf(a, 1)) as [number];
  const module = await by(api, a.user).make(`/user/site/${a.siteID}/module/urlRedirects`, { modules: [{ name: 'many' }] });
  for (const from of [0, 700]) {
    const items = Array.from({ length: 700 }, (_, n) => ({ source: `/old/${from + n}`, target: '/new' }));
    ok(await by(api, a.user).post(`/user/site/${a.siteID}/module/urlRedirect/${module}/redirects`, { items }));
  }
  await ended(a.user, await copy(a.user, a.siteID, { moduleID: module, siteIDs: [target] }), 'succeeded');
  const made = await rows<{ id: number; moduleID: number }>(
    db(),
    sql`select r.id, r."moduleID" from redirect r join module m on m.id = r."moduleID" where m."siteID" = ${target} order by r.id`,
  );
  assert.equal(made.length, 1400);
  const line = (await row<{ changes: { more?: number; under?: string }[]; touched: string[] }>(
    db(),
    sql`select changes, touched from audit where method = 'TASK' order by id desc limit 1`,
  ))!;
  // the module and 999 of its rows by name
  assert.deepEqual([line.changes.length, line.touched.length], [1001, 1001]);
  const { moduleID } = made[0]!;
  const [first, last] = [made[0]!.id, made.at(-1)!.id];
  assert.deepEqual(line.changes.at(-1), {
    table: 'redirect',
    id: 0,
    more: 401,
    cut: 'added',
    under: `module:${moduleID}/redirect`,
    from: made[999]!.id,
    to: last,
  });
  const list = '/site/{siteID}/module/urlRedirect/{moduleID}/redirects';
  const told = async (id: number) =>
    (await historyOf(a.user, list, id)).map(({ kind, by: who, isWhole }) => [kind, who, isWhole]);
  assert.deepEqual((await told(last))[0], ['added', a.user.email, false]);
  assert.equal((await told(first)).length, 1);
  // one that was added later lies beyond, and one of another module is another's
  const later = await by(api, a.user).make(`/user/site/${target}/module/urlRedirect/${moduleID}/redirects`, {
    items: [{ source: '/later', target: '/new' }],
  });
  assert.deepEqual(await told(later), [['added', a.user.email, true]]);
  assert.equal((await told(made[999]!.id)).length, 1);
  // removed by another than whoever made them
  const keys = ['modules.view', 'modules.edit', 'sites.view'];
  const sub = await api.account('user', 'remover@test.test', { rootID: a.user.id, parentClient: a.client.id, keys });
  await sql`insert into "siteUser" ("siteID", "userID") values (${target}, ${sub.id})`.execute(db());
  const path = `/user/site/${target}/module/urlRedirect/${moduleID}/redirects`;
  ok(await by(api, sub).del(path, { ids: [last] }));
  const gone = await by(api, a.user).read(`/user/history/removed?resource=${encodeURIComponent(list)}&parentID=${moduleID}`);
  assert.deepEqual(
    gone.data.map((one: { id: number; by: string }) => [one.id, one.by]),
    [[last, sub.email]],
  );
  assert.deepEqual(await told(last), [
    ['removed', sub.email, true],
    ['added', a.user.email, false],
  ]);
});

test('what belongs to a row is part of its history: origins of a domain, people of a site', async () => {
  const domain = await by(api, a.user).make(`/user/site/${a.siteID}/domains`, {
    domains: [{ domainName: 'parts.test', upstreams: [{ address: '192.0.2.1', port: 80 }] }],
  });
  const domains = async () =>
    (await historyOf(a.user, '/site/{siteID}/domains', domain)).map(({ kind, isWhole, fields }) => [
      kind,
      isWhole,
      fields.length > 0,
    ]);
  const known = (await domains()).length;
  ok(
    await by(api, a.user).post(`/user/site/${a.siteID}/domain/${domain}/upstreams`, {
      upstreams: [{ address: '192.0.2.2', port: 80 }],
    }),
  );
  assert.deepEqual([(await domains()).length, (await domains())[0]], [known + 1, ['changed', true, false]]);

  const sub = await api.account('user', 'shown@test.test', { rootID: a.user.id, parentClient: a.client.id, parentID: a.user.id });
  const version = async () => (await by(api, a.user).read(`/user/site/${a.siteID}`)).version as number;
  const before = await version();
  ok(await by(api, a.user).post('/user/site/users', { siteIDs: [a.siteID], userIDs: [sub.id] }));
  assert.equal(await version(), before + 1, 'to whom it is shown is told with it');
  const [last] = await historyOf(a.user, '/sites', a.siteID);
  assert.deepEqual([last!.kind, last!.by, last!.isWhole, last!.fields], ['changed', a.user.email, true, []]);
});

test('who really acted is told by account, whoever has the e-mail now', async () => {
  const boss = await api.account('admin', 'Secret.Boss@test.test');
  ok(await by(api, await through(a.client, boss)).patch('/client/site', { id: a.siteID, tags: ['x'] }));
  const of = async () => {
    const [{ by: who, isProxy, proxy }] = (await historyOf(a.client, '/sites', a.siteID)) as [Entry];
    return [who, isProxy, proxy];
  };
  assert.deepEqual(await of(), [a.client.email, true, null]);
  // somebody of the operator's by that name is not who it was
  await sql`update account set email = 'gone@test.test' where id = ${boss.id}`.execute(db());
  await api.account('client', 'secret.boss@test.test', { rootID: a.client.id, parentClient: a.client.id });
  assert.deepEqual(await of(), [a.client.email, true, null]);
  // its own root is
  ok(await by(api, await through(a.user, a.client)).put(`/user/site/${a.siteID}/tags`, { tags: ['y'] }));
  assert.deepEqual(await of(), [a.user.email, true, a.client.email]);
  // of another operator's it learns nothing
  assert.equal((await row<{ n: number }>(db(), sql`select count(*) as n from audit where "proxyID" = ${boss.id}`))!.n, 1);
  const reply = await by(api, b.client).get(`/client/history?resource=${encodeURIComponent('/sites')}&id=${a.siteID}`);
  assert.equal(reply.status, 404);
});

test('whoever may only look sees no header that lets somebody in, neither there nor removed; nobody puts the mark in its place', async () => {
  const path = `/user/site/${a.siteID}/module/customHeaders`;
  const list = '/site/{siteID}/module/customHeaders';
  const request = [
    { name: 'Authorization', value: 'Bearer XYZZY' },
    { name: 'X-Pass', value: 'XYZZY' },
    { name: 'X-JWT', value: 'XYZZY' },
    { name: 'X-Session', value: 'XYZZY' },
    { name: 'X-PIN', value: 'XYZZY' },
    { name: 'X-Bypass', value: 'open' },
  ];
  const of = async (name: string, keys: string[]) => {
    const sub = await api.account('user', `${name}@test.test`, { rootID: a.user.id, parentClient: a.client.id, keys });
    await sql`insert into "siteUser" ("siteID", "userID") values (${a.siteID}, ${sub.id})`.execute(db());
    return sub;
  };
  const [viewer, editor] = [
    await of('looks', ['modules.view', 'domains.view']),
    await of('writes', ['modules.view', 'modules.edit']),
  ];
  const ids = [await by(api, a.user).make(path, { modules: [{ name: 'there', request, response: [] }] })];
  ids.push(await by(api, a.user).make(path, { modules: [{ name: 'gone', request, response: [] }] }));
  ok(await by(api, a.user).del(path, { ids: [ids[1]] }));
  const seen = request.map(({ name, value }) => ({ name, value: value.includes('XYZZY') ? hidden : value }));
  for (const [who, told] of [
    [viewer, seen],
    [editor, request],
    [a.user, request],
  ] as const) {
    const live = (await by(api, who).read(path)).data.find((one: { id: number }) => one.id === ids[0]);
    const gone = await by(api, who).read(`/user/history/removed?resource=${encodeURIComponent(list)}&parentID=${a.siteID}`);
    assert.deepEqual(live.request, told, who.email);
    assert.deepEqual(gone.data.find((one: { id: number }) => one.id === ids[1]).values.request, told, who.email);
  }
  // so has a setting
  const domain = await by(api, a.user).make(`/user/site/${a.siteID}/domains`, {
    domains: [{ domainName: 'heads.test', upstreams: [{ address: '192.0.2.1', port: 80 }] }],
  });
  const setting = `/user/site/${a.siteID}/domain/${domain}/customHeaders`;
  ok(await by(api, a.user).put(setting, { request, response: [] }));
  assert.deepEqual((await by(api, viewer).read(setting)).request, seen);
  assert.deepEqual((await by(api, a.user).read(setting)).request, request);
  for (const mark of [hidden, hiddenOther]) {
    const sent = { request: [{ name: 'Authorization', value: mark }] };
    broken(await by(api, a.user).put(`/user/site/${a.siteID}/module/customHeader/${ids[0]}`, sent), 'request.0.value');
  }
});
