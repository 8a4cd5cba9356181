/** `breakwater account` on the machine itself: what it lets in, what the audit says of it, and who is mailed. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { setAuthenticator } from '#server/account/factors.ts';
import { newSecret } from '#server/account/totp.ts';
import { appointOwner } from '#server/kit/owner.ts';
import { row } from '#server/store/db.ts';
import { checkInstallationKey } from '#server/store/key-check.ts';
import { writeSetting } from '#server/system/settings.ts';
import { testFolder } from '#system/engines.ts';
import { is, ok } from './expect.ts';
import { Api, password, type Person, type Tenant } from './harness.ts';
import { type Mailing, startMailing } from './mailing.ts';
import { textOf } from './smtp.ts';

let api: Api;
let mailing: Mailing;
let a: Tenant;
const folder = testFolder('machine');
before(async () => {
  api = await Api.start();
  mailing = await startMailing(api);
  a = await api.tenant('a');
  await mailing.serve(a);
  writeFileSync(join(folder, 'secret.key'), api.key, { mode: 0o600 });
  await checkInstallationKey(api.database.pool, api.key);
});
after(async () => {
  await mailing?.stop();
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const run = async (args: string[], data = folder) =>
  (
    await promisify(execFile)(process.execPath, [fileURLToPath(new URL('../../bin/account.ts', import.meta.url)), ...args], {
      env: { ...process.env, DATABASE_URL: api.database.url, BREAKWATER_DATA: data },
    })
  ).stdout;
const verify = (who: Person, secret = password) =>
  api.call('POST', `/${who.area}/verify`, { body: { email: who.email, password: secret } });
/** As each of these reads it. */
const lines = async (reader: Person, url: string) =>
  (await api.call('POST', `/${reader.area}/auditLogs`, { token: reader.token, body: { method: 'CLI', url } })).body.data as {
    accountName: string;
    url: string;
    status: number;
  }[];

/** A second factor of each kind: nothing but the password is left when it is gone. */
async function setUp(who: Person, twoFactor: 0 | 1) {
  const { db } = api.database;
  await setAuthenticator(db, api.services, who.id, newSecret(), 0);
  await sql`update account set "twoFactor" = ${twoFactor} where id = ${who.id}`.execute(db);
  await sql`insert into passkey ("accountID", name, "credentialID", "publicKey", counter, transports, host, "isSynced")
    values (${who.id}, 'Phone', ${`credential-${who.id}`}, '\\x00', 0, '{}', 'console.test', false)`.execute(db);
  await sql`insert into identity ("accountID", area, "clientID", issuer, subject, name) values (${who.id}, ${who.area}, ${a.client.id}, 'https://id.test', ${`s-${who.id}`}, 'Me')`.execute(
    db,
  );
}

test('a vendor who has lost the second factor gets in again, by the password', async () => {
  const vendor = await api.account('admin', 'vendor@test.test');
  await setUp(vendor, 0);
  await sql`update "mailServer" set "deletedAt" = now()`.execute(api.database.db);
  is(await verify(vendor), 'illegalEmailSettings');
  const said = await run(['factors', vendor.email, '--area=admin', '--drop']);
  assert.match(said, /the code by mail, 1 passkey, 1 linked identity\..*not told: no mail server is set/);
  assert.ok(ok(await verify(vendor)).body.accessToken);
  await sql`update "mailServer" set "deletedAt" = null`.execute(api.database.db);
  // the session of before is gone, and its line is there
  is(await api.call('GET', '/admin/account/self', { token: vendor.token }), 'invalidToken');
  const again = { ...vendor, token: ok(await verify(vendor)).body.accessToken as string };
  const [line] = await lines(again, 'factors');
  assert.deepEqual(
    [line?.accountName, line?.url, line?.status],
    ['console of the machine', `account factors --drop ${vendor.email}`, 200],
  );
});

