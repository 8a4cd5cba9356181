/** Signing in and staying signed in (decisions.md, Sessions), over HTTP on a real database. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { reasonText } from '#contract/states.ts';
import type { Reason } from '#contract/states-reasons.ts';
import { holdLogin } from '#server/account/session.ts';
import type { Tokens } from '#server/kit/session.ts';
import { row, rows, type Sql } from '#server/store/db.ts';
import { Api, password } from './harness.ts';
import { a, api, customer, is, self, signedIn, verify } from './signing.ts';

const refresh = (tokens: Pick<Tokens, 'accessToken' | 'refreshToken'>, area = 'user') =>
  api.call('PATCH', `/${area}`, { body: { accessToken: tokens.accessToken, refreshToken: tokens.refreshToken } });
const logout = (tokens: Pick<Tokens, 'accessToken' | 'refreshToken'>, area = 'user') =>
  api.call('DELETE', `/${area}`, { body: { accessToken: tokens.accessToken, refreshToken: tokens.refreshToken } });

describe('verify', () => {
  test('answers tokens that work; e-mails are told apart by no case', async () => {
    const person = await customer();
    const reply = await verify(person.email.toUpperCase());
    assert.equal(reply.body.tokenType, 'Bearer');
    const mine = await self(reply.body.accessToken);
    assert.equal(mine.body.email, person.email);
    assert.equal(mine.body.auth, 'user');
    assert.deepEqual(mine.body.selfPerms, mine.body.permissionKeys);
    assert.ok(mine.body.selfPerms.includes('sites.view'));
    assert.equal('password' in mine.body, false);
  });

  test('a stranger, a wrong password and another area read the same, and cost the same: a password is judged for each', async t => {
    const person = await customer();
    const judged = t.mock.method(api.sessions.hashing, 'check');
    const replies = [
      await verify('nobody@test.test'),
      await verify(person.email, 'wrong password'),
      await verify(person.email, password, 'client'),
    ];
    for (const reply of replies) is(reply, 'credentialFailed');
    assert.equal(new Set(replies.map(reply => reply.text)).size, 1);
    assert.equal(judged.mock.callCount(), replies.length);
  });

  test('whoever is kept out is told why once the password is right, and not before; of accounts above no more than that', async () => {
    const stranger = await verify('nobody@test.test', 'wrong password');
    const sub = await api.account('user', 'sub-of-stopped@test.test', { rootID: a.user.id, parentClient: a.client.id });
    const stopped = async ({ id, email }: { id: number; email: string }, set: Sql, why: Reason, whose = id) => {
      await sql`update account set ${set} where id = ${whose}`.execute(api.database.db);
      const reply = await verify(email);
      is(reply, 'accountNotEnabled');
      assert.deepEqual(reply.body.errorData, [{ path: '', rule: 'refused', bounds: { why } }]);
      assert.ok(reply.body.message.endsWith(`: ${reasonText(why, 'en_US')}`), reply.text);
      const wrong = await verify(email, 'wrong password');
      is(wrong, 'credentialFailed');
      assert.equal(wrong.text, stranger.text);
      await sql`update account set status = 'normal', expired = null where id = ${whose}`.execute(api.database.db);
    };
    await stopped(await customer(), sql`status = 'pause'`, 'accountPaused');
    await stopped(await customer(), sql`status = 'lock'`, 'accountLocked');
    await stopped(await customer(), sql`status = 'expired'`, 'accountExpired');
    await stopped(await customer(), sql`expired = now() - interval '1 second'`, 'accountExpired');
    await stopped(sub, sql`status = 'lock'`, 'accountAbove', a.user.id);
    await stopped(a.user, sql`status = 'pause'`, 'accountAbove', a.client.id);
  });

  test('an account whose root is paused or gone does not get in', async () => {
    const root = await customer();
    const sub = await api.account('user', `sub-${root.email}`, { rootID: root.id, parentClient: a.client.id });
    await sql`update account set status = 'lock' where id = ${root.id}`.execute(api.database.db);
    is(await verify(sub.email), 'accountNotEnabled');
    await sql`update account set status = 'normal', "deletedAt" = now() where id = ${root.id}`.execute(api.database.db);
    is(await verify(sub.email), 'credentialFailed');
  });
});

describe('refresh', () => {
  test('rotates: new tokens each time, and the access token works', async () => {
    const first = await signedIn(await customer());
    const second = (await refresh(first)).body as Tokens;
    const third = (await refresh(second)).body as Tokens;
    assert.equal(new Set([first, second, third].map(tokens => tokens.refreshToken)).size, 3);
    assert.equal((await self(third.accessToken)).status, 200);
  });

  test('within ten seconds several tabs get the same successor', async () => {
    const first = await signedIn(await customer());
    const replies = await Promise.all(Array.from({ length: 6 }, () => refresh(first)));
    assert.deepEqual(
      replies.map(reply => reply.status),
      Array(6).fill(200),
    );
    assert.equal(new Set(replies.map(reply => reply.body.refreshToken)).size, 1);
    for (const reply of replies) assert.equal((await self(reply.body.accessToken)).status, 200);
  });

  test('after that a second use ends the whole family', async () => {
    const person = await customer();
    const first = await signedIn(person);
    const other = await signedIn(person);
    const second = (await refresh(first)).body as Tokens;
    const grace = await row<{ seconds: number }>(
      api.database.db,
      sql`select extract(epoch from "previousUntil" - now())::float8 as seconds from session where id = ${first.refreshToken.split('.')[0]}`,
    );
    assert.ok(grace && grace.seconds > 0 && grace.seconds <= 10, String(grace?.seconds));
    await sql`update session set "previousUntil" = now() - interval '1 second' where id = ${first.refreshToken.split('.')[0]}`.execute(
      api.database.db,
    );
    is(await refresh(first), 'refreshTokenFailed');
    is(await refresh(second), 'refreshTokenFailed');
    for (const tokens of [first, second]) is(await self(tokens.accessToken), 'invalidToken');
    // a session beside it is another family
    assert.equal((await self(other.accessToken)).status, 200);
  });

  test('a token from several rotations ago ends it as well; a guess ends nothing', async () => {
    const first = await signedIn(await customer());
    const second = (await refresh(first)).body as Tokens;
    const third = (await refresh(second)).body as Tokens;
    const guess = `${third.refreshToken.split('.')[0]}.${'A'.repeat(44)}`;
    is(await refresh({ ...third, refreshToken: guess }), 'refreshTokenFailed');
    assert.equal((await self(third.accessToken)).status, 200);
    is(await refresh(first), 'refreshTokenFailed');
    is(await self(third.accessToken), 'invalidToken');
    is(await refresh(third), 'refreshTokenFailed');
  });

  test('needs an access token of the same session and area, however old', async () => {
    const person = await customer();
    const [one, two] = [await signedIn(person), await signedIn(person)];
    is(await refresh({ accessToken: two.accessToken, refreshToken: one.refreshToken }), 'refreshTokenFailed');
    is(await refresh({ accessToken: 'x', refreshToken: one.refreshToken }), 'refreshTokenFailed');
    is(await refresh({ accessToken: one.accessToken, refreshToken: 'x' }), 'refreshTokenFailed');
    is(await refresh(one, 'client'), 'refreshTokenFailed');
    await sql`update session set "expiredAt" = now() - interval '1 second' where id = ${two.refreshToken.split('.')[0]}`.execute(
      api.database.db,
    );
    is(await refresh(two), 'refreshTokenFailed');
    assert.equal((await refresh(one)).status, 200);
  });
});

describe('logout', () => {
  test('ends the session at once, and only that one', async () => {
    const person = await customer();
    const [one, two] = [await signedIn(person), await signedIn(person)];
    assert.equal((await self(one.accessToken)).status, 200);
    assert.equal((await logout(one)).status, 200);
    is(await self(one.accessToken), 'invalidToken');
    is(await refresh(one), 'refreshTokenFailed');
    assert.equal((await self(two.accessToken)).status, 200);
  });
  test('with credentials that do not belong together: 101015, and nothing ends', async () => {
    const person = await customer();
    const [one, two] = [await signedIn(person), await signedIn(person)];
    is(await logout({ accessToken: one.accessToken, refreshToken: two.refreshToken }), 'revokeTokenFailed');
    is(await logout({ accessToken: 'x', refreshToken: two.refreshToken }), 'revokeTokenFailed');
    is(await logout(one, 'client'), 'revokeTokenFailed');
    for (const tokens of [one, two]) assert.equal((await self(tokens.accessToken)).status, 200);
  });
  test('a paused account may sign out', async () => {
    const person = await customer();
    const tokens = await signedIn(person);
    assert.equal(
      (await api.call('PUT', '/client/account', { token: a.client.token, body: { id: person.id, status: 'pause' } })).status,
      200,
    );
    is(await self(tokens.accessToken), 'accountNotEnabled');
    is(await refresh(tokens), 'accountNotEnabled');
    assert.equal((await logout(tokens)).status, 200);
    is(await self(tokens.accessToken), 'invalidToken');
  });
});

describe('what changes an account holds from the next call on', () => {
  test('pause and resume', async () => {
    const person = await customer();
    const set = (status: string) =>
      api.call('PUT', '/client/account', { token: a.client.token, body: { id: person.id, status } });
    for (let i = 0; i < 5; i++) {
      await set('pause');
      is(await self(person.token), 'accountNotEnabled');
      await set('normal');
      assert.equal((await self(person.token)).status, 200);
    }
  });

  test('a role given, narrowed, taken and removed', async () => {
    const sub = await api.account('user', 'roles-sub@test.test', { rootID: a.user.id, parentClient: a.client.id });
    const sites = () => api.call('GET', '/user/sites', { token: sub.token });
    is(await sites(), 'permissionDenied');
    const made = await api.call('POST', '/user/role', {
      token: a.user.token,
      body: { name: 'reader', permissionKeys: ['sites.view', 'domains.view'] },
    });
    const roleID = made.body.ids[0] as number;
    const give = (id: number) =>
      api.call('PUT', '/user/account/role', { token: a.user.token, body: { accountID: sub.id, roleID: id } });
    await give(roleID);
    assert.equal((await sites()).status, 200);
    assert.deepEqual((await self(sub.token)).body.selfPerms, ['domains.view', 'sites.view']);
    const narrow = (keys: string[]) =>
      api.call('PUT', `/user/role/${roleID}`, { token: a.user.token, body: { name: 'reader', permissionKeys: keys } });
    await narrow(['domains.view']);
    is(await sites(), 'permissionDenied');
    await narrow(['sites.view']);
    assert.equal((await sites()).status, 200);
    const none = await api.call('POST', '/user/role', { token: a.user.token, body: { name: 'none', permissionKeys: [] } });
    await give(none.body.ids[0]);
    is(await sites(), 'permissionDenied');
    await give(roleID);
    assert.equal((await sites()).status, 200);
    await api.call('DELETE', `/user/role/${roleID}`, { token: a.user.token });
    is(await sites(), 'permissionDenied');
  });

  test('an answer that was on its way while the account changed is not remembered', async () => {
    const person = await customer();
    for (let i = 0; i < 10; i++) {
      const change = api.call('PUT', '/client/account', {
        token: a.client.token,
        body: { id: person.id, status: i % 2 ? 'normal' : 'pause' },
      });
      const many = Array.from({ length: 8 }, () => self(person.token));
      await Promise.all([change, ...many]);
      assert.equal((await self(person.token)).status, i % 2 ? 200 : 403);
    }
  });

  test('another process hears of it', async () => {
    const other = await Api.start({}, {}, api.database.url);
    try {
      // two processes of one installation share its key
      const person = await customer();
      const tokens = await other.sessions.open(other.database.db, person.id);
      const there = () => other.call('GET', '/user/account/self', { token: tokens.accessToken });
      assert.equal((await there()).status, 200);
      await api.call('PUT', '/client/account', { token: a.client.token, body: { id: person.id, status: 'lock' } });
      const deadline = performance.now() + 30_000;
      while ((await there()).status !== 403)
        assert.ok(performance.now() < deadline, 'the other process still lets the account in');
    } finally {
      await other.stop();
    }
  });
});

describe('passwords', () => {
  test('a changed password ends the other sessions and keeps the one that asked', async () => {
    const person = await customer();
    const [one, two] = [await signedIn(person), await signedIn(person)];
    const change = (oldPassword: string, secret: string) =>
      api.call('PATCH', '/user/password', { token: one.accessToken, body: { oldPassword, password: secret } });
    const refused = await change('wrong password', 'a new pass phrase');
    is(refused, 'parameter');
    assert.deepEqual(refused.body.errorData, [{ path: 'oldPassword', rule: 'wrongPassword' }]);
    is(await change(password, 'short'), 'parameter');
    assert.equal((await change(password, 'a new pass phrase')).status, 200);
    assert.equal((await self(one.accessToken)).status, 200);
    is(await self(two.accessToken), 'invalidToken');
    is(await refresh(two), 'refreshTokenFailed');
    is(await verify(person.email), 'credentialFailed');
    assert.equal((await verify(person.email, 'a new pass phrase')).status, 200);
  });

  test('one set by the operator ends every session of the account', async () => {
    const person = await customer();
    const reply = await api.call('PUT', '/client/account/password', {
      token: a.client.token,
      body: { id: person.id, password: 'set by another' },
    });
    assert.equal(reply.status, 200);
    is(await self(person.token), 'invalidToken');
    assert.equal((await verify(person.email, 'set by another')).status, 200);
  });
});

describe('acting for another', () => {
  const proxy = (token: string, area: string, id: number) => api.call('POST', `/${area}/proxy`, { token, body: { id } });
  const lastAudit = (accountID: number) =>
    row<{ accountName: string; proxyName: string | null; url: string }>(
      api.database.db,
      sql`select "accountName", "proxyName", url from audit where "accountID" = ${accountID} order by id desc limit 1`,
    );

  test('the operator for its customer: tokens of its area, both names in self and in the audit', async () => {
    const reply = await proxy(a.client.token, 'client', a.user.id);
    assert.equal(reply.status, 200, reply.text);
    const token = reply.body.accessToken as string;
    const mine = await self(token);
    assert.deepEqual([mine.body.id, mine.body.proxyName], [a.user.id, a.client.email]);
    is(await self(token, 'client'), 'permissionDenied');
    const tagged = await api.call('PUT', `/user/site/${a.siteID}/tags`, { token, body: { tags: ['x'] } });
    assert.equal(tagged.status, 200);
    assert.deepEqual(await lastAudit(a.user.id), {
      accountName: a.user.email,
      proxyName: a.client.email,
      url: `/api/v1/user/site/${a.siteID}/tags`,
    });
    // somebody who acts for another does not set the other's password
    is(
      await api.call('PATCH', '/user/password', { token, body: { oldPassword: password, password: 'another one' } }),
      'permissionDenied',
    );
    // and stays signed in as before
    assert.equal((await self(a.client.token, 'client')).body.proxyName, null);
  });

  test('through two doors it is still the first who acts', async () => {
    const admin = await api.account('admin', 'admin@test.test');
    const asClient = (await proxy(admin.token, 'admin', a.client.id)).body.accessToken as string;
    const asUser = (await proxy(asClient, 'client', a.user.id)).body.accessToken as string;
    assert.equal((await self(asUser)).body.proxyName, admin.email);
    // and when the first is gone, so is the door
    await sql`update account set status = 'lock' where id = ${admin.id}`.execute(api.database.db);
    await api.changed();
    is(await self(asUser), 'invalidToken');
  });

  test('a customer for its sub-user; not the other way, not sideways, not by a sub-account', async () => {
    const sub = await api.account('user', 'proxy-sub@test.test', {
      rootID: a.user.id,
      parentClient: a.client.id,
      keys: ['accounts.edit'],
    });
    const deeper = await api.account('user', 'proxy-deeper@test.test', {
      rootID: a.user.id,
      parentClient: a.client.id,
      grade: 2,
    });
    assert.equal((await proxy(a.user.token, 'user', sub.id)).status, 200);
    is(await proxy(sub.token, 'user', a.user.id), 'permissionDenied');
    is(await proxy(sub.token, 'user', deeper.id), 'permissionDenied');
    is(await proxy(a.user.token, 'user', a.user.id), 'permissionDenied');
    is(await proxy(a.user.token, 'user', a.client.id), 'parameter', 404);
    is(await proxy(a.client.token, 'client', a.client.id), 'permissionDenied');
  });

  test('a paused account has no door', async () => {
    const person = await customer();
    await sql`update account set status = 'pause' where id = ${person.id}`.execute(api.database.db);
    is(await proxy(a.client.token, 'client', person.id), 'accountNotEnabled');
  });
});

test('an account sets its own name, language and time zone, and nothing else', async () => {
  const person = await customer();
  const put = (body: object) => api.call('PUT', '/user/account/self', { token: person.token, body });
  assert.equal((await put({ name: 'New name', language: 'en_US', timezone: 'Europe/Berlin' })).status, 200);
  const mine = (await self(person.token)).body;
  assert.deepEqual([mine.name, mine.language, mine.timezone], ['New name', 'en_US', 'Europe/Berlin']);
  assert.equal((await put({})).status, 200);
  for (const timezone of ['Mars/Olympus', '+08:00', '-0800', 'UTC+8', 'GMT+8', '8', '']) {
    const wrong = await put({ timezone });
    is(wrong, 'parameter');
    assert.equal(wrong.body.errorData[0].path, 'timezone', timezone);
  }
  for (const timezone of ['UTC', 'America/Argentina/Buenos_Aires', 'Etc/GMT+8'])
    assert.equal((await put({ timezone })).status, 200);
  for (const field of ['status', 'isRoot', 'auth', 'email', 'roleID', 'parentClient', 'grade'])
    is(await put({ [field]: 1 }), 'parameter');
});

test('no credential stands in the audit, in the database or in the log', async () => {
  const person = await customer();
  const tokens = await signedIn(person);
  const secret = 'a pass phrase nobody may read';
  await api.call('PATCH', '/user/password', { token: tokens.accessToken, body: { oldPassword: password, password: secret } });
  await api.call('PUT', '/client/account/password', { token: a.client.token, body: { id: person.id, password: secret } });
  const again = (await verify(person.email, secret)).body as Tokens;
  const next = (await refresh(again)).body as Tokens;
  const proxied = (await api.call('POST', '/client/proxy', { token: a.client.token, body: { id: person.id } })).body as Tokens;
  await holdLogin(api.database.db, person.id);
  const secrets = [
    password,
    secret,
    ...[tokens, again, next, proxied].flatMap(one => [one.accessToken, one.refreshToken, one.refreshToken.split('.')[1]!]),
  ];
  for (const table of ['audit', 'session', 'account', 'login']) {
    const text = JSON.stringify(await rows(api.database.db, sql`select to_jsonb(t) from ${sql.table(table)} t`));
    assert.ok(text.length > 2);
    for (const one of secrets) assert.equal(text.includes(one), false, `${table} holds a credential`);
  }
  const audited = await rows<{ body: object }>(
    api.database.db,
    sql`select body from audit where url like '%/password' and "accountID" in (${person.id}, ${a.client.id})`,
  );
  assert.ok(audited.length >= 2);
  for (const { body } of audited)
    assert.equal(
      Object.entries(body).some(([key, value]) => /password/i.test(key) && value !== '***'),
      false,
    );
  assert.equal(
    api.failures.some(line => secrets.some(one => line.includes(one))),
    false,
  );
});
