/** What passkeys leave behind, and what becomes of them with the installation's keys. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { passkeys as limits } from '#contract/limits.ts';
import { earlierHandles, keepEarlierHandles } from '#server/account/passkey-handles.ts';
import { signInChallenge } from '#server/account/passkey-challenges.ts';
import { Keys } from '#server/kit/crypto.ts';
import { Sealing } from '#server/kit/sealed.ts';
import { row } from '#server/store/db.ts';
import { is, ok } from './expect.ts';
import { Api, password, type Person, type Tenant } from './harness.ts';
import { PasskeyDevice, type Wrong } from './passkey-device.ts';

let api: Api;
// an operator without a mail server: nothing sealed is needed
let b: Tenant;
before(async () => {
  api = await Api.start();
  b = await api.tenant('b');
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});
const host = 'console.test';
let people = 0;
const customer = () => api.account('user', `passkey-key-${++people}@test.test`, { parentClient: b.client.id });
const post = (path: string, body?: unknown, token?: string, ip?: string) =>
  api.call('POST', path, {
    ...(body ? { body } : {}),
    ...(token ? { token } : {}),
    headers: { host, ...(ip ? { 'x-forwarded-for': ip } : {}) },
  });
const options = (who: Person) => post('/user/account/passkey/options', { password }, who.token);
async function deviceOf(who: Person): Promise<PasskeyDevice> {
  const device = new PasskeyDevice(`http://${host}`);
  ok(await post('/user/account/passkey', device.create(ok(await options(who)).body), who.token));
  return device;
}
const challenge = async (ip?: string) =>
  ok(await post('/user/passkey/challenge', undefined, undefined, ip)).body as { challenge: string };
const enter = async (device: PasskeyDevice, wrong: Wrong = {}) =>
  post('/user/passkey/verify', device.get(await challenge(), wrong));

test('challenges that thousands ask for leave no row; one that nobody of ours signed leaves none either', async () => {
  const used = async () =>
    (await row<{ n: number }>(api.database.db, sql`select count(*)::int as n from "passkeyChallenge" where "accountID" is null`))!
      .n;
  const before = await used();
  for (let i = 0; i < 50; i++) await challenge(`203.0.113.${i}`);
  const device = await deviceOf(await customer());
  is(await enter(new PasskeyDevice()), 'credentialFailed');
  is(await enter(device, { origin: 'http://evil.test' }), 'credentialFailed');
  assert.equal(await used(), before);
  ok(await enter(device));
  assert.equal(await used(), before + 1);
});

test('a challenge of a machine whose clock is ahead is known as used for longer than it holds, or not taken', async () => {
  const device = await deviceOf(await customer());
  const ahead = (ms: number) =>
    post('/user/passkey/verify', device.get({ challenge: signInChallenge(api.services.sealing, 'user', Date.now() + ms) }));
  ok(await ahead(50_000));
  const used = await row<{ s: number }>(
    api.database.db,
    sql`select extract(epoch from max("expiredAt") - now())::int as s from "passkeyChallenge" where "accountID" is null`,
  );
  assert.ok(used!.s >= 2 * limits.challengeMinutes * 60 + 30, `${used!.s}`);
  is(await ahead(90_000), 'tokenExpired');
});

test('a passkey goes on when the installation has another key, also one that an earlier release made', async () => {
  const [mine, other] = [api.services.sealing, new Sealing([new Keys(randomBytes(32))])];
  const { db } = api.database;
  const [who, earlier, late] = [await customer(), await customer(), await customer()];
  const devices = await Promise.all([who, earlier, late].map(one => deviceOf(one)));
  for (const [one, device] of [
    [earlier, devices[1]!],
    [late, devices[2]!],
  ] as const) {
    device.userHandle = earlierHandles(mine, one.id)[0]!;
    await sql`delete from "passkeyHandle" where "accountID" = ${one.id}`.execute(db);
  }
  await keepEarlierHandles(db, mine);
  // one whose key was forgotten before
  await sql`delete from "passkeyHandle" where "accountID" = ${late.id}`.execute(db);
  ok(await enter(devices[2]!));
  api.services.sealing = other;
  try {
    ok(await enter(devices[0]!));
    ok(await enter(devices[1]!));
    is(await enter(devices[2]!), 'credentialFailed');
    assert.equal((await options(who)).body.user.id, devices[0]!.userHandle);
  } finally {
    api.services.sealing = mine;
  }
});
