/** The account tree and its roles (decisions.md, Who may do what). */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { row, rows } from '#server/store/db.ts';
import { broken, by, is, mark, multiple, ok } from './expect.ts';
import { Api, password, type Person, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let admin: Person;
let op: ReturnType<typeof by>;
let me: ReturnType<typeof by>;
/** a role of the operator, and one of the customer */
let opRole: number;
let myRole: number;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  admin = await api.account('admin', 'admin@test.test');
  op = by(api, a.client);
  me = by(api, a.user);
  opRole = await op.make('/client/role', { name: 'viewer', permissionKeys: ['sites.view'] });
  myRole = await me.make('/user/role', { name: 'viewer', permissionKeys: ['sites.view'] });
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

interface Account {
  id: number;
  auth: string;
  isRoot: boolean;
  rootID: number;
  grade: number;
  parentClient: number | null;
  parentUser: number | null;
  roleID: number | null;
  createdBy: string;
  status: string;
}
const stored = async (id: number) => (await row<Account>(api.database.db, sql`select * from account where id = ${id}`))!;
let serial = 0;
const email = () => `account-${++serial}@test.test`;
/** A sub-account with a role of its own, made by SQL. */
const sub = (root: Person, keys: string[], parent?: Person) =>
  api.account(root.area, email(), {
    rootID: root.id,
    ...(parent ? { grade: 2, parentID: parent.id } : {}),
    keys,
    ...(root.area === 'user' ? { parentClient: a.client.id } : {}),
  });

describe('making accounts', () => {
  test('an account is made with its first password, or not at all', async t => {
    const mail = email();
    const wanted = { email: mail, name: 'first', auth: 'user' };
    broken(await op.post('/client/account', { ...wanted, password: 'short' }), 'password', 'tooShort');
    is(await me.post('/user/account', { ...wanted, auth: 'client', password }), 'permissionDenied');
    assert.equal((await op.read(`/client/accounts?name=${mail}`)).total, 0);
    const id = await op.make('/client/account', { ...wanted, password });
    assert.equal((await api.call('POST', '/user/verify', { body: { email: mail, password } })).status, 200);
    const [line] = await rows<{ text: string }>(
      api.database.db,
      sql`select to_jsonb(t)::text as text from audit t where touched @> array[${`account:${id}`}]`,
    );
    assert.ok(line && !line.text.includes(password), line?.text);
    // without one nobody signs in yet
    const bare = email();
    await op.make('/client/account', { ...wanted, email: bare });
    is(await api.call('POST', '/user/verify', { body: { email: bare, password } }), 'credentialFailed');
    // and nothing is hashed for one that will not be made
    const hashed = t.mock.method(api.sessions.hashing, 'set');
    is(await op.post('/client/account', { ...wanted, email: mail.toUpperCase(), password }), 'duplicateEmail');
    assert.equal(hashed.mock.callCount(), 0);
    await op.make('/client/account', { ...wanted, email: email(), password });
    assert.equal(hashed.mock.callCount(), 1);
  });

  test('with a password of their choice people make accounts alone as which they may act', async () => {
    const boss = await api.account('admin', email(), {
      rootID: admin.id,
      parentID: admin.id,
      keys: ['accounts.view', 'accounts.edit'],
    });
    const clerk = await sub(a.client, ['accounts.view', 'accounts.edit']);
    for (const [maker, auth] of [
      [clerk, 'user'],
      [boss, 'client'],
    ] as const) {
      const its = by(api, maker);
      const wanted = { email: email(), name: 'mine', auth };
      broken(await its.post(`/${maker.area}/account`, { ...wanted, password }), 'password', 'passwordNotYours');
      assert.equal((await its.read(`/${maker.area}/accounts?name=${wanted.email}`)).total, 0);
      is(await api.call('POST', `/${auth}/verify`, { body: { email: wanted.email, password } }), 'credentialFailed');
      const id = await its.make(`/${maker.area}/account`, wanted);
      is(await its.put(`/${maker.area}/account/password`, { id, password }), 'permissionDenied');
    }
    const keys = ['accounts.view', 'accounts.edit', 'sites.view'];
    const head = await sub(a.user, keys);
    const member = {
      email: email(),
      name: 'm',
      auth: 'user',
      role: await me.make('/user/role', { name: 'less', permissionKeys: ['sites.view'] }),
    };
    await by(api, head).make('/user/account', { ...member, password });
    assert.equal((await api.call('POST', '/user/verify', { body: { email: member.email, password } })).status, 200);
  });

  test('each lands where it belongs, whatever the body wishes', async () => {
    const customer = await stored(await op.make('/client/account', { email: email(), name: 'c', auth: 'user' }));
    assert.deepEqual(
      [customer.auth, customer.isRoot, customer.rootID, customer.parentClient, customer.grade, customer.createdBy],
      ['user', true, customer.id, a.client.id, 0, a.client.email],
    );
    const colleague = await stored(await op.make('/client/account', { email: email(), name: 's', auth: 'client', role: opRole }));
    assert.deepEqual(
      [colleague.auth, colleague.isRoot, colleague.rootID, colleague.parentClient, colleague.grade],
      ['client', false, a.client.id, null, 1],
    );
    const member = await stored(await me.make('/user/account', { email: email(), name: 'm', auth: 'user', role: myRole }));
    assert.deepEqual(
      [member.auth, member.isRoot, member.rootID, member.parentClient, member.parentUser, member.grade],
      ['user', false, a.user.id, a.client.id, a.user.id, 1],
    );
    const operator = await stored(await by(api, admin).make('/admin/account', { email: email(), name: 'o', auth: 'client' }));
    assert.deepEqual([operator.auth, operator.isRoot, operator.rootID], ['client', true, operator.id]);
    for (const field of ['isRoot', 'grade', 'rootID', 'parentClient', 'parentUser', 'status', 'createdBy'])
      broken(await op.post('/client/account', { email: email(), name: 'x', auth: 'user', [field]: 1 }), field, 'unknownKey');
  });

  test('only of the kinds one may make: 101018', async () => {
    is(await me.post('/user/account', { email: email(), name: 'x', auth: 'client' }), 'permissionDenied');
    is(await by(api, admin).post('/admin/account', { email: email(), name: 'x', auth: 'user' }), 'permissionDenied');
    is(await op.post('/client/account', { email: email(), name: 'x', auth: 'admin', role: opRole }), 'permissionDenied');
    is(await me.post('/user/account', { email: email(), name: 'x', auth: 'admin', role: myRole }), 'permissionDenied');
    broken(await op.post('/client/account', { email: email(), name: 'x', auth: 'root' }), 'auth', 'invalidChoice');
  });

  test('an e-mail is taken once per area: 101017; free again once its account is gone', async () => {
    const taken = email();
    const id = await op.make('/client/account', { email: taken, name: 'x', auth: 'user' });
    is(await op.post('/client/account', { email: taken.toUpperCase(), name: 'y', auth: 'user' }), 'duplicateEmail');
    is(await me.post('/user/account', { email: taken, name: 'y', auth: 'user', role: myRole }), 'duplicateEmail');
    await op.make('/client/account', { email: taken, name: 'y', auth: 'client', role: opRole });
    ok(await op.del('/client/account', { ids: [id] }));
    await op.make('/client/account', { email: taken, name: 'z', auth: 'user' });
    broken(await op.post('/client/account', { email: 'nonsense', name: 'x', auth: 'user' }), 'email', 'email');
  });

  test('two at once with one e-mail', async () => {
    const same = email();
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => op.post('/client/account', { email: same, name: 'x', auth: 'user' })),
    );
    assert.equal(replies.filter(reply => reply.status === 200).length, 1);
    for (const reply of replies.filter(one => one.status !== 200)) is(reply, 'duplicateEmail');
  });
});

