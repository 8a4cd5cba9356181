/** Who decides where secrets and notices go: the mail server, the console's address, backups, webhooks, chats. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { groups } from '#contract/index.ts';
import { type CallDef, mounted } from '#contract/kit/call.ts';
import { setAuthenticator } from '#server/account/factors.ts';
import { codeAt, newSecret, stepAt } from '#server/account/totp.ts';
import { rows } from '#server/store/db.ts';
import { broken, is, ok } from './expect.ts';
import { defOf } from './guards/generate.ts';
import { Api, password, type Person, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
/** whose keys are all of its area's, and that is no root */
let sub: Person;
let token: string;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  const keys = ok(await api.call('GET', '/client/account/self', { token: a.client.token })).body.permissionKeys as string[];
  sub = await api.account('client', 'weak@test.test', { rootID: a.client.id, parentID: a.client.id, keys });
  const made = await api.call('POST', '/client/apiToken', { token: a.client.token, body: { name: 't', permissionKeys: keys } });
  token = ok(made).body.token;
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const mail = { host: 'mail.example.net', port: 587, security: 'starttls', username: '', fromAddress: 'a@b.test', fromName: 'A' };
const backup = {
  ...{ enabled: false, every: 'day', hour: 3, weekday: 1, timezone: 'UTC', target: 'folder', folder: '', endpoint: '' },
  ...{ region: '', bucket: '', prefix: '', accessKeyID: '', logs: false, keep: 3, restoreTest: false },
};
const bodies: Readonly<Record<string, object>> = {
  'PUT /client/setting/email': mail,
  'PUT /client/setting/system/outgoingURL': { outgoingURL: 'https://evil.test' },
  'PUT /client/setting/system/DBBackup': backup,
};
const put = (key: string, body: object, as = a.client.token) =>
  api.call('PUT', key.slice('PUT '.length), { token: as, body: { ...bodies[key], ownPassword: password, ...body } });
const isPresent = ({ present }: CallDef) => present === true;

test('where secrets go says the root’s own person, with the password: no token, no sub-account, nobody in its name', async () => {
  const calls = [...mounted(groups)].filter(({ def }) => isPresent(def));
  assert.deepEqual(calls.map(({ key }) => key).sort(), Object.keys(bodies).sort());
  const vendor = await api.account('admin', 'vendor@test.test');
  const proxied = ok(await api.call('POST', '/admin/proxy', { token: vendor.token, body: { id: a.client.id } })).body.accessToken;
  for (const { key } of calls) {
    for (const other of [token, sub.token, proxied]) is(await put(key, {}, other), 'permissionDenied');
    broken(await put(key, { ownPassword: undefined }), 'ownPassword', 'required');
    broken(await put(key, { ownPassword: 'another than that' }), 'ownPassword', 'wrongPassword');
    ok(await put(key, {}));
  }
  const told = await rows<{ text: string }>(api.database.db, sql`select to_jsonb(a)::text as text from audit a`);
  assert.ok(told.length > 6 && !told.some(({ text }) => text.includes(password)));
});

test('where the root’s sign-in takes a code, so does this; a form that is refused uses up none', async () => {
  const { db } = api.database;
  const app = newSecret();
  await setAuthenticator(db, api.services, a.client.id, app, 0);
  await sql`update account set "twoFactor" = 1 where id = ${a.client.id}`.execute(db);
  const key = 'PUT /client/setting/email';
  broken(await put(key, {}), 'code', 'factorByApp');
  const code = codeAt(app, stepAt(Date.now()));
  broken(await put(key, { code, fromAddress: '' }), 'fromAddress', 'required');
  ok(await put(key, { code }));
  broken(await put(key, { code }), 'code', 'wrongCode');
  await sql`update account set "twoFactor" = 2 where id = ${a.client.id}`.execute(db);
});

