/** Accounts that end at a time (§4; decisions.md, Who may do what): refused from that moment, shown, told of before, brought back by more time. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { theHouse } from '#server/kit/context.ts';
import { nodeTable, productTable } from '#server/node/tables.ts';
import { siteTable } from '#server/site/tables.ts';
import { row, rows } from '#server/store/db.ts';
import { AccountExpiry } from '#server/work/account-expiry.ts';
import { NoticeTeller } from '#server/work/notices.ts';
import { broken, by, is, ok } from './expect.ts';
import { Api, password, type Person, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let b: Tenant;
let admin: Person;
before(async () => {
  api = await Api.start();
  [a, b] = [await api.tenant('a'), await api.tenant('b')];
  admin = await api.account('admin', 'admin@test.test');
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
const stored = async (id: number) =>
  (await row<{ status: string; expired: string | null }>(
    api.database.db,
    sql`select status, expired from account where id = ${id}`,
  ))!;
/** Its time comes without anybody's call; what is remembered of it is a minute old at most, and here nothing. */
const overdue = async (id: number) => {
  await sql`update account set expired = now() - interval '1 second' where id = ${id}`.execute(api.database.db);
  await api.changed();
};
const signIn = ({ area, email }: Person) => api.call('POST', `/${area}/verify`, { body: { email, password } });
const look = async () => {
  const expiry = new AccountExpiry(api.services);
  await expiry.look();
  await expiry.stop();
};

test('from its time on it is refused with 101008, whether or not anybody looked; a look writes the state, once', async () => {
  const op = by(api, a.client);
  const person = await api.account('user', 'ends@test.test', { parentClient: a.client.id });
  const member = await api.account('user', 'below@test.test', {
    rootID: person.id,
    parentClient: a.client.id,
    keys: ['sites.view'],
  });
  const token = (await by(api, person).post('/user/apiToken', { name: 't', permissionKeys: ['sites.view'] })).body;
  ok(await op.put('/client/account', { id: person.id, expired: inSeconds(3600) }));
  ok(await by(api, person).get('/user/sites'));
  const opened = (await op.post('/client/proxy', { id: person.id })).body;
  await overdue(person.id);
  const refused = async () => {
    for (const one of [person, member]) {
      is(await by(api, one).get('/user/sites'), 'accountNotEnabled');
      is(await signIn(one), 'accountNotEnabled');
      const { accessToken, refreshToken } = one.tokens;
      is(await api.call('PATCH', '/user', { body: { accessToken, refreshToken } }), 'accountNotEnabled');
    }
    is(await api.call('GET', '/user/sites', { token: token.token }), 'accountNotEnabled');
    is(
      await api.call('PATCH', '/user', { body: { accessToken: token.token, refreshToken: token.refreshToken } }),
      'accountNotEnabled',
    );
  };
  await refused();
  assert.equal((await stored(person.id)).status, 'normal');
  await Promise.all([look(), look()]);
  await refused();
  assert.equal((await stored(person.id)).status, 'expired');
  // what others opened for it is refused like itself, and it may sign out
  is(await api.call('GET', '/user/sites', { token: opened.accessToken }), 'accountNotEnabled');
  const { accessToken, refreshToken } = member.tokens;
  ok(await api.call('DELETE', '/user', { body: { accessToken, refreshToken } }));
  const lines = await rows<{ accountName: string; clientID: number; userID: number }>(
    api.database.db,
    sql`select "accountName", "clientID", "userID" from audit where method = 'EXPIRE' and touched @> array[${`account:${person.id}`}]`,
  );
  assert.deepEqual(lines, [{ accountName: theHouse, clientID: a.client.id, userID: person.id }]);

  // shown and found
  const list = await op.read('/client/accounts?status=expired');
  assert.deepEqual(
    list.data.map((one: { id: number; status: string }) => [one.id, one.status]),
    [[person.id, 'expired']],
  );
  assert.ok(Date.parse(list.data[0].expired) < Date.now());
  // a state does not give it time; a later time does
  is(await op.put('/client/account', { id: person.id, status: 'normal' }), 'accountNotEnabled');
  ok(await op.put('/client/account', { id: person.id, name: 'renamed' }));
  assert.equal((await stored(person.id)).status, 'expired');
  ok(await op.put('/client/account', { id: person.id, expired: inSeconds(3600) }));
  assert.equal((await stored(person.id)).status, 'normal');
  ok(await by(api, person).get('/user/sites'));
  ok(await api.call('GET', '/user/sites', { token: token.token }));
  ok(await signIn(person));
});