describe('changing and removing', () => {
  test('never oneself, never one’s root', async () => {
    const colleague = await sub(a.client, ['accounts.edit', 'accounts.view', 'roles.edit']);
    const its = by(api, colleague);
    for (const id of [a.client.id, colleague.id]) {
      is(await its.put('/client/account', { id, name: 'x' }), 'permissionDenied');
      is(await its.put('/client/account/password', { id, password: 'another one' }), 'permissionDenied');
      is(await its.del('/client/account', { ids: [id] }), 'permissionDenied');
      is(await its.put('/client/account/role', { accountID: id, roleID: opRole }), 'permissionDenied');
    }
    is(await op.put('/client/account', { id: a.client.id, name: 'x' }), 'permissionDenied');
  });

  test('a sub-account reaches only who is below it and holds no more than it', async () => {
    const boss = await sub(a.client, ['accounts.edit', 'accounts.view', 'sites.view']);
    const colleague = by(api, boss);
    const peer = await sub(a.client, []);
    // deeper, but below somebody else
    const nephew = await sub(a.client, [], peer);
    const weaker = await sub(a.client, ['sites.view'], boss);
    const stronger = await sub(a.client, ['sites.edit'], boss);
    const set = (id: number) => colleague.put('/client/account/password', { id, password: 'taken over' });
    for (const one of [peer, nephew, stronger]) is(await set(one.id), 'permissionDenied');
    is(await colleague.del('/client/account', { ids: [stronger.id] }), 'permissionDenied');
    ok(await set(weaker.id));
    // a customer of the root is no customer of its own
    is(await colleague.put('/client/account', { id: a.user.id, name: 'renamed by a colleague' }), 'permissionDenied');
    const reasons = new Map<number, string | null>(
      (await colleague.read('/client/accounts?pageSize=500')).data.map((one: { id: number; actAsDenied: string | null }) => [
        one.id,
        one.actAsDenied,
      ]),
    );
    assert.deepEqual(
      [boss, peer, nephew, stronger, weaker, a.user].map(one => reasons.get(one.id)),
      ['own', 'notBelow', 'notBelow', 'moreKeys', null, 'notBelow'],
    );
  });

  test('states follow their table; a lock is lifted by whoever set it or by somebody above', async () => {
    const person = await api.account('user', email(), { parentClient: a.client.id });
    const set = (status: string, who = op) => who.put('/client/account', { id: person.id, status });
    is(await set('normal'), 'parameter');
    ok(await set('pause'));
    is(await set('pause'), 'parameter');
    // a row that is sent back whole is no action
    ok(await op.put('/client/account', { id: person.id, name: 'renamed', status: 'pause' }));
    ok(await set('lock'));
    is(await set('pause'), 'accountNotEnabled');
    is(await set('lock'), 'parameter');
    ok(await set('normal'));
    const above = by(api, admin);
    ok(await above.put('/admin/account', { id: person.id, status: 'lock' }));
    is(await set('normal'), 'permissionDenied');
    ok(await above.put('/admin/account', { id: person.id, status: 'normal' }));
    ok(await set('lock'));
    ok(await above.put('/admin/account', { id: person.id, status: 'normal' }));
    await sql`update account set status = 'expired', expired = now() where id = ${person.id}`.execute(api.database.db);
    is(await set('normal'), 'accountNotEnabled');
  });

  test('one with sites stays: 205003; what hangs on a root goes with it', async () => {
    const root = await api.account('user', email(), { parentClient: a.client.id });
    const member = await api.account('user', email(), { rootID: root.id, parentClient: a.client.id });
    const busy = await api.account('user', email(), { parentClient: a.client.id });
    const site = await op.make('/client/site', { siteName: 'busy', productID: a.productID, userID: busy.id });
    is(await op.del('/client/account', { ids: [busy.id] }), 'siteInUse');
    multiple(await op.del('/client/account', { ids: [root.id, busy.id] }), ['siteInUse', [busy.email]]);
    is(await by(api, member).get('/user/account/self'), 'invalidToken');
    is(await api.call('POST', '/user/verify', { body: { email: member.email, password } }), 'credentialFailed');
    // named beside the root it goes with
    const other = await api.account('user', email(), { parentClient: a.client.id });
    const its = await api.account('user', email(), { rootID: other.id, parentClient: a.client.id });
    ok(await by(api, admin).del('/admin/account', { ids: [other.id, its.id] }));
    // the same one twice is one that fails
    is(await op.del('/client/account', { ids: [busy.id, busy.id] }), 'siteInUse');
    ok(await op.del('/client/site', { ids: [site] }));
    ok(await op.del('/client/account', { ids: [busy.id, busy.id] }));
  });

  test('an operator with customers that have sites stays, by the admin’s hand too', async () => {
    const b = await api.tenant('operator-b');
    const root = by(api, admin);
    is(await root.del('/admin/account', { ids: [b.client.id] }), 'siteInUse');
    ok(await by(api, b.client).del('/client/site', { ids: [b.siteID] }));
    const since = await mark(api);
    ok(await root.del('/admin/account', { ids: [b.client.id] }));
    assert.deepEqual((await since.audits())[0]!.changes.map(change => change.id).sort(), [b.client.id, b.user.id].sort());
    is(await by(api, b.user).get('/user/account/self'), 'invalidToken');
  });
});