test('second factors are taken away where they are lost: said, mailed of, in the audit of the person and of the operator', async () => {
  const { user } = a;
  await setUp(user, 1);
  await assert.rejects(run(['factors', user.email, '--area=user']), /breakwater account list/);
  await assert.rejects(run(['factors', user.email, '--area=client', '--drop']), /There is no account/);
  assert.equal(ok(await verify(user)).body.login2FAType, 1);
  const said = await run(['factors', user.email, '--area=user', '--drop']);
  assert.match(said, /the authenticator with its recovery codes, 1 passkey, 1 linked identity\..*A mail tells/);
  assert.match(textOf(await mailing.smtp.next(user.email)), /通行金鑰/);
  user.token = ok(await verify(user)).body.accessToken;
  for (const reader of [user, a.client]) assert.equal((await lines(reader, 'factors')).length, 1, reader.email);
  const kept = await row<{ n: number }>(
    api.database.db,
    sql`select (select count(*) from passkey where "accountID" = ${user.id}) + (select count(*) from identity where "accountID" = ${user.id})
      + (select count(*) from authenticator where "accountID" = ${user.id}) as n`,
  );
  assert.equal(Number(kept!.n), 0);
  // nothing is left to take away, and a code that the operator asks of everybody is asked on
  await writeSetting(api.database.db, a.client.id, 'accountVerify', true);
  assert.match(await run(['factors', user.email, '--area=user', '--drop']), /had no second factor[^]*verification CLIENT --off/);
  await writeSetting(api.database.db, a.client.id, 'accountVerify', false);
});

test('a new password stands where its person and its operator read it, with whose it was, and is mailed of', async () => {
  const person = await api.account('user', 'forgot@test.test', { parentClient: a.client.id });
  const said = await run(['password', person.email, '--area=user']);
  const made = / signs in with (\S+) from now on/.exec(said)![1]!;
  is(await api.call('GET', '/user/account/self', { token: person.token }), 'invalidToken');
  const mail = textOf(await mailing.smtp.next(person.email));
  assert.match(mail, /設定了新密碼/);
  assert.ok(!mail.includes(made));
  person.token = ok(await verify(person, made)).body.accessToken;
  for (const reader of [person, a.client]) {
    const found = await lines(reader, person.email);
    assert.deepEqual(
      found.map(({ url, status }) => [url, status]),
      [[`account password ${person.email}`, 200]],
      reader.email,
    );
  }
  const all = await row<{ text: string }>(api.database.db, sql`select jsonb_agg(a)::text as text from audit a`);
  assert.ok(!all!.text.includes(made));
  const whose = await row<{ touched: string[] }>(
    api.database.db,
    sql`select touched from audit where method = 'CLI' and url = ${`account password ${person.email}`}`,
  );
  assert.deepEqual(whose!.touched, [`account:${person.id}`]);
});

test('without the key of the installation nothing is kept that nobody could send, and that is said', async () => {
  const person = await api.account('user', 'keyless@test.test', { parentClient: a.client.id });
  const other = testFolder('machine-other');
  writeFileSync(join(other, 'secret.key'), Buffer.alloc(32, 7), { mode: 0o600 });
  assert.match(await run(['password', person.email, '--area=user'], other), /is not the key of this installation/);
  assert.equal(await row(api.database.db, sql`select 1 from mail`), undefined);
});

test('who the installation belongs to is said on the machine where its owner is gone, and taken from nobody who is there', async () => {
  const { db } = api.database;
  const b = await api.tenant('heir');
  const owner = async () => (await row<{ email: string }>(db, sql`select email from account where "isOwner"`))?.email;
  const first = await owner();
  assert.equal(first, a.client.email);
  await assert.rejects(run(['owner', b.client.email]), /owner is \S+, and is there/);
  const below = await api.account('client', 'below-heir@test.test', {
    rootID: b.client.id,
    parentID: b.client.id,
    keys: ['sites.view'],
  });
  await sql`update account set "deletedAt" = now() where id = ${a.client.id}`.execute(db);
  await appointOwner(db);
  assert.equal(await owner(), first, 'nobody becomes it by another going');
  await assert.rejects(run(['owner', below.email]), /no operator itself/);
  is(await api.call('GET', '/client/setting/system/retention', { token: b.client.token }), 'permissionDenied');
  assert.match(await run(['owner', b.client.email]), /is the installation's owner/);
  assert.equal(await owner(), b.client.email);
  ok(await api.call('GET', '/client/setting/system/retention', { token: b.client.token }));
  assert.equal((await lines(b.client, 'account owner')).length, 1);
});
