/** Signing in and staying signed in (decisions.md, Sessions), over HTTP on a real database. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { errors } from '#contract/errors.ts';
import { holdLogin } from '#server/account/session.ts';
import type { Tokens } from '#server/kit/session.ts';
import { Tries } from '#server/kit/tries.ts';
import { row, rows } from '#server/store/db.ts';
import { Api, type Person, password, type Reply, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
before(async () => {
  api = await Api.start();
  // Delays of five seconds must not run out while a busy machine computes ten hashes.
  const begun = Date.now();
  api.sessions.tries.now = () => begun;
  a = await api.tenant('a');
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const is = (reply: Reply, name: keyof typeof errors, status = errors[name].status) =>
  assert.deepEqual([reply.status, reply.body?.code], [status, errors[name].code], reply.text);
const self = (token: string, area = 'user', headers: Record<string, string> = {}) =>
  api.call('GET', `/${area}/account/self`, { token, headers });
const verify = (email: string, secret = password, area = 'user', headers: Record<string, string> = {}) =>
  api.call('POST', `/${area}/verify`, { body: { email, password: secret }, headers });
const refresh = (tokens: Pick<Tokens, 'accessToken' | 'refreshToken'>, area = 'user') =>
  api.call('PATCH', `/${area}`, { body: { accessToken: tokens.accessToken, refreshToken: tokens.refreshToken } });
const logout = (tokens: Pick<Tokens, 'accessToken' | 'refreshToken'>, area = 'user') =>
  api.call('DELETE', `/${area}`, { body: { accessToken: tokens.accessToken, refreshToken: tokens.refreshToken } });
let people = 0;
const customer = () => api.account('user', `customer-${++people}@test.test`, { parentClient: a.client.id });
const signedIn = async (person: Person): Promise<Tokens> => {
  const reply = await verify(person.email, password, person.area);
  assert.equal(reply.status, 200, reply.text);
  return reply.body;
};

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

  test('a stranger, a wrong password and another area read the same', async () => {
    const person = await customer();
    const replies = [
      await verify('nobody@test.test'),
      await verify(person.email, 'wrong password'),
      await verify(person.email, password, 'client'),
    ];
    for (const reply of replies) is(reply, 'credentialFailed');
    assert.equal(new Set(replies.map(reply => reply.text)).size, 1);
  });

  test('a paused account is told so once its password is right, and not before', async () => {
    const person = await customer();
    await sql`update account set status = 'pause' where id = ${person.id}`.execute(api.database.db);
    is(await verify(person.email), 'accountNotEnabled');
    is(await verify(person.email, 'wrong password'), 'credentialFailed');
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

describe('too many tries', () => {
  const from = (ip: string, cookie?: string) => ({ 'x-forwarded-for': ip, ...(cookie ? { cookie } : {}) });
  const wrongly = async (email: string, ip: string, times: number) => {
    for (let i = 0; i < times; i++) is(await verify(email, 'wrong password', 'user', from(ip)), 'credentialFailed');
  };
  const device = (reply: Reply) => String(reply.headers['set-cookie']).split(';')[0]!;

  test('ten wrong passwords of a stranger stop the stranger, not the owner', async () => {
    const person = await customer();
    await wrongly(person.email, '192.0.2.1', 10);
    const refused = await verify(person.email, password, 'user', from('192.0.2.1'));
    is(refused, 'credentialFailed', 429);
    const seconds = Number(refused.headers['retry-after']);
    assert.ok(seconds > 0 && seconds <= 900, String(seconds));
    assert.equal(refused.body.extra.retryAfter, seconds);
    // from elsewhere, and for another account from there, nothing has changed
    assert.equal((await verify(person.email, password, 'user', from('192.0.2.2'))).status, 200);
    assert.equal((await verify((await customer()).email, password, 'user', from('192.0.2.1'))).status, 200);
  });

  test('an e-mail counts as one however its letters are written', async () => {
    const person = await api.account('user', 'iiiistanbul@test.test', { parentClient: a.client.id });
    // what PostgreSQL takes for the same e-mail, JavaScript tells apart
    for (let i = 0; i < 10; i++) {
      const written = [...'iiii'].map((letter, at) => ((i >> at) & 1 ? 'İ' : letter)).join('');
      is(await verify(`${written}stanbul@test.test`, 'wrong password', 'user', from('192.0.2.77')), 'credentialFailed');
    }
    is(await verify(person.email, password, 'user', from('192.0.2.77')), 'credentialFailed', 429);
    for (let i = 0; i < 10; i++)
      is(
        await verify('nobody@test.test'.replace('o', i % 2 ? 'O' : 'o'), 'x'.repeat(9), 'user', from('192.0.2.78')),
        'credentialFailed',
      );
    is(await verify('NOBODY@test.test', 'wrong password', 'user', from('192.0.2.78')), 'credentialFailed', 429);
  });

  test('each further try waits twice as long, up to a quarter of an hour; then it is all forgotten', () => {
    let now = 1_000_000;
    const tries = new Tries(100, () => now);
    const claims = [{ key: 'x', free: 3 }];
    for (let i = 0; i < 3; i++) assert.equal(tries.take(claims), undefined);
    const waits: number[] = [];
    for (let i = 0; i < 12; i++) {
      const wait = tries.take(claims)!;
      assert.deepEqual([wait.isFirst, tries.take(claims)!.isFirst], [true, false]);
      waits.push(wait.seconds);
      now += wait.seconds * 1000;
      assert.equal(tries.take(claims), undefined);
    }
    assert.deepEqual(waits, [5, 10, 20, 40, 80, 160, 320, 640, 900, 900, 900, 900]);
    now += 1_800_000;
    for (let i = 0; i < 3; i++) assert.equal(tries.take(claims), undefined);
  });

  test('what is counted has a bound, and a right password gives back what it counted', () => {
    const tries = new Tries(100);
    for (let i = 0; i < 1000; i++) tries.take([{ key: `k${i}`, free: 1 }]);
    assert.equal(tries.size, 100);
    const claims = [
      { key: 'pair', free: 10 },
      { key: 'address', free: 2 },
    ];
    for (let i = 0; i < 50; i++) {
      assert.equal(tries.take(claims), undefined);
      tries.giveBack(claims);
    }
  });

  test('an IPv6 visitor is its /64, whichever of its addresses it takes', async () => {
    const person = await customer();
    for (let i = 0; i < 10; i++)
      is(await verify(person.email, 'wrong password', 'user', from(`2001:db8:1:2::${i}`)), 'credentialFailed');
    is(await verify(person.email, password, 'user', from('2001:db8:1:2:ffff::1')), 'credentialFailed', 429);
    assert.equal((await verify(person.email, password, 'user', from('2001:db8:1:3::1'))).status, 200);
  });

  test('an address is held up whatever the accounts; who is held up there but signed in from that device before is not', async () => {
    const ip = '198.51.100.7';
    const person = await customer();
    const cookie = device(await verify(person.email, password, 'user', from(ip)));
    for (let i = 0; i < 50; i++)
      is(await verify(`nobody-${i}@test.test`, 'wrong password', 'user', from(ip)), 'credentialFailed');
    is(await verify(person.email, password, 'user', from(ip)), 'credentialFailed', 429);
    assert.equal((await verify(person.email, password, 'user', from(ip, `x=1; ${cookie}`))).status, 200);
    assert.equal((await verify(person.email, password, 'user', from('198.51.100.8'))).status, 200);
    // a device has a count of its own
    for (let i = 0; i < 10; i++) is(await verify(person.email, 'wrong', 'user', from(ip, cookie)), 'credentialFailed');
    is(await verify(person.email, password, 'user', from(ip, cookie)), 'credentialFailed', 429);
  });

  test('the mark of a device is for one account, one password, and of our making', async () => {
    const ip = '198.51.100.17';
    const [person, other] = [await customer(), await customer()];
    const reply = await verify(person.email, password, 'user', from(ip));
    assert.match(
      String(reply.headers['set-cookie']),
      /^u_device_\d+=[\w.-]+; Path=\/api\/v1\/user; Max-Age=\d+; HttpOnly; SameSite=Strict$/,
    );
    const cookie = device(reply);
    const [name, value] = cookie.split('=') as [string, string];
    await wrongly(person.email, ip, 10);
    await wrongly(other.email, ip, 10);
    const forged = `${name}=${value.slice(0, -1)}${value.endsWith('A') ? 'B' : 'A'}`;
    is(await verify(person.email, password, 'user', from(ip, forged)), 'credentialFailed', 429);
    is(await verify(other.email, password, 'user', from(ip, `u_device_${other.id}=${value}`)), 'credentialFailed', 429);
    assert.equal((await verify(person.email, password, 'user', from(ip, cookie))).status, 200);
    await api.call('PUT', '/client/account/password', {
      token: a.client.token,
      body: { id: person.id, password: 'another one' },
    });
    is(await verify(person.email, 'another one', 'user', from(ip, cookie)), 'credentialFailed', 429);
  });

  test('whoever sets its own new password is known by it', async () => {
    const ip = '198.51.100.27';
    const person = await customer();
    const changed = await api.call('PATCH', '/user/password', {
      token: person.token,
      body: { oldPassword: password, password: 'a new pass phrase' },
    });
    assert.equal(changed.status, 200, changed.text);
    assert.match(String(changed.headers['set-cookie']), /^u_device_/);
    await wrongly(person.email, ip, 10);
    is(await verify(person.email, 'a new pass phrase', 'user', from(ip)), 'credentialFailed', 429);
    assert.equal((await verify(person.email, 'a new pass phrase', 'user', from(ip, device(changed)))).status, 200);
  });

  test('an address that the caller makes up counts for nothing', async () => {
    const person = await customer();
    // the socket is no proxy that we trust
    const send = (i: number, secret: string) =>
      api.call('POST', '/user/verify', {
        body: { email: person.email, password: secret },
        headers: from(`203.0.113.${i}`),
        socket: '198.51.100.66',
      });
    for (let i = 0; i < 10; i++) is(await send(i, 'wrong password'), 'credentialFailed');
    is(await send(11, password), 'credentialFailed', 429);
    // nor does what stands to the left of what a trusted proxy saw
    const other = await customer();
    for (let i = 0; i < 10; i++)
      is(await verify(other.email, 'wrong password', 'user', from(`203.0.113.${i}, 198.51.100.67`)), 'credentialFailed');
    is(await verify(other.email, password, 'user', from('203.0.113.99, 198.51.100.67')), 'credentialFailed', 429);
  });

  test('many at once do not slip through, and do not use up the connections', async () => {
    const person = await customer();
    const ip = from('198.51.100.9');
    const replies = await Promise.all(Array.from({ length: 30 }, () => verify(person.email, 'wrong password', 'user', ip)));
    assert.equal(replies.filter(reply => reply.status === 401).length, 10);
    assert.equal(replies.filter(reply => reply.status === 429).length, 20);
  });

  test('the old password is guessed no faster by whoever holds a session', async () => {
    const person = await customer();
    const change = (oldPassword: string) =>
      api.call('PATCH', '/user/password', { token: person.token, body: { oldPassword, password: 'a new pass phrase' } });
    for (let i = 0; i < 10; i++) is(await change(`wrong ${i}`), 'parameter');
    const refused = await change(password);
    is(refused, 'parameter', 429);
    assert.equal(refused.body.errorData[0].rule, 'tooManyTries');
    // the account itself signs in as ever
    assert.equal((await verify(person.email)).status, 200);
  });
});

describe('sign-ins in the audit', () => {
  const lines = (email: string) =>
    rows<{ status: number; reason: string; ip: string; accountID: number | null; clientID: number | null; body: unknown }>(
      api.database.db,
      sql`select status, reason, ip, "accountID", "clientID", body from audit where "accountName" = ${email} and url like '%/verify' order by id`,
    );

  test('good and bad ones, with address and reason, where the owner and its operator find them', async () => {
    const person = await customer();
    const ip = '192.0.2.77';
    const headers = { 'x-forwarded-for': ip };
    await verify(person.email, password, 'user', headers);
    await verify(person.email, 'a secret typed wrongly', 'user', headers);
    await sql`update account set status = 'pause' where id = ${person.id}`.execute(api.database.db);
    await verify(person.email, password, 'user', headers);
    const mine = { ip, accountID: person.id, clientID: a.client.id, body: null };
    assert.deepEqual(await lines(person.email), [
      { ...mine, status: 200, reason: 'signedIn' },
      { ...mine, status: 401, reason: 'wrongPassword' },
      { ...mine, status: 403, reason: 'pause' },
    ]);
    await verify('who-is-it@test.test', 'x', 'user', headers);
    assert.deepEqual(await lines('who-is-it@test.test'), [
      { ip, accountID: null, clientID: null, body: null, status: 401, reason: 'unknownAccount' },
    ]);
  });

  test('a flood of tries is no flood of lines', async () => {
    const person = await customer();
    for (let i = 0; i < 25; i++) await verify(person.email, 'wrong', 'user', { 'x-forwarded-for': '192.0.2.78' });
    const found = await lines(person.email);
    assert.deepEqual(
      found.map(one => one.reason),
      [...Array(10).fill('wrongPassword'), 'tooManyTries'],
    );
  });
});

describe('a login that waits for its code', () => {
  const login = (body: object, area = 'user', headers: Record<string, string> = {}) =>
    api.call('POST', `/${area}/login`, { body, headers });

  test('the code opens one session, and none twice', async () => {
    const person = await customer();
    const { onePassKey, vcode } = await holdLogin(api.database.db, person.id);
    const body = { onePassKey, email: person.email, vcode };
    const replies = await Promise.all([login(body), login(body), login(body)]);
    assert.equal(replies.filter(reply => reply.status === 200).length, 1);
    const opened = replies.find(reply => reply.status === 200)!;
    assert.equal((await self(opened.body.accessToken)).body.id, person.id);
    is(await login(body), 'invalidToken');
  });

  test('wrong code, wrong e-mail, wrong area, unknown key: 101013', async () => {
    const person = await customer();
    const { onePassKey, vcode } = await holdLogin(api.database.db, person.id);
    const wrong = vcode === '000000' ? '000001' : '000000';
    is(await login({ onePassKey, email: person.email, vcode: wrong }), 'invalidToken');
    is(await login({ onePassKey, email: a.user.email, vcode }), 'invalidToken');
    is(await login({ onePassKey, email: person.email, vcode }, 'client'), 'invalidToken');
    is(await login({ onePassKey: 'x', email: person.email, vcode }), 'invalidToken');
    assert.equal((await login({ onePassKey, email: person.email, vcode })).status, 200);
  });

  test('five tries, then not even the right code; ten minutes', async () => {
    const person = await customer();
    const { onePassKey, vcode } = await holdLogin(api.database.db, person.id);
    const wrong = vcode === '000000' ? '000001' : '000000';
    for (let i = 0; i < 5; i++) is(await login({ onePassKey, email: person.email, vcode: wrong }), 'invalidToken');
    is(await login({ onePassKey, email: person.email, vcode }), 'tokenExpired');
    const late = await holdLogin(api.database.db, person.id);
    await sql`update login set "expiredAt" = now() - interval '1 second' where "accountID" = ${person.id}`.execute(
      api.database.db,
    );
    is(await login({ ...late, email: person.email }), 'tokenExpired');
  });

  test('an account paused meanwhile', async () => {
    const person = await customer();
    const held = await holdLogin(api.database.db, person.id);
    await sql`update account set status = 'pause' where id = ${person.id}`.execute(api.database.db);
    is(await login({ ...held, email: person.email }), 'accountNotEnabled');
  });

  test('101013 is a wrong code here and an invalid token elsewhere, in three languages', async () => {
    const body = { onePassKey: 'x', email: a.user.email, vcode: '000000' };
    const seen = new Set<string>();
    for (const [tag, language] of [
      ['zh-TW', 'zh_TW'],
      ['zh-CN', 'zh_CN'],
      ['en-US', 'en_US'],
    ] as const) {
      const code = (await login(body, 'user', { 'accept-language': tag })).body.message as string;
      const token = (await self('x', 'user', { 'accept-language': tag })).body.message as string;
      assert.equal(token, errors.invalidToken.text[language]);
      seen.add(code).add(token);
    }
    assert.equal(seen.size, 6, [...seen].join(' | '));
    assert.ok(seen.has('Invalid Token'));
  });

  test('without a word about languages an error comes in the language of the account', async () => {
    const person = await customer();
    await sql`update account set language = 'zh_CN' where id = ${person.id}`.execute(api.database.db);
    const response = await api.app.inject({
      method: 'GET',
      url: '/api/v1/user/site/77777777',
      headers: { authorization: `Bearer ${person.token}` },
    });
    assert.equal(response.json().message, errors.parameter.text.zh_CN);
    const stranger = await api.app.inject({ method: 'GET', url: '/api/v1/user/sites' });
    assert.equal(stranger.json().message, errors.credentialFailed.text.zh_TW);
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
      const deadline = Date.now() + 5000;
      while ((await there()).status !== 403) assert.ok(Date.now() < deadline, 'the other process still lets the account in');
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