describe('lists', () => {
  test('an operator sees its tree and its customers, a customer its tree, an admin all', async () => {
    const b = await api.tenant('lists');
    const colleague = await api.account('client', email(), { rootID: b.client.id });
    const member = await api.account('user', email(), { rootID: b.user.id, parentClient: b.client.id });
    const ids = async (person: Person, query = '') =>
      (await by(api, person).read(`/${person.area}/accounts?pageSize=500&${query}`)).data
        .map((one: { id: number }) => one.id)
        .sort();
    assert.deepEqual(await ids(b.client), [b.user.id, colleague.id, member.id].sort());
    assert.deepEqual(await ids(b.client, 'auth=client'), [colleague.id]);
    assert.deepEqual(await ids(b.client, `name=${member.email.toUpperCase()}`), [member.id]);
    assert.deepEqual(await ids(b.client, 'name=%25'), []);
    assert.deepEqual(await ids(b.user), [member.id]);
    const all = await ids(admin);
    assert.ok([a.client.id, b.client.id, b.user.id, member.id].every(id => all.includes(id)));
    assert.deepEqual(await ids(admin, `client=${b.client.id}`), [b.user.id, colleague.id, member.id].sort());
    const subs = async (person: Person, id: number) =>
      (await by(api, person).read(`/${person.area}/account/${id}/subs`)).data.map((one: { id: number }) => one.id).sort();
    assert.deepEqual(await subs(admin, b.client.id), [b.user.id, colleague.id, member.id].sort());
    assert.deepEqual(await subs(b.client, b.user.id), [member.id]);
    broken(await by(api, b.client).get(`/client/account/${a.user.id}/subs`), 'id', 'unknown', 404);
    for (const one of (await by(api, b.client).read('/client/accounts')).data) assert.equal('password' in one, false);
  });
});