test('a time that is past ends at once, null is never; paused or locked stays so until it is let go on', async () => {
  const op = by(api, b.client);
  const person = await api.account('user', 'paused@test.test', { parentClient: b.client.id });
  const put = (body: object) => op.put('/client/account', { id: person.id, ...body });
  ok(await put({ expired: inSeconds(-1) }));
  assert.equal((await stored(person.id)).status, 'expired');
  ok(await put({ expired: null }));
  assert.deepEqual(await stored(person.id), { status: 'normal', expired: null });
  ok(await put({ status: 'pause' }));
  await overdue(person.id);
  await look();
  assert.equal((await stored(person.id)).status, 'pause');
  ok(await put({ status: 'normal' }));
  assert.equal((await stored(person.id)).status, 'expired');
  ok(await put({ status: 'pause', expired: null }));
  assert.equal((await stored(person.id)).status, 'pause');
  broken(await put({ expired: 'tomorrow' }), 'expired');
  // made with a time
  const id = await op.make('/client/account', {
    email: 'trial@test.test',
    name: 't',
    auth: 'user',
    expired: inSeconds(86_400),
    password,
  });
  assert.equal((await stored(id)).status, 'normal');
  const past = await op.make('/client/account', {
    email: 'past@test.test',
    name: 't',
    auth: 'user',
    expired: inSeconds(-1),
    password,
  });
  assert.equal((await stored(past)).status, 'expired');
  is(await api.call('POST', '/user/verify', { body: { email: 'past@test.test', password } }), 'accountNotEnabled');
});

test('an operator’s end stops its people and its customers, never its sites; nobody gives oneself time', async () => {
  const above = by(api, admin);
  ok(await above.put('/admin/account', { id: b.client.id, expired: inSeconds(-1) }));
  is(await by(api, b.client).get('/client/sites'), 'accountNotEnabled');
  is(await by(api, b.user).get('/user/sites'), 'accountNotEnabled');
  is(await signIn(b.user), 'accountNotEnabled');
  const site = await row<{ status: string }>(api.database.db, sql`select status from site where id = ${b.siteID}`);
  assert.equal(site!.status, 'normal');
  ok(await above.put('/admin/account', { id: b.client.id, expired: null }));
  ok(await by(api, b.user).get('/user/sites'));
  for (const one of [a.client, a.user, admin])
    is(await by(api, one).put(`/${one.area}/account`, { id: one.id, expired: null }), 'permissionDenied');
  broken(await by(api, a.user).put('/user/account/self', { expired: null }), 'expired', 'unknownKey');
});

test('an end is told at 30, 7 and 1 days to whoever manages the account and to its own house, once each', async () => {
  const teller = new NoticeTeller(api.services, { node: nodeTable, site: siteTable, product: productTable });
  await sql`delete from "noticeEvent"`.execute(api.database.db);
  ok(await by(api, a.client).put('/client/account', { id: a.user.id, expired: inSeconds(5 * 86_400) }));
  await teller.scan();
  await teller.scan();
  const events = sql`select "rootID", name, detail from "noticeEvent" where kind = 'accountEnds' and name = ${a.user.email} order by "rootID"`;
  const told = await rows<{ rootID: number; name: string }>(api.database.db, events);
  assert.deepEqual(
    told.map(({ rootID, name }) => [rootID, name]),
    [a.client.id, a.user.id].sort((x, y) => x - y).map(id => [id, a.user.email]),
  );
  await teller.look();
  for (const one of [a.client, a.user]) {
    const { notices } = await by(api, one).read(`/${one.area}/notices`);
    assert.ok(notices[0].kind === 'accountEnds' && notices[0].sentence.includes(a.user.email), notices[0].sentence);
  }
  // more time is another end
  ok(await by(api, a.client).put('/client/account', { id: a.user.id, expired: inSeconds(6 * 86_400) }));
  await teller.scan();
  assert.equal((await rows(api.database.db, events)).length, 4);
  await teller.stop();
});

test('what is remembered of whoever acts is remembered no longer than their time', async () => {
  const op = by(api, a.client);
  const person = await api.account('user', 'remembered@test.test', { parentClient: a.client.id });
  const member = await api.account('user', 'remembered-below@test.test', {
    rootID: person.id,
    parentClient: a.client.id,
    keys: ['sites.view'],
  });
  const ends = performance.now() + 2000;
  ok(await op.put('/client/account', { id: person.id, expired: inSeconds(2) }));
  for (const one of [person, member]) ok(await by(api, one).get('/user/sites'));
  for (const one of [person, member])
    while ((await by(api, one).get('/user/sites')).status === 200) {
      // half of what is remembered otherwise
      assert.ok(performance.now() < ends + 15_000, 'nobody looks, and it goes on');
      await new Promise(setImmediate);
    }
});
