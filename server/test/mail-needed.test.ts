/** A mail server that goes locks nobody out (§4; decisions.md, Sessions). */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { ok } from './expect.ts';
import { Api, password, type Person, type Tenant } from './harness.ts';
import { type Mailing, startMailing } from './mailing.ts';

let api: Api;
let mailing: Mailing;
/** owner of the installation, and an operator without a server of its own */
let a: Tenant;
let b: Tenant;
before(async () => {
  api = await Api.start();
  mailing = await startMailing(api);
  a = await api.tenant('a');
  b = await api.tenant('b');
  await mailing.serve(a);
  ok(await api.call('POST', '/client/setting/email/test', { token: a.client.token }));
});
after(async () => {
  await mailing?.stop();
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

let people = 0;
const customer = (of = a) => api.account('user', `needs-mail-${++people}@test.test`, { parentClient: of.client.id });
const enable = (enabled: boolean, of: Tenant) =>
  api.call('PUT', '/client/setting/system/accountVerify', { token: of.client.token, body: { enabled } });

const noServer = { host: '', port: 587, security: 'starttls', username: '', password: null, fromAddress: '', fromName: '' };

test('a mail server that people are mailed codes by is not removed: who they are is counted, of other operators too', async () => {
  const remove = async () => {
    const reply = await api.call('PUT', '/client/setting/email', {
      token: a.client.token,
      body: { ...noServer, ownPassword: password },
    });
    return reply.status === 200 ? 'removed' : reply.body.errorData.map((one: object) => ({ ...one }));
  };
  const twoFactor = (who: Person, type: number) =>
    sql`update account set "twoFactor" = ${type} where id = ${who.id}`.execute(api.database.db);
  const [own, foreign] = [await customer(), await customer(b)];
  const vendor = await api.account('admin', 'vendor@test.test');
  await twoFactor(own, 0);
  assert.deepEqual(await remove(), [{ path: 'host', rule: 'mailServerNeeded', bounds: { count: 1 } }]);
  await twoFactor(foreign, 0);
  await twoFactor(vendor, 0);
  assert.deepEqual(await remove(), [{ path: 'host', rule: 'mailServerNeededByOthers', bounds: { count: 3, others: 2 } }]);
  for (const who of [own, foreign, vendor]) await twoFactor(who, 2);
  // an operator that sends through the owner’s asks a code of everybody
  ok(await enable(true, b));
  assert.equal((await remove())[0].rule, 'mailServerNeededByOthers');
  ok(await enable(false, b));
  // who has an authenticator needs no mail
  await twoFactor(own, 1);
  assert.equal(await remove(), 'removed');
});