describe('roles', () => {
  test('names are taken once per tree; keys are of the area and no more than one holds', async () => {
    await op.make('/client/role', { name: 'same', permissionKeys: ['sites.view'] });
    is(await op.post('/client/role', { name: 'SAME', permissionKeys: [] }), 'duplicated');
    const other = await op.make('/client/role', { name: 'other', permissionKeys: [] });
    is(await op.put(`/client/role/${other}`, { name: 'same', permissionKeys: [] }), 'duplicated');
    await me.make('/user/role', { name: 'same', permissionKeys: ['sites.view'] });
    // zones are none of a customer's business
    broken(await me.post('/user/role', { name: 'x', permissionKeys: ['zones.view'] }), 'permissionKeys', 'unknown');
    broken(await op.post('/client/role', { name: 'x', permissionKeys: ['nonsense'] }), 'permissionKeys', 'unknown');
    broken(await op.post('/client/role', { name: 'a\u202eb', permissionKeys: [] }), 'name', 'wrongFormat');
    const colleague = by(api, await sub(a.client, ['roles.edit', 'sites.view']));
    broken(
      await colleague.post('/client/role', { name: 'more', permissionKeys: ['sites.view', 'sites.edit'] }),
      'permissionKeys',
      'unknown',
    );
    ok(await colleague.post('/client/role', { name: 'less', permissionKeys: ['sites.view'] }));
  });

  test('how many hold a role is told; who held one that goes holds none, and the line says who they were', async () => {
    const going = await op.make('/client/role', { name: 'going', permissionKeys: ['sites.view'] });
    const holders = [await sub(a.client, []), await sub(a.client, [])];
    for (const { id } of holders) ok(await op.put('/client/account/role', { accountID: id, roleID: going }));
    const shown = async () =>
      ((await op.read('/client/roles?pageSize=100')).data as { id: number; holders: number }[]).find(one => one.id === going);
    assert.equal((await shown())?.holders, 2);
    const since = await mark(api);
    ok(await op.del(`/client/role/${going}`));
    assert.equal(await shown(), undefined);
    for (const { id } of holders) assert.equal((await stored(id)).roleID, null);
    const [line] = await since.audits();
    assert.deepEqual(
      line!.changes
        .filter(one => one.table === 'account')
        .map(one => one.id)
        .sort(),
      holders.map(one => one.id).sort(),
    );
  });

  test('a sub-account neither changes nor gives roles that hold more than it', async () => {
    const strong = await op.make('/client/role', { name: 'strong', permissionKeys: ['sites.edit', 'zones.edit'] });
    const weak = await op.make('/client/role', { name: 'weak', permissionKeys: ['sites.view'] });
    const boss = await sub(a.client, ['roles.edit', 'roles.view', 'accounts.edit', 'sites.view']);
    const colleague = by(api, boss);
    is(await colleague.put(`/client/role/${strong}`, { name: 'strong', permissionKeys: [] }), 'permissionDenied');
    is(await colleague.del(`/client/role/${strong}`), 'permissionDenied');
    const deeper = await sub(a.client, [], boss);
    is(await colleague.put('/client/account/role', { accountID: deeper.id, roleID: strong }), 'permissionDenied');
    is(await colleague.post('/client/account', { email: email(), name: 'x', auth: 'client', role: strong }), 'permissionDenied');
    ok(await colleague.put('/client/account/role', { accountID: deeper.id, roleID: weak }));
    const offered = (await colleague.read('/client/metaRoles')).map((role: { id: number }) => role.id);
    assert.ok(offered.includes(weak) && !offered.includes(strong));
    assert.ok((await op.read('/client/metaRoles')).some((role: { id: number }) => role.id === strong));
  });

  test('a role is given inside its tree alone', async () => {
    const theirs = await me.make('/user/role', { name: 'customers', permissionKeys: ['sites.view'] });
    const colleague = await sub(a.client, []);
    broken(await op.put('/client/account/role', { accountID: colleague.id, roleID: theirs }), 'roleID', 'unknown', 404);
    const own = await op.make('/client/role', { name: 'operators', permissionKeys: ['sites.view'] });
    broken(await op.put('/client/account/role', { accountID: a.user.id, roleID: own }), 'roleID', 'unknown', 404);
    broken(await op.post('/client/account', { email: email(), name: 'x', auth: 'user', role: own }), 'role', 'unknown', 404);
    ok(await op.put('/client/account/role', { accountID: colleague.id, roleID: own }));
    assert.equal((await stored(colleague.id)).roleID, own);
    broken(await op.put('/client/account/role', { accountID: colleague.id, roleID: null }), 'roleID', 'required');
    broken(await op.post('/client/account', { email: email(), name: 'x', auth: 'client' }), 'role', 'roleRequired');
  });

  test('a role gives no more than its maker holds now: along every maker up to the root', async () => {
    const give = (accountID: number, roleID: number) => op.put('/client/account/role', { accountID, roleID });
    const keys = ['accounts.edit', 'roles.edit', 'roles.view', 'sites.edit', 'sites.view'];
    const made = await op.make('/client/role', { name: 'head', permissionKeys: keys });
    const head = await sub(a.client, []);
    ok(await give(head.id, made));
    const deputyRole = await by(api, head).make('/client/role', { name: 'deputy', permissionKeys: keys });
    const deputy = await sub(a.client, [], head);
    ok(await by(api, head).put('/client/account/role', { accountID: deputy.id, roleID: deputyRole }));
    const clerkRole = await by(api, deputy).make('/client/role', { name: 'clerk', permissionKeys: ['sites.edit', 'sites.view'] });
    const clerk = await sub(a.client, [], deputy);
    ok(await by(api, deputy).put('/client/account/role', { accountID: clerk.id, roleID: clerkRole }));
    const held = async (person: Person) => (await by(api, person).read('/client/account/self')).selfPerms as string[];
    assert.deepEqual(await held(clerk), ['sites.edit', 'sites.view']);
    const less = keys.filter(key => key !== 'sites.edit');
    ok(await op.put(`/client/role/${made}`, { name: 'head', permissionKeys: less }));
    assert.deepEqual([await held(head), await held(deputy), await held(clerk)], [less, less, ['sites.view']]);
    // nobody makes the role its own rights come from, nor gets one that comes from itself
    is(await by(api, deputy).put(`/client/role/${deputyRole}`, { name: 'deputy', permissionKeys: [] }), 'permissionDenied');
    is(await by(api, deputy).put(`/client/role/${made}`, { name: 'head', permissionKeys: less }), 'permissionDenied');
    // the root may: it then vouches for the role itself
    ok(await give(deputy.id, clerkRole));
    assert.deepEqual([await held(deputy), await held(clerk)], [['sites.view'], ['sites.view']]);
    // one that is gone vouches for nothing
    const gone = (deletedAt: Date | null) =>
      sql`update account set "deletedAt" = ${deletedAt} where id = ${head.id}`.execute(api.database.db);
    const rights = async (person: Person) => [...(await api.sessions.held(api.database.db, [person.id])).get(person.id)!.keys];
    const ofHead = await by(api, head).make('/client/role', { name: 'of the head', permissionKeys: ['sites.view'] });
    const holder = await sub(a.client, [], head);
    ok(await op.put('/client/account/role', { accountID: holder.id, roleID: ofHead }));
    assert.deepEqual(await rights(holder), ['sites.view']);
    await gone(new Date());
    assert.deepEqual(await rights(holder), []);
    await gone(null);
    // who goes leaves its roles as they are
    ok(await op.del('/client/account', { ids: [head.id] }));
    assert.deepEqual(await held(clerk), ['sites.view']);
    assert.equal(
      (await row<{ parentID: number }>(api.database.db, sql`select "parentID" from account where id = ${deputy.id}`))!.parentID ??
        a.client.id,
      a.client.id,
    );
  });

  test('a root holds every key of its area, also those that came with a new release', async () => {
    const keys = (await by(api, a.user).read('/user/account/self')).selfPerms as string[];
    assert.ok(keys.includes('sites.view') && !keys.includes('zones.view'));
    assert.deepEqual([...keys].sort(), keys);
  });
});
