/** What a change means for rows beside the one it names, and for people beside the one who makes it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { rows } from '#server/store/db.ts';
import { broken, by, is, multiple, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let b: Tenant;
before(async () => {
  api = await Api.start();
  [a, b] = [await api.tenant('a'), await api.tenant('b')];
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});
const domainOf = (of: Tenant, domainName: string) =>
  by(api, of.user).make(`/user/site/${of.siteID}/domains`, {
    domains: [{ domainName, upstreams: [{ address: '192.0.2.1', port: 80 }] }],
  });

test('what somebody sees is its superior’s to say: nobody hides a site from those beside it', async () => {
  const keys = ['sites.view', 'sites.edit'];
  const sub = (name: string, parentID: number) =>
    api.account('user', `${name}@test.test`, { rootID: a.user.id, parentClient: a.client.id, parentID, keys });
  const mine = await sub('mine', a.user.id);
  const [beside, below] = [await sub('beside', a.user.id), await sub('below', mine.id)];
  for (const { id } of [mine, beside, below])
    await sql`insert into "siteUser" ("siteID", "userID") values (${a.siteID}, ${id})`.execute(api.database.db);
  const hide = (id: number) => by(api, mine).del('/user/site/users', { siteIDs: [a.siteID], userIDs: [id] });
  is(await hide(beside.id), 'permissionDenied');
  ok(await hide(below.id));
  const left = await rows<{ userID: number }>(api.database.db, sql`select "userID" from "siteUser" order by 1`);
  assert.deepEqual(
    left.map(({ userID }) => userID),
    [mine.id, beside.id].sort((x, y) => x - y),
  );
});

test('a module that goes is gone from its domains: their version rises', async () => {
  const [id, other] = [await domainOf(a, 'has.test'), await domainOf(a, 'has-not.test')];
  const path = `/user/site/${a.siteID}/module/urlRedirects`;
  const module = await by(api, a.user).make(path, { modules: [{ name: 'goes' }] });
  await sql`insert into "domainModule" ("domainID", type, "moduleID") values (${id}, 'urlRedirect', ${module})`.execute(
    api.database.db,
  );
  const versions = async () => {
    const { data } = await by(api, a.user).read(`/user/site/${a.siteID}/domains?pageSize=100`);
    return [id, other].map(wanted => data.find((one: { id: number }) => one.id === wanted).version as number);
  };
  const known = await versions();
  ok(await by(api, a.user).del(path, { ids: [module] }));
  assert.deepEqual(await versions(), [known[0]! + 1, known[1]!]);
});

test('an export is of all that was asked for, or of nothing', async () => {
  const [mine, theirs] = [await domainOf(a, 'mine.test'), await domainOf(b, 'theirs.test')];
  const path = `/user/site/${a.siteID}/domains/export`;
  broken(await by(api, a.user).post(path, { ids: [mine, theirs] }), 'ids', 'unknown', 404);
  const reply = await by(api, a.user).post(path, { ids: [mine, mine] });
  assert.equal(reply.status, 200);
  assert.ok(reply.text.includes('mine.test') && !reply.text.includes('theirs.test'), reply.text);
});

test('domains that go by their names go as those by their ids do: none there fails the call, of some the rest is told', async () => {
  const path = `/user/site/${a.siteID}/domainsByNames`;
  await domainOf(a, 'named.test');
  broken(await by(api, a.user).del(path, { names: ['none.test', 'theirs.test'] }), 'names', 'unknown', 404);
  multiple(await by(api, a.user).del(path, { names: ['Named.test', 'none.test'] }), ['parameter', ['none.test']]);
  broken(await by(api, a.user).del(path, { names: ['named.test'] }), 'names', 'unknown', 404);
});
