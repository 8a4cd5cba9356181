/** Signing in by guessing: what is counted, who waits, and what the audit says of it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { Tries } from '#server/kit/tries.ts';
import { rows } from '#server/store/db.ts';
import { ok } from './expect.ts';
import { password, type Reply } from './harness.ts';
import { a, api, customer, is, verify } from './signing.ts';

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

  test('whoever has a /48 has no more tries than a few visitors have, whichever of its networks it takes', async () => {
    const person = await customer();
    for (let i = 0; i < 30; i++)
      is(await verify(person.email, 'wrong password', 'user', from(`2001:db8:48:${i}::1`)), 'credentialFailed');
    is(await verify(person.email, password, 'user', from('2001:db8:48:99::1')), 'credentialFailed', 429);
    assert.equal((await verify(person.email, password, 'user', from('2001:db8:49:99::1'))).status, 200);
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
    // the first of the signature's letters: of the last one, some bits say nothing
    const at = value.lastIndexOf('.') + 1;
    const forged = `${name}=${value.slice(0, at)}${value[at] === 'A' ? 'B' : 'A'}${value.slice(at + 1)}`;
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

  test('a wrong password of one’s own, wherever it is asked for, and signing out', async () => {
    const person = await customer();
    const own = { token: person.token };
    const wrong = { password: 'a secret typed wrongly' };
    await api.call('POST', '/user/login2fa/phase0', { ...own, body: wrong });
    await api.call('POST', '/user/account/passkey/options', { ...own, body: wrong });
    await api.call('POST', '/user/account/identity/start', { ...own, body: { ...wrong, origin: 'http://console.test' } });
    const { accessToken, refreshToken } = person.tokens;
    ok(await api.call('DELETE', '/user', { body: { accessToken, refreshToken } }));
    const said = await rows<{ method: string; url: string; status: number; reason: string; clientID: number; userID: number }>(
      api.database.db,
      sql`select method, url, status, reason, "clientID", "userID" from audit where "accountID" = ${person.id} order by id`,
    );
    const line = { clientID: a.client.id, userID: person.id };
    const refused = { ...line, method: 'POST', status: 400, reason: 'parameter; password wrongPassword' };
    assert.deepEqual(said, [
      { ...refused, url: '/api/v1/user/login2fa/phase0' },
      { ...refused, url: '/api/v1/user/account/passkey/options' },
      { ...refused, url: '/api/v1/user/account/identity/start' },
      { ...line, method: 'DELETE', url: '/api/v1/user', status: 200, reason: 'signedOut' },
    ]);
    assert.ok(
      !JSON.stringify(await rows(api.database.db, sql`select * from audit where "accountID" = ${person.id}`)).includes(
        'typed wrongly',
      ),
    );
    // what went well changed nothing, and leaves none
    const again = await customer();
    ok(await api.call('POST', '/user/login2fa/phase0', { token: again.token, body: { password } }));
    assert.deepEqual(await rows(api.database.db, sql`select 1 from audit where "accountID" = ${again.id}`), []);
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
