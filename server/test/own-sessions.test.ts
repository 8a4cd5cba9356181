/** One's own sessions with their devices, ended from afar, and the mail about a device that was not seen before. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { deviceOf } from '#server/account/device.ts';
import { GeoData } from '#server/resolution/geo/data.ts';
import { rows } from '#server/store/db.ts';
import { testFolder } from '#system/engines.ts';
import { broken, by, is, mark, ok } from './expect.ts';
import { asnOf, cityOf, mmdb } from './geo-files.ts';
import { Api, password, type Person, type Tenant } from './harness.ts';
import { type Mailing, startMailing } from './mailing.ts';
import { type Smtp, textOf } from './smtp.ts';

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const safari =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';
let api: Api;
let smtp: Smtp;
let mailing: Mailing;
let a: Tenant;
before(async () => {
  api = await Api.start();
  mailing = await startMailing(api);
  ({ smtp } = mailing);
  a = await api.tenant('a');
  await mailing.serve(a);
});
after(async () => {
  await mailing?.stop();
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

interface Shown {
  id: string;
  isCurrent: boolean;
  isProxy: boolean;
  device: { browser: string; system: string; kind: string };
  address: string | null;
}
let people = 0;
const customer = () => api.account('user', `device-${++people}@test.test`, { parentClient: a.client.id });
const signIn = async (who: Person, userAgent: string, cookie?: string) => {
  const headers = { 'user-agent': userAgent, ...(cookie ? { cookie } : {}) };
  const reply = ok(await api.call('POST', `/${who.area}/verify`, { body: { email: who.email, password }, headers }));
  return {
    token: reply.body.accessToken as string,
    tokens: reply.body,
    cookie: String(reply.headers['set-cookie']).split(';')[0]!,
  };
};
const shown = async (token: string): Promise<Shown[]> => (await by(api, { token }).read('/user/account/sessions')).sessions;
const isIn = async (token: string) => (await by(api, { token }).get('/user/account/self')).status === 200;

describe('one’s own sessions', () => {
  test('are shown with device and address, the one that asks first', async () => {
    const person = await customer();
    const [laptop, phone] = [await signIn(person, firefox), await signIn(person, safari)];
    const seen = await shown(laptop.token);
    assert.deepEqual(
      seen.slice(0, 2).map(({ isCurrent, device, address }) => ({ isCurrent, ...device, address })),
      [
        { isCurrent: true, browser: 'Firefox 140', system: 'Linux', kind: 'desktop', address: '127.0.0.1' },
        { isCurrent: false, browser: 'Safari 18', system: 'iOS', kind: 'mobile', address: '127.0.0.1' },
      ],
    );
    // the harness opened one that nobody came for
    assert.deepEqual([seen.length, seen[2]?.address, seen[2]?.device.browser], [3, null, '']);
    assert.equal((await shown(phone.token)).filter(one => one.isCurrent).length, 1);
    // what renews a session is seen with it
    const { accessToken, refreshToken } = phone.tokens;
    const renewed = await api.call('PATCH', '/user', {
      body: { accessToken, refreshToken },
      headers: { 'user-agent': 'curl/8.5.0' },
    });
    const [first] = await shown(ok(renewed).body.accessToken);
    assert.deepEqual(first?.device, { browser: 'curl 8', system: '', kind: 'other' });
  });

  test('are ended one by one, with what was opened from them, and leave a line', async () => {
    const root = await api.account('client', `device-${++people}@test.test`);
    const guest = await api.account('user', `device-${++people}@test.test`, { parentClient: root.id });
    const [here, there] = [await signIn(root, firefox), await signIn(root, safari)];
    const door = ok(await by(api, there).post('/client/proxy', { id: guest.id })).body.accessToken as string;
    assert.ok(await isIn(door));
    const own = by(api, here);
    const { sessions } = await own.read('/client/account/sessions');
    const other = sessions.find((one: Shown) => one.device.kind === 'mobile');
    const look = await mark(api);
    ok(await own.del('/client/account/session', { sessionID: other.id }));
    assert.deepEqual(
      (await look.audits()).map(({ method, url, body }) => [method, url, body['sessionID']]),
      [['DELETE', '/api/v1/client/account/session', other.id]],
    );
    is(await by(api, there).get('/client/account/self'), 'invalidToken');
    assert.ok(!(await isIn(door)));
    broken(await own.del('/client/account/session', { sessionID: other.id }), 'sessionID', undefined, 404);
    // nobody else’s, and nothing that is none
    const stranger = await customer();
    const [theirs] = await shown(stranger.token);
    broken(await own.del('/client/account/session', { sessionID: theirs!.id }), 'sessionID', undefined, 404);
    assert.ok(await isIn(stranger.token));
    broken(await own.del('/client/account/session', { sessionID: "1' or true --" }), 'sessionID');
  });

  test('all others at once: the one that asks stays, with what it opened', async () => {
    const root = await api.account('client', `device-${++people}@test.test`);
    const guest = await api.account('user', `device-${++people}@test.test`, { parentClient: root.id });
    const [here, there] = [await signIn(root, firefox), await signIn(root, safari)];
    const door = ok(await by(api, here).post('/client/proxy', { id: guest.id })).body.accessToken as string;
    assert.deepEqual(ok(await by(api, here).del('/client/account/sessions')).body, { ended: 2 });
    is(await by(api, there).get('/client/account/self'), 'invalidToken');
    assert.equal((await by(api, here).read('/client/account/sessions')).total, 1);
    assert.ok(await isIn(door));
    // whoever acts in another's name is told nothing of the other's devices, and ends none; its owner sees that somebody does
    is(await by(api, { token: door }).get('/user/account/sessions'), 'permissionDenied');
    is(await by(api, { token: door }).del('/user/account/sessions'), 'permissionDenied');
    const proxied = (await shown(guest.token)).filter(one => one.isProxy);
    assert.deepEqual([proxied.length, proxied[0]?.address, proxied[0]?.device.browser], [1, null, '']);
    ok(await by(api, guest).del('/user/account/sessions'));
    assert.ok(!(await isIn(door)));
  });
});

describe('a device that was not seen before', () => {
  test('is mailed of, once and in the reader’s language; the first sign-in and known ones are not', async () => {
    const person = await customer();
    await sql`update account set language = 'zh_TW' where id = ${person.id}`.execute(api.database.db);
    const laptop = await signIn(person, firefox);
    // the same browser at the same address, with its mark and without
    await signIn(person, firefox, laptop.cookie);
    await signIn(person, firefox);
    await signIn(person, `${firefox} another`, laptop.cookie);
    await signIn(person, safari);
    const mail = textOf(await smtp.next(person.email));
    for (const part of ['Safari 18, iOS', '127.0.0.1', '沒有見過的裝置']) assert.ok(mail.includes(part), mail);
    await signIn(person, safari);
    assert.deepEqual(await rows(api.database.db, sql`select 1 from mail`), []);
    assert.deepEqual(
      smtp.mails.filter(one => one.to.includes(person.email)),
      [],
    );
  });

  test('is mailed of again once it was signed out from afar', async () => {
    const person = await customer();
    const laptop = await signIn(person, firefox);
    const mails = () => smtp.mails.filter(one => one.to.includes(person.email)).length;
    for (const end of [
      async () => {
        for (const { id } of (await shown(laptop.token)).filter(one => one.device.kind === 'mobile'))
          ok(await by(api, laptop).del('/user/account/session', { sessionID: id }));
      },
      async () => ok(await by(api, laptop).del('/user/account/sessions')),
    ]) {
      await signIn(person, safari);
      await smtp.next(person.email);
      await signIn(person, safari);
      await end();
    }
    await signIn(person, safari);
    await smtp.next(person.email);
    await signIn(person, firefox);
    assert.equal(mails(), 0);
  });

  test('is not silenced by whoever acts in one’s name', async () => {
    const guest = await customer();
    const door = ok(await by(api, a.client).post('/client/proxy', { id: guest.id })).body.accessToken as string;
    const own = by(api, { token: door });
    is(await own.put('/user/account/self', { newDeviceMail: false }), 'permissionDenied');
    ok(await own.put('/user/account/self', { name: 'renamed', newDeviceMail: true }));
    assert.equal((await by(api, guest).read('/user/account/self')).newDeviceMail, true);
  });

  test('is not mailed of to who does not want it, and a flood of them fills no mailbox', async () => {
    const quiet = await customer();
    ok(await by(api, quiet).put('/user/account/self', { newDeviceMail: false }));
    assert.equal((await by(api, quiet).read('/user/account/self')).newDeviceMail, false);
    await signIn(quiet, firefox);
    await signIn(quiet, safari);
    const flooded = await customer();
    const begun = api.sessions.tries.now();
    api.sessions.tries.now = () => begun;
    for (let n = 0; n < 12; n++) await signIn(flooded, `browser/${n}`);
    const waiting = await rows(api.database.db, sql`select 1 from mail`);
    const gone = smtp.mails.filter(one => one.to.includes(flooded.email));
    assert.ok(waiting.length + gone.length <= 6, `${waiting.length} and ${gone.length}`);
    await smtp.next(flooded.email);
    assert.ok(!smtp.mails.some(one => one.to.includes(quiet.email)));
  });
});

test('where it is stands beside its address, in the list and in the mail, with whoever made the data; what nobody knows is left out', async () => {
  const geo = new GeoData(testFolder('own-sessions-geo'), { hasPackages: false });
  try {
    (
      await geo.take(
        mmdb({ '198.51.100.0/24': cityOf('AS', 'TW', 'TPE', 'Taipei'), '203.0.113.0/24': cityOf('EU', 'DE', 'BE', 'Berlin') }),
      )
    ).count();
    (
      await geo.take(
        mmdb({ '198.51.100.0/24': asnOf(3462, 'Chunghwa Telecom'), '203.0.113.0/24': asnOf(64_500, 'win.test/now') }),
      )
    ).count();
    api.services.geo = geo;
    const person = await customer();
    await sql`update account set language = 'zh_TW' where id = ${person.id}`.execute(api.database.db);
    const from = async (ip: string, userAgent: string) =>
      ok(
        await api.call('POST', '/user/verify', {
          body: { email: person.email, password },
          headers: { 'user-agent': userAgent },
          socket: ip,
        }),
      ).body.accessToken as string;
    const token = await from('127.0.0.1', firefox);
    await from('198.51.100.7', safari);
    const mail = textOf(await smtp.next(person.email));
    assert.match(mail, /198\.51\.100\.7（台灣，Taipei，AS3462 Chunghwa Telecom/);
    // whoever has an ASN chose its name: nothing that a mail program makes a link of
    await from('203.0.113.7', 'curl/8.5.0');
    const other = textOf(await smtp.next(person.email));
    assert.match(other, /203\.0\.113\.7（德國，Berlin，AS64500/);
    assert.doesNotMatch(other, /win\.test/);
    const { sessions } = await by(api, { token }).read('/user/account/sessions');
    const placeAt = (address: string) => sessions.find((one: Shown) => one.address === address)?.place;
    const known = { country: 'TW', region: 'TPE', regionName: 'Taipei', asn: 3462, organisation: 'Chunghwa Telecom' };
    assert.deepEqual(placeAt('198.51.100.7'), { continent: 'AS', ...known });
    assert.equal(placeAt('127.0.0.1'), null);
  } finally {
    delete api.services.geo;
    geo.stop();
  }
});

test('what a browser says of itself is read to words, whatever it says', () => {
  const told = (userAgent: string) => Object.values(deviceOf(userAgent));
  const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
  assert.deepEqual(told(`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome}`), ['Chrome 142', 'Windows', 'desktop']);
  assert.deepEqual(told(`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${chrome} Edg/142.0.0.0`), [
    'Microsoft Edge 142',
    'macOS',
    'desktop',
  ]);
  assert.deepEqual(told('python-requests/2.32.3'), ['python-requests 2', '', 'other']);
  for (const odd of ['', ' ', '<script>', '/'.repeat(300), 'Mozilla/5.0', '(((((', 'a'.repeat(300)])
    assert.deepEqual(told(odd).slice(1), ['', 'other'], odd);
  // a stranger who knows the password writes nothing of their own into our mail, and no list fails of it
  for (const odd of ['Mozilla/5.0 Confirm at http://evil.test/x now /1 (foo', `Mozilla/5.0 ${'x'.repeat(250)} /1 `])
    assert.deepEqual(told(odd), ['Mozilla 5', '', 'other']);
  assert.deepEqual(told('evil.test/1'), ['', '', 'other']);
});
