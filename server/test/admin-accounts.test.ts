/** The vendor's own people (§3 Account, auth; decisions.md, Who may do what): sub-accounts in the admin area, with roles of the vendor's root. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { row } from '#server/store/db.ts';
import { broken, by, is, multiple, ok } from './expect.ts';
import { Api, password, type Person, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let admin: Person;
let root: ReturnType<typeof by>;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  admin = await api.account('admin', 'admin@test.test');
  root = by(api, admin);
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

let serial = 0;
/** Made by a call, and signed in by its password. */
async function colleague(keys: string[], who = root): Promise<Person & { role: number }> {
  const email = `colleague-${++serial}@test.test`;
  const role = await root.make('/admin/role', { name: `role-${serial}`, permissionKeys: keys });
  const id = await who.make('/admin/account', { email, name: 'colleague', auth: 'admin', role, password });
  const tokens = (await api.call('POST', '/admin/verify', { body: { email, password } })).body;
  return { id, email, area: 'admin', tokens, token: tokens.accessToken, role };
}

test('the vendor’s root makes an administrator with a role: of its own tree, with what the role gives and no more', async () => {
  broken(await root.post('/admin/account', { email: 'x@test.test', name: 'x', auth: 'admin' }), 'role', 'roleRequired');
  const finance = await colleague(['licenses.view', 'licenses.edit', 'accounts.view']);
  const stored = await row<{
    auth: string;
    isRoot: boolean;
    rootID: number;
    parentID: number;
    parentClient: null;
    grade: number;
  }>(
    api.database.db,
    sql`select auth, "isRoot", "rootID", "parentID", "parentClient", grade from account where id = ${finance.id}`,
  );
  assert.deepEqual(stored, {
    auth: 'admin',
    isRoot: false,
    rootID: admin.id,
    parentID: admin.id,
    parentClient: null,
    grade: 1,
  });
  const its = by(api, finance);
  const self = await its.read('/admin/account/self');
  assert.deepEqual(self.selfPerms.sort(), ['accounts.view', 'licenses.edit', 'licenses.view']);
  ok(await its.get('/admin/license'));
  ok(await its.get(`/admin/accounts`));
  for (const auth of ['client', 'admin'])
    is(await its.post('/admin/account', { email: 'y@test.test', name: 'y', auth, role: finance.role }), 'permissionDenied');
  is(await its.post('/admin/role', { name: 'mine', permissionKeys: ['licenses.view'] }), 'permissionDenied');
  // found by the kind, of nobody else's list
  const { data } = await root.read('/admin/accounts?auth=admin');
  assert.deepEqual(
    data.map((one: { id: number }) => one.id),
    [finance.id],
  );
  assert.equal((await by(api, a.client).read('/client/accounts?auth=admin')).total, 0);
  // and by its role; another one's is nobody's here
  const having = await root.read(`/admin/accounts?roleID=${finance.role}`);
  assert.deepEqual([having.total, having.data[0].id], [1, finance.id]);
  assert.equal((await by(api, a.client).read(`/client/accounts?roleID=${finance.role}`)).total, 0);
  is(await by(api, a.client).put('/client/account', { id: finance.id, name: 'x' }), 'parameter', 404);
});

test('an operator’s people are found by the operator: its sub-accounts, its customers, and theirs', async () => {
  const below = await api.account('client', 'below@test.test', {
    rootID: a.client.id,
    parentID: a.client.id,
    keys: ['sites.view'],
  });
  const other = await api.tenant('another');
  const of = async (auth: string, id: number) =>
    ((await root.read(`/admin/accounts?auth=${auth}&client=${id}`)).data as { id: number; parentClient: number }[]).map(one => [
      one.id,
      one.parentClient,
    ]);
  assert.deepEqual(await of('client', a.client.id), [[below.id, a.client.id]]);
  assert.deepEqual(await of('user', a.client.id), [[a.user.id, a.client.id]]);
  assert.deepEqual(await of('client', other.client.id), []);
});

test('a key that only the root may use is given to nobody', async () => {
  const self = await by(api, a.client).read('/client/account/self');
  assert.ok(self.selfPerms.includes('outgoingURL.edit'), 'the root holds it');
  assert.ok(!self.permissionKeys.includes('outgoingURL.edit') && self.permissionKeys.includes('outgoingURL.view'));
  // its test call may be made by whoever is given the key
  assert.ok(self.permissionKeys.includes('emailSetting.edit'), self.permissionKeys.join());
});

