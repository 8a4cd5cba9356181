/** Passkeys: added with the password, signed in by, refused where anything about them is not as it should be. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import type { Area } from '#contract/kit/call.ts';
import { passkeys as limits } from '#contract/limits.ts';
import { signInChallenge } from '#server/account/passkey-challenges.ts';
import { Keys } from '#server/kit/crypto.ts';
import { Sealing } from '#server/kit/sealed.ts';
import { row, rows } from '#server/store/db.ts';
import { broken, by, is, ok } from './expect.ts';
import { Api, password, type Person, type Tenant } from './harness.ts';
import { PasskeyDevice, type Wrong } from './passkey-device.ts';
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
  [a, b] = [await api.tenant('a'), await api.tenant('b')];
  await mailing.serve(a);
});
after(async () => {
  await mailing?.stop();
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const console_ = 'console.test';
let people = 0;
const customer = (of = a) => api.account('user', `passkey-${++people}@test.test`, { parentClient: of.client.id });
interface At {
  host?: string;
  ip?: string;
  cookie?: string;
  agent?: string;
}
const at = ({ host = console_, ip, cookie, agent }: At = {}) => ({
  host,
  ...(ip ? { 'x-forwarded-for': ip } : {}),
  ...(cookie ? { cookie } : {}),
  ...(agent ? { 'user-agent': agent } : {}),
});
const options = (who: Pick<Person, 'token' | 'area'>, where: At = {}, secret = password) =>
  api.call('POST', `/${who.area}/account/passkey/options`, { token: who.token, body: { password: secret }, headers: at(where) });
const register = async (who: Person, device: PasskeyDevice, where: At = {}, wrong: Wrong = {}) =>
  api.call('POST', `/${who.area}/account/passkey`, {
    token: who.token,
    body: device.create(ok(await options(who, where)).body, 'Laptop', wrong),
  });
async function deviceOf(who: Person, where: At = {}): Promise<PasskeyDevice> {
  const device = new PasskeyDevice(`http://${where.host ?? console_}`);
  ok(await register(who, device, where));
  return device;
}
const challenge = async (area: Area = 'user', where: At = {}) =>
  ok(await api.call('POST', `/${area}/passkey/challenge`, { headers: at(where) })).body as { challenge: string; rpId: string };
const enter = async (device: PasskeyDevice, wrong: Wrong = {}, area: Area = 'user', where: At = {}) =>
  api.call('POST', `/${area}/passkey/verify`, { body: device.get(await challenge(area, where), wrong), headers: at(where) });
const listed = async (who: Person) => (await by(api, who).read(`/${who.area}/account/passkeys`)).passkeys;
const lastSignIn = async (of: Person) =>
  (await row<{ reason: string; status: number }>(
    api.database.db,
    sql`select reason, status from audit where "accountID" = ${of.id} and url like '%/passkey/verify' order by id desc limit 1`,
  ))!;

describe('one’s own passkeys', () => {
  for (const area of ['user', 'client', 'admin'] as const)
    test(`${area}: one is added with the password, shown, signed in by, and removed with the password`, async () => {
      const who =
        area === 'user'
          ? await customer()
          : await api.account(area, `passkey-${area}@test.test`, area === 'client' ? { rootID: a.client.id, keys: [] } : {});
      is(await options(who, {}, 'wrong password'), 'parameter');
      const device = await deviceOf(who);
      const [shown, ...others] = await listed(who);
      assert.deepEqual(others, []);
      assert.deepEqual([shown.name, shown.host, shown.isSynced, shown.lastUsedAt], ['Laptop', console_, false, null]);
      const tokens = ok(await enter(device, {}, area)).body;
      ok(await by(api, { token: tokens.accessToken }).get(`/${area}/account/self`));
      const [used] = await listed(who);
      assert.ok(used.lastUsedAt);
      const remove = (secret: string) => by(api, who).del(`/${area}/account/passkey`, { passkeyID: used.id, password: secret });
      is(await remove('wrong password'), 'parameter');
      ok(await remove(password));
      assert.deepEqual(await listed(who), []);
      is(await enter(device, {}, area), 'credentialFailed');
      // what was opened by it has ended, who removed it stays
      is(await by(api, { token: tokens.accessToken }).get(`/${area}/account/self`), 'invalidToken');
    });

  test('is mailed of, when one is added and when one is removed', async () => {
    const who = await customer();
    await deviceOf(who);
    assert.match(textOf(await smtp.next(who.email)), /Laptop/);
    const [{ id }] = await listed(who);
    ok(await by(api, who).del('/user/account/passkey', { passkeyID: id, password }));
    assert.match(textOf(await smtp.next(who.email)), /Laptop/);
  });

  test('a challenge serves once, one person and not for long; what is no answer to it is refused', async () => {
    const [who, other] = [await customer(), await customer()];
    const add = (of: Person, body: unknown) => api.call('POST', '/user/account/passkey', { token: of.token, body });
    const device = new PasskeyDevice(`http://${console_}`);
    const given = ok(await options(who)).body;
    assert.deepEqual(
      [given.rp.id, given.user.name, given.authenticatorSelection.userVerification, given.excludeCredentials],
      [console_, who.email, 'required', []],
    );
    is(await add(other, device.create(given)), 'tokenExpired');
    ok(await add(who, device.create(given)));
    is(await add(who, device.create(given)), 'tokenExpired');
    // one to sign in by adds nothing
    is(await add(who, new PasskeyDevice().create({ ...given, ...(await challenge()) })), 'tokenExpired');
    const late = ok(await options(who)).body;
    assert.equal(late.excludeCredentials[0].id, device.id);
    await sql`update "passkeyChallenge" set "expiredAt" = now() - interval '1 second'`.execute(api.database.db);
    is(await add(who, new PasskeyDevice().create(late)), 'tokenExpired');
    for (const wrong of [
      { origin: 'http://evil.test' },
      { origin: 'null' },
      { origin: 'https://console.test' },
      { host: 'evil.test' },
      { isUnverified: true },
      { isFramed: true },
    ] satisfies Wrong[])
      is(await register(who, new PasskeyDevice(), {}, wrong), 'invalidToken');
    // the same authenticator twice, also for somebody else
    is(await register(who, device), 'duplicated');
    is(await register(other, device), 'duplicated');
    // whoever sends a statement of who made it is not looked into
    ok(await register(other, new PasskeyDevice(), {}, { fmt: 'packed' }));
  });

  test('what was asked for with the old password adds nothing once there is another', async () => {
    const who = await customer();
    const body = new PasskeyDevice().create(ok(await options(who)).body);
    const next = 'another password 9';
    ok(await api.call('PATCH', '/user/password', { token: who.token, body: { oldPassword: password, password: next } }));
    is(await api.call('POST', '/user/account/passkey', { token: who.token, body }), 'tokenExpired');
  });

  test('what is no answer of a browser is refused, never an error of ours', async () => {
    const who = await customer();
    const device = await deviceOf(who);
    const garble = (text: string) => text.slice(0, -4) + 'AAAA';
    const made = new PasskeyDevice().create(ok(await options(who)).body);
    made.credential.response.attestationObject = garble(made.credential.response.attestationObject.slice(0, 60));
    is(await api.call('POST', '/user/account/passkey', { token: who.token, body: made }), 'invalidToken');
    for (const field of ['clientDataJSON', 'authenticatorData', 'signature'] as const)
      for (const value of ['AAAA', 'bnVsbA', '!!', 'x'.repeat(999)]) {
        const body = device.get(await challenge());
        body.credential.response[field] = value;
        is(await api.call('POST', '/user/passkey/verify', { body, headers: at() }), 'credentialFailed');
        api.sessions.tries.giveBack([
          { key: 'passkey 127.0.0.1', free: 1 },
          { key: 'address 127.0.0.1', free: 1 },
        ]);
      }
  });

  test('there are only so many, and another’s cannot be removed', async () => {
    const [who, other] = [await customer(), await customer()];
    for (let n = 0; n < limits.perAccountMax; n++) await deviceOf(who);
    broken(await register(who, new PasskeyDevice()), '', 'tooMany');
    const [{ id }] = await listed(who);
    broken(await by(api, other).del('/user/account/passkey', { passkeyID: id, password }), 'passkeyID', undefined, 404);
    assert.equal((await listed(who)).length, limits.perAccountMax);
  });

  test('whoever acts in another’s name sees none, adds none and removes none', async () => {
    const who = await customer();
    await deviceOf(who);
    const { accessToken: token } = ok(await by(api, a.client).post('/client/proxy', { id: who.id })).body;
    const acting = by(api, { token });
    is(await acting.get('/user/account/passkeys'), 'permissionDenied');
    is(await options({ token, area: 'user' }), 'permissionDenied');
    is(await acting.del('/user/account/passkey', { passkeyID: 1, password }), 'permissionDenied');
  });

  test('go with the second factor that whoever manages the account takes away', async () => {
    const who = await customer();
    const device = await deviceOf(who);
    const tokens = ok(await enter(device)).body;
    // a whole row sent back says that there is no second factor
    ok(await by(api, a.client).put('/client/account', { id: who.id, name: 'x', twoFactor: 2 }));
    assert.equal((await listed(who)).length, 1);
    ok(await by(api, a.client).put('/client/account', { id: who.id, twoFactor: 2 }));
    // its person is told, after the mail about the new passkey
    assert.match(textOf(await smtp.next(who.email)), /Laptop/);
    assert.match(textOf(await smtp.next(who.email)), /管理您帳號的人移除了/);
    is(await enter(device), 'credentialFailed');
    // what was opened by it has ended, and the audit names it
    is(await by(api, { token: tokens.accessToken }).get('/user/account/self'), 'invalidToken');
    const line = await row<{ changes: string }>(
      api.database.db,
      sql`select changes::text as changes from audit where "accountID" = ${a.client.id} and url = '/api/v1/client/account' order by id desc limit 1`,
    );
    assert.match(line!.changes, /passkey.*Laptop/);
  });
});

describe('signing in by one', () => {
  test('asks for nothing more, also of whom a code is asked', async () => {
    const who = await customer();
    const device = await deviceOf(who);
    await sql`update account set "twoFactor" = 1 where id = ${who.id}`.execute(api.database.db);
    const tokens = ok(await enter(device)).body;
    assert.equal(tokens.tokenType, 'Bearer');
    assert.deepEqual(await lastSignIn(who), { reason: 'signedIn byPasskey', status: 200 });
  });

  test('a challenge opens one session, however many send it, in its area, while it lasts', async () => {
    const device = await deviceOf(await customer());
    const body = device.get(await challenge());
    const send = (to: unknown, area = 'user') => api.call('POST', `/${area}/passkey/verify`, { body: to, headers: at() });
    const replies = await Promise.all([send(body), send(body), send(body)]);
    assert.deepEqual(replies.map(reply => reply.status).toSorted(), [200, 401, 401]);
    is(await send(body), 'tokenExpired');
    is(await send(device.get(await challenge('client'))), 'tokenExpired');
    is(await send(device.get({ challenge: 'of nobody' })), 'tokenExpired');
    const ago = (ms: number) => device.get({ challenge: signInChallenge(api.services.sealing, 'user', Date.now() - ms) });
    is(await send(ago(limits.challengeMinutes * 60_000 + 1)), 'tokenExpired');
    ok(await send(ago(limits.challengeMinutes * 60_000 - 10_000)));
    // by another installation, and with a later end written into it
    const strange = signInChallenge(new Sealing([new Keys(randomBytes(32))]), 'user');
    is(await send(device.get({ challenge: strange })), 'tokenExpired');
    const bytes = Buffer.from((await challenge()).challenge, 'base64url');
    bytes[21]! ^= 1;
    is(await send(device.get({ challenge: bytes.toString('base64url') })), 'tokenExpired');
    // one to add a passkey by opens nothing
    const who = await customer();
    is(await send(device.get(ok(await options(who)).body)), 'tokenExpired');
  });

  test('of another account, area or host, by another key, or with nobody seen, it is refused and written down', async () => {
    const [who, other] = [await customer(), await customer()];
    const [device, theirs] = [await deviceOf(who), await deviceOf(other)];
    for (const wrong of [
      { origin: 'http://evil.test' },
      { origin: 'http://console.test.evil.test' },
      { host: 'evil.test' },
      { isUnverified: true },
      { userHandle: theirs.userHandle },
      { userHandle: null },
    ] satisfies Wrong[]) {
      is(await enter(device, wrong), 'credentialFailed');
      assert.deepEqual(await lastSignIn(who), { reason: 'wrongPasskey', status: 401 });
    }
    is(await enter(device, { isFramed: true }), 'credentialFailed');
    is(await enter(device, {}, 'client'), 'credentialFailed');
    is(await enter(device, {}, 'admin'), 'credentialFailed');
    is(await enter(new PasskeyDevice()), 'credentialFailed');
    // the id of one, the key of another
    const body = theirs.get(await challenge());
    body.credential.id = device.id;
    is(await api.call('POST', '/user/passkey/verify', { body, headers: at() }), 'credentialFailed');
    ok(await enter(device));
  });

  test('a counter that goes back, or stands still, is a copy: refused, told by mail, and the original goes on', async () => {
    const who = await customer();
    const device = await deviceOf(who);
    await smtp.next(who.email);
    ok(await enter(device, { counter: 0 }));
    ok(await enter(device, { counter: 7 }));
    for (const counter of [6, 7, 0]) {
      is(await enter(device, { counter }), 'credentialFailed');
      assert.deepEqual(await lastSignIn(who), { reason: 'passkeyCopied', status: 401 });
      assert.match(textOf(await smtp.next(who.email)), /127\.0\.0\.1/);
    }
    ok(await enter(device, { counter: 8 }));
    // two at once that count the same: one of them
    const bodies = [device.get(await challenge(), { counter: 9 }), device.get(await challenge(), { counter: 9 })];
    const replies = await Promise.all(bodies.map(body => api.call('POST', '/user/passkey/verify', { body, headers: at() })));
    assert.deepEqual(replies.map(reply => reply.status).toSorted(), [200, 401]);
  });

  test('who is stopped, or comes from where nobody may, is told as after the password', async () => {
    const sub = await api.account('client', 'passkey-sub@test.test', { rootID: b.client.id, keys: [] });
    const device = await deviceOf(sub);
    const stop = (id: number, status: string) =>
      sql`update account set status = ${status} where id = ${id}`.execute(api.database.db);
    for (const id of [sub.id, b.client.id]) {
      await stop(id, 'pause');
      is(await enter(device, {}, 'client'), 'accountNotEnabled');
      assert.deepEqual(await lastSignIn(sub), { reason: 'pause', status: 403 });
      await stop(id, 'normal');
    }
    const networks = '/client/setting/system/restrictGroupCIDRs';
    const held = await by(api, b.client).read(networks);
    const field = Object.keys(held).find(name => Array.isArray(held[name]))!;
    ok(await by(api, b.client).put(networks, { [field]: ['127.0.0.0/8'] }));
    is(await enter(device, {}, 'client', { ip: '192.0.2.77' }), 'permissionDenied');
    assert.deepEqual(await lastSignIn(sub), { reason: 'permissionDenied', status: 403 });
    ok(await enter(device, {}, 'client'));
    ok(await by(api, b.client).put(networks, { [field]: [] }));
  });

  test('works at the hosts of the installation and of one’s own operator, at no other’s', async () => {
    const brand = (of: Tenant, hostname: string) =>
      sql`insert into brand ("clientID", hostname) values (${of.client.id}, ${hostname})`.execute(api.database.db);
    await brand(a, 'a.test');
    await brand(b, 'b.test');
    const who = await customer();
    const there = new PasskeyDevice('https://a.test');
    ok(await register(who, there, { host: 'a.test' }));
    broken(await options(who, { host: 'b.test' }), '', 'passkeyHost');
    broken(await options(who, { host: '127.0.0.1' }), '', 'passkeyHost');
    is(await register(who, new PasskeyDevice('https://b.test')), 'invalidToken');
    ok(await enter(there, {}, 'user', { host: 'a.test' }));
    assert.equal((await challenge('user', { host: 'A.test' })).rpId, 'a.test');
    // the hostname went to somebody else: whoever holds it now could ask for it
    await sql`update brand set "clientID" = ${b.client.id} where hostname = 'a.test'`.execute(api.database.db);
    is(await enter(there, {}, 'user', { host: 'a.test' }), 'credentialFailed');
    // the vendor's people have the installation's address alone
    const admin = await api.account('admin', 'passkey-host@test.test');
    broken(await options(admin, { host: 'b.test' }), '', 'passkeyHost');
    ok(await options(admin));
  });

  test('brings the mark of the device, and a mail about one that is new', async () => {
    const who = await customer();
    const device = await deviceOf(who);
    await smtp.next(who.email);
    const first = ok(await enter(device, {}, 'user', { agent: 'curl/8' }));
    const cookie = String(first.headers['set-cookie']).split(';')[0]!;
    ok(await enter(device, {}, 'user', { agent: 'wget/1', cookie }));
    assert.deepEqual(await lastSignIn(who), { reason: 'signedIn byPasskey knownDevice', status: 200 });
    ok(await enter(device, {}, 'user', { agent: 'wget/1', ip: '198.51.100.7' }));
    assert.match(textOf(await smtp.next(who.email)), /198\.51\.100\.7/);
  });

  test('tries are counted by address and delayed; a known device has a count of its own; challenges have a bound', async () => {
    const who = await customer();
    const device = await deviceOf(who);
    const cookie = String(ok(await enter(device)).headers['set-cookie']).split(';')[0]!;
    const ip = '203.0.113.9';
    let told = 0;
    for (let n = 0; n < limits.triesFreeOfAddress + 5 && !told; n++) {
      const body = new PasskeyDevice().get({ challenge: 'x' });
      const reply = await api.call('POST', '/user/passkey/verify', { body, headers: at({ ip }) });
      if (reply.status === 429) told = reply.body.extra.retryAfter;
    }
    assert.ok(told > 0);
    assert.equal((await enter(device, {}, 'user', { ip })).status, 429);
    ok(await enter(device, {}, 'user', { ip, cookie }));
    let asked = 0;
    const { tries } = api.sessions;
    const began = tries.now();
    // what was counted fades by the minute, and a busy machine takes its time
    tries.now = () => began;
    while (
      asked < 200 &&
      (await api.call('POST', '/user/passkey/challenge', { headers: at({ ip: '203.0.113.10' }) })).status === 200
    )
      asked++;
    tries.now = () => performance.now();
    assert.equal(asked, limits.challengesFreeOfAddress);
  });

  test('a passkey that is being removed opens nothing that outlives it', async () => {
    for (let n = 0; n < 4; n++) {
      const who = await customer();
      const device = await deviceOf(who);
      const [{ id }] = await listed(who);
      const [entered, removed] = await Promise.all([
        enter(device),
        by(api, who).del('/user/account/passkey', { passkeyID: id, password }),
      ]);
      ok(removed);
      if (entered.status === 200)
        is(await by(api, { token: entered.body.accessToken }).get('/user/account/self'), 'invalidToken');
    }
  });

  test('neither challenge nor signature is written down', async () => {
    const who = await customer();
    const device = await deviceOf(who);
    const body = device.get(await challenge());
    ok(await api.call('POST', '/user/passkey/verify', { body, headers: at() }));
    const lines = await rows<{ text: string }>(
      api.database.db,
      sql`select coalesce(body::text, '') || coalesce(changes::text, '') as text from audit`,
    );
    assert.ok(!lines.some(({ text }) => text.includes(body.credential.response.signature)));
  });
});
