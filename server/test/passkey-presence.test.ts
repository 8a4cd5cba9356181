/** A passkey in place of a code: with it a root mends the mail server that its codes come by, and nothing else is got round by it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { codeTries } from '#contract/limits.ts';
import { row } from '#server/store/db.ts';
import { broken, is, ok } from './expect.ts';
import { Api, password, type Person, type Tenant } from './harness.ts';
import { PasskeyDevice } from './passkey-device.ts';

let api: Api;
let a: Tenant;
let device: PasskeyDevice;
const host = 'console.test';
const post = (path: string, body?: unknown, token = a.client.token, at = host) =>
  api.call('POST', path, { token, ...(body === undefined ? {} : { body }), headers: { host: at } });
async function passkeyOf(who: Person): Promise<PasskeyDevice> {
  const made = new PasskeyDevice();
  const options = ok(await post(`/${who.area}/account/passkey/options`, { password }, who.token)).body;
  ok(await post(`/${who.area}/account/passkey`, made.create(options), who.token));
  return made;
}
before(async () => {
  api = await Api.start();
  const begun = Date.now();
  api.sessions.tries.now = () => begun;
  a = await api.tenant('a');
  device = await passkeyOf(a.client);
  // its codes come by mail, and nobody is there to take one
  await sql`update account set "twoFactor" = 0 where id = ${a.client.id}`.execute(api.database.db);
  await sql`insert into "mailServer" ("clientID", host, port, security, username, "fromAddress", "fromName")
    values (${a.client.id}, '127.0.0.1', 9, 'none', '', 'a@b.test', 'A')`.execute(api.database.db);
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});
const challenge = async (token = a.client.token) =>
  ok(await post('/client/account/presence/challenge', undefined, token)).body as { challenge: string };
const given = async (by = device, token = a.client.token) =>
  post('/client/account/presence/code', by.get(await challenge(token)), token);
const mend = (code?: string, token = a.client.token) =>
  api.call('PUT', '/client/setting/email', {
    token,
    body: {
      ...{ host: 'mail.example.net', port: 587, security: 'starttls', username: '', fromAddress: 'a@b.test', fromName: 'B' },
      ...{ ownPassword: password, ...(code === undefined ? {} : { code }) },
    },
  });
const session = async (who: Person) => {
  const token = ok(
    await post(`/${who.area}/passkey/verify`, device.get(ok(await post(`/${who.area}/passkey/challenge`)).body)),
  ).body;
  return token.accessToken as string;
};

test('a root whose codes come by a broken mail server mends it by a passkey: a code that serves once, in this session, beside the password', async () => {
  broken(await mend(), 'code', 'factorByMail');
  broken(await mend('123456'), 'code', 'wrongCode');
  const { code } = ok(await given()).body;
  assert.match(code, /^\d{6}$/);
  const other = await session(a.client);
  broken(await mend(code, other), 'code', 'wrongCode');
  ok(await mend(code));
  broken(await mend(code), 'code', 'wrongCode');
  const known = await row<{ host: string }>(
    api.database.db,
    sql`select host from "mailServer" where "clientID" = ${a.client.id}`,
  );
  assert.equal(known?.host, 'mail.example.net');
});

test('what was asked serves once, for this session and this person, at this host; a wrong one opens nothing and ends nothing', async () => {
  const asked = await challenge();
  const signed = device.get(asked);
  ok(await post('/client/account/presence/code', signed));
  is(await post('/client/account/presence/code', signed), 'tokenExpired');
  // one of a sign-in, and one of another session
  const signIn = ok(await post('/client/passkey/challenge')).body;
  is(await post('/client/account/presence/code', device.get(signIn)), 'tokenExpired');
  is(await post('/client/account/presence/code', device.get(await challenge(await session(a.client)))), 'tokenExpired');
  // neither does it add a passkey, nor sign in
  const fresh = new PasskeyDevice();
  is(await post('/client/account/passkey', fresh.create({ ...(await challenge()), user: { id: 'x' } })), 'tokenExpired');
  is(await post('/client/passkey/verify', device.get(await challenge())), 'tokenExpired');
  // of somebody else, by whose handle or none; of another page; by nobody who was seen; unsigned
  const b = await api.tenant('b');
  const theirs = await passkeyOf(b.client);
  is(await given(theirs), 'credentialFailed');
  is(
    await post('/client/account/presence/code', device.get(await challenge(), { userHandle: theirs.userHandle })),
    'credentialFailed',
  );
  ok(await post('/client/account/presence/code', device.get(await challenge(), { userHandle: null })));
  for (const wrong of [{ origin: 'http://evil.test' }, { isUnverified: true }, { isFramed: true }])
    is(await post('/client/account/presence/code', device.get(await challenge(), wrong)), 'credentialFailed');
  broken(await post('/client/account/presence/challenge', undefined, a.client.token, 'elsewhere.test'), '', 'passkeyNone');
  ok(await api.call('GET', '/client/account/self', { token: a.client.token }));
});

test('an authenticator that counts back gives none, nor who acts in the root’s name; guesses are counted', async () => {
  device.counter = 9;
  ok(await given());
  const waiting = async () =>
    (await row<{ n: number }>(api.database.db, sql`select count(*)::int as n from mail where "clientID" = ${a.client.id}`))!.n;
  const before = await waiting();
  device.counter = 8;
  is(await given(), 'credentialFailed');
  // somebody holds a copy: its person hears of it, and of nothing where none was told apart
  assert.equal(await waiting(), before + 1);
  is(await post('/client/account/presence/code', device.get(await challenge(), { isUnverified: true })), 'credentialFailed');
  assert.equal(await waiting(), before + 1);
  device.counter = 10;
  const vendor = await api.account('admin', 'vendor@test.test');
  const proxied = ok(await post('/admin/proxy', { id: a.client.id }, vendor.token)).body.accessToken as string;
  is(await post('/client/account/presence/challenge', undefined, proxied), 'permissionDenied');
  is(await post('/client/account/presence/code', device.get({ challenge: 'x' }), proxied), 'permissionDenied');
  const statuses: number[] = [];
  for (let n = 0; n <= codeTries.freeOfAccount; n++)
    statuses.push((await post('/client/account/presence/code', device.get({ challenge: 'x' }))).status);
  assert.equal(statuses.at(-1), 429);
});