test('a password that somebody else set lets a person in, and confirms no mail', async () => {
  const id = await root.make('/admin/account', { email: 'set@test.test', name: 'set', auth: 'client' });
  const seen = async () => {
    const { data } = await root.read('/admin/accounts?auth=client&name=set@test.test');
    return [data[0].hasPassword, data[0].emailConfirmed];
  };
  assert.deepEqual(await seen(), [false, false]);
  ok(await root.put('/admin/account/password', { id, password }));
  assert.deepEqual(await seen(), [true, false]);
});

test('its role is changed, it is paused, it goes: each holds at once', async () => {
  const person = await colleague(['accounts.view']);
  const its = by(api, person);
  is(await its.get('/admin/license'), 'permissionDenied');
  const wider = await root.make('/admin/role', { name: 'wider', permissionKeys: ['accounts.view', 'licenses.view'] });
  ok(await root.put('/admin/account/role', { accountID: person.id, roleID: wider }));
  ok(await its.get('/admin/license'));
  ok(await root.put('/admin/account', { id: person.id, status: 'pause' }));
  is(await its.get('/admin/license'), 'accountNotEnabled');
  ok(await root.put('/admin/account', { id: person.id, status: 'normal' }));
  // the root acts for it; it acts for nobody
  const proxied = (await root.post('/admin/proxy', { id: person.id })).body;
  const seen = (await api.call('GET', '/admin/account/self', { token: proxied.accessToken })).body;
  assert.equal(seen.proxyName, admin.email);
  is(await its.post('/admin/proxy', { id: a.client.id }), 'permissionDenied');
  ok(await root.del('/admin/account', { ids: [person.id] }));
  is(await its.get('/admin/license'), 'invalidToken');
});

test('an administrator makes others with no more than it holds, and acts as none that holds more', async () => {
  const head = await colleague(['accounts.view', 'accounts.edit', 'audit.view']);
  const its = by(api, head);
  const below = await colleague(['accounts.view'], its);
  const beyond = await root.make('/admin/role', { name: 'beyond', permissionKeys: ['licenses.edit', 'licenses.view'] });
  is(
    await its.post('/admin/account', { email: 'z@test.test', name: 'z', auth: 'admin', role: beyond, password }),
    'permissionDenied',
  );
  ok(await its.put('/admin/account', { id: below.id, name: 'renamed' }));
  // a colleague beside it, the root, and operators are not below it
  const beside = await colleague(['accounts.view']);
  for (const id of [beside.id, admin.id, a.client.id, a.user.id]) {
    is(await its.put('/admin/account', { id, name: 'taken' }), 'permissionDenied');
    is(await its.put('/admin/account/password', { id, password: 'another password' }), 'permissionDenied');
  }
  // nor does a role of another house mean anything here
  const foreign = await by(api, a.client).make('/client/role', { name: 'viewer', permissionKeys: ['sites.view'] });
  broken(await root.put('/admin/account/role', { accountID: below.id, roleID: foreign }), 'roleID', undefined, 404);
  is(await root.put('/admin/account/role', { accountID: a.user.id, roleID: beyond }), 'parameter', 404);
});

test('the installation’s owner stays: not deleted by the vendor’s root, and nobody becomes it by others going', async () => {
  const other = await api.account('client', 'second-operator@test.test');
  const third = await api.account('client', 'third-operator@test.test');
  ok(await by(api, a.client).del('/client/site', { ids: [a.siteID] }));
  broken(await root.del('/admin/account', { ids: [a.client.id] }), 'ids', 'ownerStays');
  // among others, which go
  multiple(await root.del('/admin/account', { ids: [a.client.id, third.id] }), ['parameter', [a.client.email]]);
  const asks = (who: Person) => by(api, who).get('/client/setting/system/retention');
  ok(await asks(a.client));
  is(await asks(other), 'permissionDenied');
  // by whatever way it is gone
  const gone = (is: boolean) =>
    sql`update account set "deletedAt" = case when ${is} then now() end where id = ${a.client.id}`.execute(api.database.db);
  await gone(true);
  is(await asks(other), 'permissionDenied');
  await gone(false);
});