test('each call that says where something goes asks who is there, or says why it need not', () => {
  const address = /^(host|url|endpoint|outgoingURL|issuer|chatID)$/;
  const found = [...mounted(groups)].filter(
    ({ method, path, def }) =>
      method === 'PUT' &&
      /^\/[a-z]+\/setting\//.test(path) &&
      Object.keys(defOf(def.body).shape ?? {}).some(name => address.test(name)),
  );
  const without = found.filter(({ def }) => !isPresent(def)).map(({ key }) => key);
  assert.deepEqual([...new Set(without)].sort(), [
    // its secret goes nowhere else: for another place it is asked for anew
    'PUT /client/setting/dns/geoData/source',
    // asks for the password itself, by names of its own
    'PUT /client/setting/system/oidc',
    // no secret goes there: what happened, by name, and the root alone says where to (below)
    'PUT /{area}/setting/tg',
    'PUT /{area}/setting/webhook',
  ]);
});

test('a webhook and a chat tell what the root sees, so the root says where to and of what; others with the key tell less', async () => {
  const hook = {
    enable: true,
    url: 'https://hooks.example.net/x',
    secret: 'a secret that is long',
    kinds: ['originDown', 'accountLocked'],
  };
  const set = (body: object, as = a.client.token) => api.call('PUT', '/client/setting/webhook', { token: as, body });
  is(await set(hook, token), 'permissionDenied');
  broken(await set(hook, sub.token), 'url', 'rootSends');
  // nor somebody in its name, who would go on hearing of it
  const vendor = await api.account('admin', 'acting@test.test');
  const acting = ok(await api.call('POST', '/admin/proxy', { token: vendor.token, body: { id: a.client.id } })).body.accessToken;
  broken(await set(hook, acting), 'url', 'rootSends');
  // nor do they take off the code that other calls here ask for
  await sql`insert into setting ("clientID", key, value) values (${a.client.id}, 'accountVerify', 'true')`.execute(
    api.database.db,
  );
  const off = (as: string) => api.call('PUT', '/client/setting/system/accountVerify', { token: as, body: { enabled: false } });
  for (const other of [acting, sub.token]) is(await off(other), 'permissionDenied');
  ok(await off(a.client.token));
  ok(await set(hook));
  const { secret: _, ...kept } = hook;
  broken(await set({ ...kept, url: 'https://elsewhere.example.net/' }, sub.token), 'url', 'rootSends');
  broken(await set({ ...kept, secret: 'another that is long' }, sub.token), 'url', 'rootSends');
  // none stands for all
  for (const kinds of [[], [...hook.kinds, 'nodeOffline']])
    broken(await set({ ...kept, kinds }, sub.token), 'kinds', 'rootSends');
  ok(await set({ ...kept, kinds: ['originDown'] }, sub.token));
  ok(await set({ ...kept, enable: false, kinds: ['originDown'] }, sub.token));
  broken(await set({ ...kept, kinds: ['originDown'] }, sub.token), 'url', 'rootSends');
  const chat = { enable: true, token: `123456789:${'a'.repeat(35)}`, chatID: '-100', kinds: ['originDown'] };
  const write = (body: object, as: string) => api.call('PUT', '/client/setting/tg', { token: as, body });
  is(await write(chat, token), 'permissionDenied');
  broken(await write(chat, sub.token), 'chatID', 'rootSends');
  ok(await write(chat, a.client.token));
});

test('a customer is neither offered nor told what customers never hear of', async () => {
  const get = ok(await api.call('GET', '/user/setting/tg', { token: a.user.token })).body;
  assert.deepEqual(get.kinds, ['state', 'certificateFailed']);
  const hook = { enable: true, url: 'https://hooks.example.net/y', secret: 'a secret that is long', kinds: ['licenceEnds'] };
  broken(await api.call('PUT', '/user/setting/webhook', { token: a.user.token, body: hook }), 'kinds', 'unknown');
  const operator = ok(await api.call('GET', '/client/setting/webhook', { token: a.client.token })).body;
  assert.deepEqual(operator.kinds, ['originDown']);
});
