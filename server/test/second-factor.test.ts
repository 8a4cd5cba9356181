/** Codes by mail, links to set a password, authenticators: over a real mail server, with a second implementation of TOTP. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { TOTP } from 'otpauth';
import type { Area } from '#contract/kit/call.ts';
import { row, rows } from '#server/store/db.ts';
import { codeAt, newSecret, qrOf, stepAt } from '#server/account/totp.ts';
import { broken, is, ok } from './expect.ts';
import { Api, type Person, password, type Tenant } from './harness.ts';
import { type Mailing, startMailing } from './mailing.ts';
import { type Smtp, textOf } from './smtp.ts';

let api: Api;
let smtp: Smtp;
let mailing: Mailing;
let a: Tenant;
let b: Tenant;
before(async () => {
  api = await Api.start();
  mailing = await startMailing(api);
  ({ smtp } = mailing);
  const begun = Date.now();
  api.sessions.tries.now = () => begun;
  a = await api.tenant('a');
  b = await api.tenant('b');
});
after(async () => {
  await mailing?.stop();
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

let people = 0;
const customer = (of = a) => api.account('user', `factor-${++people}@test.test`, { parentClient: of.client.id });
const post = (path: string, body: unknown, token?: string) => api.call('POST', path, { body, ...(token ? { token } : {}) });
const verify = (who: Pick<Person, 'email' | 'area'>, secret = password) =>
  post(`/${who.area}/verify`, { email: who.email, password: secret });
const login = (who: Pick<Person, 'email'>, onePassKey: string, vcode: string, area: Area = 'user') =>
  post(`/${area}/login`, { onePassKey, email: who.email, vcode });
const mailSetting = () => ({
  host: '127.0.0.1',
  port: smtp.port,
  security: 'starttls',
  username: 'u',
  password: 'smtp secret',
  fromAddress: 'noreply@house.test',
  fromName: 'House',
  ownPassword: password,
});
const isConfirmed = async (id: number) =>
  (await row<{ is: boolean }>(api.database.db, sql`select "emailConfirmed" as is from account where id = ${id}`))!.is;
const codeOf = async (to: string) => /^\d{6}$/m.exec(textOf(await smtp.next(to)))![0];
const other = (code: string) => (code === '000000' ? '000001' : '000000');
const enable = (enabled: boolean, of = a) =>
  api.call('PUT', '/client/setting/system/accountVerify', { token: of.client.token, body: { enabled } });

describe('codes by mail', () => {
  test('are turned on once a test went out by the mail server', async () => {
    is(await enable(true), 'illegalEmailSettings');
    ok(await api.call('PUT', '/client/setting/email', { token: a.client.token, body: mailSetting() }));
    is(await enable(true), 'illegalEmailSettings');
    ok(await post('/client/setting/email/test', {}, a.client.token));
    await smtp.next(a.client.email);
    ok(await enable(true));
  });

  test('a sign-in waits for the code, of the operator’s people and its customers, and of nobody else’s', async () => {
    const person = await customer();
    const asked = ok(await verify(person)).body;
    assert.deepEqual([asked.login2FAType, asked.accessToken, asked.vcode], [0, undefined, undefined]);
    const code = await codeOf(person.email);
    await sql`update account set "emailConfirmed" = false where id = ${person.id}`.execute(api.database.db);
    const signed = ok(await login(person, asked.onePassKey, code)).body;
    assert.equal(signed.tokenType, 'Bearer');
    assert.equal(await isConfirmed(person.id), true);
    is(await login(person, asked.onePassKey, code), 'invalidToken');
    assert.equal(ok(await verify(a.client)).body.login2FAType, 0);
    assert.ok(ok(await verify(await customer(b))).body.accessToken);
    // a wrong password and a stranger cause no mail
    await codeOf(a.client.email);
    is(await verify(person, 'wrong password'), 'credentialFailed');
    is(await verify({ email: 'nobody@test.test', area: 'user' }), 'credentialFailed');
    assert.deepEqual(await rows(api.database.db, sql`select 1 from mail`), []);
  });

  test('another code takes the place of the first, and brings no other tries', async () => {
    const person = await customer();
    const { onePassKey } = ok(await verify(person)).body;
    const first = await codeOf(person.email);
    for (let n = 0; n < 3; n++) is(await login(person, onePassKey, other(first)), 'invalidToken');
    const held = sql`from login where "accountID" = ${person.id}`;
    await sql`update login set "expiredAt" = now() + interval '20 seconds' where "accountID" = ${person.id}`.execute(
      api.database.db,
    );
    ok(await post('/user/code', { onePassKey, email: person.email }));
    const second = await codeOf(person.email);
    const [left] = await rows<{ s: number }>(
      api.database.db,
      sql`select extract(epoch from "expiredAt" - now())::float8 as s ${held}`,
    );
    assert.ok(left!.s > 540, `it is good for ten minutes, as its mail says: ${left!.s} s`);
    if (second !== first) is(await login(person, onePassKey, first), 'invalidToken');
    is(await login(person, onePassKey, other(second)), second === first ? 'invalidToken' : 'invalidToken');
    is(await login(person, onePassKey, second), 'tokenExpired');
    is(await post('/user/code', { onePassKey, email: person.email }), 'tokenExpired');
  });

  test('fifty guesses at once are five', async () => {
    const person = await customer();
    const { onePassKey } = ok(await verify(person)).body;
    const code = await codeOf(person.email);
    const replies = await Promise.all(Array.from({ length: 50 }, () => login(person, onePassKey, other(code))));
    const looked = replies.filter(reply => reply.body.code === 101013);
    assert.ok(looked.length <= 5, `${looked.length} were looked at`);
    // neither by the right code now: it waits first, and its tries are gone
    assert.notEqual((await login(person, onePassKey, code)).status, 200);
    const { tries } = (await row<{ tries: number }>(
      api.database.db,
      sql`select tries from login where "accountID" = ${person.id}`,
    ))!;
    assert.ok(tries >= 5, `${tries} tries`);
  });

  test('who knows the password cannot guess on with one sign-in after the other', async () => {
    const person = await customer();
    let refused = 0;
    for (let n = 0; n < 4 && !refused; n++) {
      const { onePassKey } = ok(await verify(person)).body;
      const code = await codeOf(person.email);
      for (let guess = 0; guess < 5; guess++) if ((await login(person, onePassKey, other(code))).status === 429) refused++;
    }
    assert.ok(refused > 0);
  });

  test('no storm of mails: after a few an account waits, and says how long', async () => {
    const person = await customer();
    let mailed = 0;
    let last = await verify(person);
    for (; last.status === 200 && mailed < 20; mailed++) last = await verify(person);
    assert.ok(mailed <= 6, `${mailed} mails`);
    assert.equal(last.status, 429);
    assert.ok(last.body.extra.retryAfter > 0);
    for (let n = 0; n < mailed; n++) await smtp.next(person.email);
  });

  test('a key of one area, of another e-mail or of nobody sends nothing and opens nothing', async () => {
    const person = await customer();
    const { onePassKey } = ok(await verify(person)).body;
    const code = await codeOf(person.email);
    is(await post('/client/code', { onePassKey, email: person.email }), 'invalidToken');
    is(await post('/user/code', { onePassKey, email: a.user.email }), 'invalidToken');
    is(await post('/user/code', { onePassKey: 'x', email: person.email }), 'invalidToken');
    is(await login(person, onePassKey, code, 'client'), 'invalidToken');
    is(await login(a.user, onePassKey, code), 'invalidToken');
    ok(await login(person, onePassKey, code));
  });

  test('nobody is let in because no mail can go out', async () => {
    const person = await customer();
    await sql`update "mailServer" set "deletedAt" = now()`.execute(api.database.db);
    is(await verify(person), 'illegalEmailSettings');
    await sql`update "mailServer" set "deletedAt" = null`.execute(api.database.db);
    broken(
      await api.call('PUT', '/client/setting/email', {
        token: a.client.token,
        body: { ...mailSetting(), host: '', username: '' },
      }),
      'host',
      'mailServerNeeded',
    );
    ok(await enable(false));
    assert.ok(ok(await verify(person)).body.accessToken);
  });

  test('one operator’s switch is not another’s', async () => {
    assert.equal((await api.call('GET', '/client/setting/system/accountVerify', { token: b.client.token })).body.enabled, false);
    const sub = await api.account('client', 'viewer@test.test', { rootID: a.client.id, keys: ['accountVerify.view'] });
    is(
      await api.call('PUT', '/client/setting/system/accountVerify', { token: sub.token, body: { enabled: true } }),
      'permissionDenied',
    );
  });
});

describe('the link to set a password', () => {
  const made = async (email: string, of = a) =>
    ok(await post('/client/account', { email, name: '新客戶', auth: 'user' }, of.client.token)).body;
  const linkOf = async (to: string) => {
    const text = textOf(await smtp.next(to));
    const [, area, token] = /console\.test\/(\w+)\/verifyMail\?token=(\w+)/.exec(text)!;
    assert.equal(area, 'user');
    return token!;
  };
  const check = async (token: string) => ok(await post('/token/check', { token })).body;
  const register = (token: string, secret = 'my own password') => post('/register/password', { token, password: secret });

  test('a new account is mailed one, which sets its first password once', async () => {
    const { ids, isMailed } = await made('new@test.test');
    assert.equal(isMailed, true);
    is(await verify({ email: 'new@test.test', area: 'user' }), 'credentialFailed');
    const token = await linkOf('new@test.test');
    assert.deepEqual(await check(token), { valid: true, email: 'new@test.test', auth: 'user', problem: null });
    broken(await register(token, 'short'), 'password');
    const replies = await Promise.all([register(token), register(token), register(token)]);
    assert.equal(replies.filter(reply => reply.status === 200).length, 1);
    is(await register(token, 'a thief’s password'), 'invalidToken');
    assert.equal((await check(token)).problem, 'used');
    assert.ok(ok(await verify({ email: 'new@test.test', area: 'user' }, 'my own password')).body.accessToken);
    assert.equal(await isConfirmed(ids[0]), true);
  });

  test('its token is stored nowhere: not in a row, not in the audit', async () => {
    await made('quiet@test.test');
    const token = await linkOf('quiet@test.test');
    const stored = await rows<{ text: string }>(
      api.database.db,
      sql`select encode(hash, 'escape') as text from "mailLink" union all select body::text || changes::text from audit union all select message from mail`,
    );
    assert.ok(!stored.some(({ text }) => text.includes(token)));
  });

  test('another link ends the earlier one; a late one says so; each is of its account alone', async () => {
    const { ids } = await made('again@test.test');
    const first = await linkOf('again@test.test');
    ok(await post('/client/account/resendEmail', { id: ids[0] }, a.client.token));
    const second = await linkOf('again@test.test');
    assert.equal((await check(first)).problem, 'replaced');
    is(await register(first), 'invalidToken');
    await sql`update "mailLink" set "expiredAt" = now() - interval '1 second' where "accountID" = ${ids[0]}`.execute(
      api.database.db,
    );
    assert.equal((await check(second)).problem, 'expired');
    is(await register(second), 'tokenExpired');
    assert.equal((await check('nothing')).problem, 'unknown');
    is(await register('nothing'), 'invalidToken');
  });

  test('a new password by link ends the sessions of the old one; a stopped account gets none', async () => {
    const person = await customer();
    ok(await post('/client/account/resendEmail', { id: person.id }, a.client.token));
    const token = await linkOf(person.email);
    await sql`update account set status = 'lock' where id = ${person.id}`.execute(api.database.db);
    assert.equal((await check(token)).problem, 'stopped');
    is(await register(token), 'accountNotEnabled');
    await sql`update account set status = 'normal' where id = ${person.id}`.execute(api.database.db);
    await api.changed();
    ok(await api.call('GET', '/user/account/self', { token: person.token }));
    ok(await register(token));
    is(await api.call('GET', '/user/account/self', { token: person.token }), 'invalidToken');
  });

  test('only who may act as the account sends one, and not without end', async () => {
    is(await post('/client/account/resendEmail', { id: b.user.id }, a.client.token), 'parameter', 404);
    is(await post('/user/account/resendEmail', { id: a.user.id }, a.user.token), 'permissionDenied');
    const { ids } = await made('often@test.test');
    let last = await post('/client/account/resendEmail', { id: ids[0] }, a.client.token);
    for (let n = 0; n < 10 && last.status === 200; n++)
      last = await post('/client/account/resendEmail', { id: ids[0] }, a.client.token);
    broken(last, 'id', 'tooManyTries', 429);
  });
});

describe('an authenticator', () => {
  const begin = async (person: Person) =>
    ok(await post(`/${person.area}/login2fa/phase0`, { password }, person.token)).body.onePassKey as string;
  const choose = (person: Person, onePassKey: string, type: number) =>
    post(`/${person.area}/login2fa/phase1`, { onePassKey, type }, person.token);
  const finish = (person: Person, onePassKey: string, code: string) =>
    post(`/${person.area}/login2fa/phase2`, { onePassKey, code }, person.token);
  async function setUp(person: Person) {
    const onePassKey = await begin(person);
    const { qrCode, qrCodeData, login2FAType } = ok(await choose(person, onePassKey, 1)).body;
    assert.equal(login2FAType, 1);
    assert.match(qrCode, /^data:image\/svg\+xml;base64,/);
    const secret = new URL(qrCodeData).searchParams.get('secret')!;
    const { recoveryCodes } = ok(await finish(person, onePassKey, codeAt(secret, stepAt(Date.now()) - 1))).body;
    await smtp.next(person.email);
    return { secret, recoveryCodes: recoveryCodes as string[] };
  }
  const now = (secret: string) => codeAt(secret, stepAt(Date.now()));

  test('its codes are those of a second implementation', () => {
    for (let n = 0; n < 200; n++) {
      const secret = newSecret();
      const at = Math.floor(Math.random() * 4e12);
      assert.equal(codeAt(secret, stepAt(at)), new TOTP({ secret }).generate({ timestamp: at }));
    }
    const uri = qrOf(newSecret(), 'a+b@test.test', 'House: #1').qrCodeData;
    assert.equal(new URL(uri).searchParams.get('issuer'), 'House: #1');
  });

  test('is set up in three steps, and asked for from then on', async () => {
    const person = await customer();
    const { secret } = await setUp(person);
    const asked = ok(await verify(person)).body;
    assert.deepEqual([asked.login2FAType, asked.accessToken], [1, undefined]);
    is(await login(person, asked.onePassKey, other(now(secret))), 'invalidToken');
    await sql`update account set "emailConfirmed" = false where id = ${person.id}`.execute(api.database.db);
    ok(await login(person, asked.onePassKey, now(secret)));
    // whoever has an authenticator has shown no mailbox
    assert.equal(await isConfirmed(person.id), false);
    const self = await api.call('GET', '/user/account/self', { token: person.token });
    assert.equal(self.body.twoFactor, 1);
    const stored = await rows<{ text: string }>(api.database.db, sql`select secret || recovery::text as text from authenticator`);
    assert.ok(!JSON.stringify(stored).includes(secret));
    is(await post('/user/code', { onePassKey: ok(await verify(person)).body.onePassKey, email: person.email }), 'invalidToken');
  });

  test('a code opens once, also for two at once; steps around count, others do not', async () => {
    const person = await customer();
    const { secret } = await setUp(person);
    const keys = [];
    for (let n = 0; n < 4; n++) keys.push(ok(await verify(person)).body.onePassKey as string);
    const step = stepAt(Date.now());
    is(await login(person, keys[0]!, codeAt(secret, step - 3)), 'invalidToken');
    is(await login(person, keys[0]!, codeAt(secret, step + 4)), 'invalidToken');
    const code = codeAt(secret, step + 1);
    const replies = await Promise.all(keys.map(key => login(person, key, code)));
    assert.equal(replies.filter(reply => reply.status === 200).length, 1);
    is(await login(person, keys[1]!, code), 'invalidToken');
  });

  test('when it is lost, a recovery code opens once', async () => {
    const person = await customer();
    const { recoveryCodes } = await setUp(person);
    assert.equal(new Set(recoveryCodes).size, 10);
    const key = async () => ok(await verify(person)).body.onePassKey as string;
    const keys = [await key(), await key(), await key()];
    const replies = await Promise.all(keys.map(one => login(person, one, recoveryCodes[0]!)));
    assert.equal(replies.filter(reply => reply.status === 200).length, 1);
    is(await login(person, await key(), recoveryCodes[0]!), 'invalidToken');
    ok(await login(person, await key(), recoveryCodes[1]!.toLowerCase().replace('-', ' ')));
    // of somebody else
    const stranger = await customer();
    await setUp(stranger);
    is(await login(stranger, ok(await verify(stranger)).body.onePassKey, recoveryCodes[2]!), 'invalidToken');
  });

  test('takes the password first, and is given up by its own code alone; other sessions end', async () => {
    const person = await customer();
    broken(await post('/user/login2fa/phase0', { password: 'wrong password' }, person.token), 'password', 'wrongPassword');
    is(await choose(person, 'x', 1), 'invalidToken');
    const elsewhere = await api.sessions.open(api.database.db, person.id);
    const { secret, recoveryCodes } = await setUp(person);
    is(await api.call('GET', '/user/account/self', { token: elsewhere.accessToken }), 'invalidToken');
    const onePassKey = await begin(person);
    assert.equal(ok(await choose(person, onePassKey, 2)).body.login2FAType, 1);
    is(await finish(person, onePassKey, other(now(secret))), 'invalidToken');
    ok(await finish(person, onePassKey, recoveryCodes[0]!));
    assert.ok(ok(await verify(person)).body.accessToken);
    assert.deepEqual(await rows(api.database.db, sql`select 1 from authenticator where "accountID" = ${person.id}`), []);
  });

  test('a key belongs to whoever began, to its purpose, and to five tries', async () => {
    const person = await customer();
    const thief = await customer();
    const onePassKey = await begin(person);
    is(await choose(thief, onePassKey, 1), 'invalidToken');
    ok(await choose(person, onePassKey, 1));
    is(await finish(thief, onePassKey, '000000'), 'invalidToken');
    // no sign-in by a key of a change
    is(await login(person, onePassKey, '000000'), 'invalidToken');
    const replies = await Promise.all(Array.from({ length: 20 }, () => finish(person, onePassKey, '00000a')));
    assert.ok(replies.filter(reply => reply.body.code === 101013).length <= 5);
    is(await finish(person, onePassKey, '00000a'), 'tokenExpired');
  });

  test('mail as a second factor is proven by mail', async () => {
    const person = await customer();
    const onePassKey = await begin(person);
    assert.equal(ok(await choose(person, onePassKey, 0)).body.login2FAType, 0);
    ok(await finish(person, onePassKey, await codeOf(person.email)));
    await smtp.next(person.email);
    assert.equal(ok(await verify(person)).body.login2FAType, 0);
    await codeOf(person.email);
  });

  test('whoever may act as the account takes a lost one away; who acts in its name sets none', async () => {
    const person = await customer();
    await setUp(person);
    const { accessToken } = ok(await post('/client/proxy', { id: person.id }, a.client.token)).body;
    is(await post('/user/login2fa/phase0', { password }, accessToken), 'permissionDenied');
    is(
      await api.call('PUT', '/client/account', { token: b.client.token, body: { id: person.id, twoFactor: 2 } }),
      'parameter',
      404,
    );
    ok(await api.call('PUT', '/client/account', { token: a.client.token, body: { id: person.id, twoFactor: 2 } }));
    assert.ok(ok(await verify(person)).body.accessToken);
  });
});
