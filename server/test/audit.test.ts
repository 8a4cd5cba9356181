/** The audit as people read it: whose lines, found by every filter, field by field; and that nothing takes a line away. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { rows } from '#server/store/db.ts';
import type { Person } from './harness.ts';
import { a, api, customer, is, verify } from './signing.ts';

interface Line {
  id: number;
  reqID: string;
  accountName: string | null;
  proxyName: string | null;
  proxyArea: string | null;
  ip: string;
  tokenName: string | null;
  method: string;
  url: string;
  status: number;
  reason: string | null;
  createdAt: string;
  body?: unknown;
  changes?: { table: string; id: number; kind: string; fields: { name: string; before: unknown; after: unknown }[] }[];
}
const ask = (who: Person, body: object = {}, query = '?pageSize=500') =>
  api.call('POST', `/${who.area}/auditLogs${query}`, { token: who.token, body });
async function lines(who: Person, body: object = {}): Promise<Line[]> {
  const reply = await ask(who, body);
  assert.equal(reply.status, 200, reply.text);
  return reply.body.data;
}
const role = (who: Person, name: string, token = who.token) =>
  api.call('POST', `/${who.area}/role`, { token, body: { name, permissionKeys: ['sites.view'] } });

describe('what a line tells', () => {
  test('what was changed, field by field, before and after; where one request is asked for', async () => {
    const made = await role(a.client, 'first');
    const reply = await api.call('PUT', `/client/role/${made.body.ids[0]}`, {
      token: a.client.token,
      body: { name: 'second', permissionKeys: ['sites.view'] },
    });
    const reqID = String(reply.headers['x-request-id']);
    const [line] = await lines(a.client, { reqID });
    assert.ok(line);
    assert.equal(line.reqID, reqID);
    assert.deepEqual(
      line.changes?.map(({ table, kind, fields }) => ({ table, kind, fields })),
      [{ table: 'role', kind: 'changed', fields: [{ name: 'name', before: 'first', after: 'second' }] }],
    );
    assert.deepEqual(line.body, { name: 'second', permissionKeys: ['sites.view'] });
    for (const one of await lines(a.client, { url: '/role/' })) assert.ok(!('changes' in one) && !('body' in one));
    const name = 'x'.repeat(60);
    const permissionKeys = Array.from({ length: 400 }, (_, i) => `sites.view${i}`.padEnd(60, 'x'));
    await sql`update role set "permissionKeys" = ${permissionKeys} where id = ${made.body.ids[0]}`.execute(api.database.db);
    const large = await api.call('PUT', `/client/role/${made.body.ids[0]}`, {
      token: a.client.token,
      body: { name, permissionKeys: ['sites.view'] },
    });
    // in a file: of each; what is too large for a line of many is told by itself
    const file = await api.call('POST', '/client/auditLogs/export', { token: a.client.token, body: { url: '/role/' } });
    assert.match(file.text, new RegExp(`,${reqID},"Changed role #${made.body.ids[0]}\n  name: first → second"\r\n`));
    assert.match(
      file.text,
      new RegExp(`,${String(large.headers['x-request-id'])},Too large to be listed \\(\\d{5} characters\\)\r\n`),
    );
  });

  test('who signed in, who could not, what was refused', async () => {
    const person = await customer();
    await verify(person.email);
    await verify(person.email, 'wrong');
    is(await role(person, ''), 'parameter');
    const told = (await lines(a.client, { accountName: person.email })).map(line => [line.method, line.status, line.reason]);
    assert.deepEqual(told, [
      ['POST', 400, 'parameter; name required'],
      ['POST', 401, 'wrongPassword'],
      ['POST', 200, 'signedIn'],
    ]);
  });

  test('no password, no token', async () => {
    const secret = 'a password nobody may read';
    const person = await customer();
    await api.call('PUT', '/client/account/password', { token: a.client.token, body: { id: person.id, password: secret } });
    const all = await lines(a.client, { url: '/account/password' });
    const one = await ask(a.client, { reqID: all[0]!.reqID });
    assert.ok(one.body.data[0].body);
    assert.ok(!one.text.includes(secret));
  });

  test('both names of a proxied act: to the house that acted by e-mail, to whoever is below it by name', async () => {
    await sql`update account set name = 'Support of the operator' where id = ${a.client.id}`.execute(api.database.db);
    const { body } = await api.call('POST', '/client/proxy', { token: a.client.token, body: { id: a.user.id } });
    const reply = await role(a.user, 'by-proxy', body.accessToken);
    const reqID = String(reply.headers['x-request-id']);
    const names = async (who: Person) =>
      (await lines(who, { reqID })).map(one => [one.accountName, one.proxyName, one.proxyArea]);
    assert.deepEqual(await names(a.client), [[a.user.email, a.client.email, 'client']]);
    assert.deepEqual(await names(a.user), [[a.user.email, 'Support of the operator', 'client']]);
    const address = async (who: Person) => (await lines(who, { reqID })).map(one => one.ip !== '');
    assert.deepEqual(await address(a.client), [true]);
    assert.deepEqual(await address(a.user), [false], 'nor where they sit');
    assert.notEqual((await lines(a.user, { accountName: a.user.email })).length, 0);
    const own = await role(a.user, 'by-oneself');
    assert.ok((await lines(a.user, { reqID: String(own.headers['x-request-id']) }))[0]?.ip);
    const found = async (who: Person) => (await lines(who, { proxyName: a.client.email.slice(0, 6) })).length;
    assert.equal(await found(a.client), 1);
    assert.equal(await found(a.user), 0, 'the e-mail of somebody above is not found out by asking');
    assert.equal((await lines(a.user, { proxyName: 'support of the' })).length, 1);
  });
});

describe('whose lines', () => {
  test('an operator’s own and its customers’; a customer’s own; no other tenant’s, whatever is asked', async () => {
    const b = await api.tenant('b');
    const other = await role(b.user, 'other-tenant');
    const reqID = String(other.headers['x-request-id']);
    for (const who of [a.client, a.user]) {
      assert.deepEqual(await lines(who, { reqID }), []);
      assert.deepEqual(await lines(who, { accountName: b.user.email }), []);
    }
    assert.equal((await lines(b.user, { reqID })).length, 1);
    assert.equal((await lines(b.client, { reqID })).length, 1);
    const own = await role(a.client, 'own-of-operator');
    assert.deepEqual(await lines(a.user, { reqID: String(own.headers['x-request-id']) }), []);
  });

  test('somebody who is no root: of itself and those it made, not of the root', async () => {
    const sub = await api.account('client', 'auditor@test.test', {
      rootID: a.client.id,
      keys: ['audit.view', 'roles.edit', 'roles.view', 'sites.view'],
    });
    const below = await api.account('client', 'below@test.test', {
      rootID: a.client.id,
      parentID: sub.id,
      keys: ['roles.edit', 'sites.view'],
    });
    assert.equal((await role(sub, 'of-sub')).status, 200);
    assert.equal((await role(below, 'of-below')).status, 200);
    const names = new Set((await lines(sub)).map(line => line.accountName));
    assert.deepEqual([...names].sort(), ['auditor@test.test', 'below@test.test']);
    is(await ask(below), 'permissionDenied');
  });
});

test('every filter finds what it says, and nothing else', async () => {
  const person = await customer();
  const first = await role(person, 'one');
  const second = await api.call('DELETE', `/user/role/${first.body.ids[0]}`, { token: person.token });
  assert.equal(second.status, 200, second.text);
  const all = await lines(person);
  assert.deepEqual(
    all.map(line => line.method),
    ['DELETE', 'POST'],
  );
  const [gone, made] = all;
  const methods = async (body: object) => (await lines(person, body)).map(line => line.method);
  assert.deepEqual(await methods({ method: 'DELETE' }), ['DELETE']);
  assert.deepEqual(await methods({ url: `/role/${first.body.ids[0]}` }), ['DELETE']);
  assert.deepEqual(await methods({ url: '%' }), [], 'what people type is no pattern');
  assert.deepEqual(await methods({ accountName: person.email.toUpperCase() }), ['DELETE', 'POST']);
  assert.deepEqual(await methods({ accountName: 'nobody' }), []);
  assert.deepEqual(await methods({ reqID: made!.reqID }), ['POST']);
  assert.deepEqual(await methods({ reqID: made!.reqID.slice(1) }), []);
  const after = new Date(Date.parse(gone!.createdAt) + 60_000).toISOString();
  assert.deepEqual(await methods({ startTime: after }), []);
  assert.deepEqual(await methods({ endTime: new Date(Date.parse(made!.createdAt) - 60_000).toISOString() }), []);
  assert.deepEqual(await methods({ startTime: made!.createdAt, endTime: after }), ['DELETE', 'POST']);
  const paged = await ask(person, {}, '?pageSize=1&page=2&orderBy=asc');
  assert.deepEqual([paged.body.total, paged.body.data.map((line: Line) => line.method)], [2, ['DELETE']]);
  is(await ask(person, {}, '?sortBy=ip'), 'parameter');
  is(await ask(person, { method: 'HEAD' }), 'parameter');
});

test('a word alone is looked for in the last 31 days; with a time, or a request, as far back as that says; no page lies beyond what is counted', async () => {
  const person = await customer();
  await sql`insert into audit ("reqID", "accountID", "accountName", "userID", area, method, url, "createdAt")
    values (${`long-ago-${person.id}`}, ${person.id}, ${person.email}, ${person.id}, 'user', 'PUT', '/long-ago', now() - interval '40 days')`.execute(
    api.database.db,
  );
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  const found = async (body: object) => (await lines(person, body)).length;
  assert.equal(await found({ url: 'long-ago' }), 0);
  assert.equal(await found({ accountName: person.email }), 0);
  assert.equal(await found({ url: 'long-ago', startTime: ago(50) }), 1);
  assert.equal(await found({ url: 'long-ago', endTime: ago(20) }), 1);
  assert.equal(await found({ url: 'long-ago', reqID: `long-ago-${person.id}` }), 1);
  assert.equal(await found({}), 1);
  const far = await ask(person, {}, '?pageSize=500&page=1000000');
  assert.deepEqual([far.status, far.body.data, far.body.total], [200, [], 1]);
});

describe('nothing takes a line away', () => {
  const refused = (statement: ReturnType<typeof sql>) =>
    assert.rejects(statement.execute(api.database.writes), /the audit is kept/);
  test('neither rewriting it, nor deleting it, nor emptying the table', async () => {
    await role(a.client, 'kept');
    await refused(sql`update audit set "accountName" = 'somebody else' where "clientID" = ${a.client.id}`);
    await refused(sql`update audit set times = 1 where "clientID" = ${a.client.id}`);
    await refused(sql`delete from audit where "clientID" = ${a.client.id}`);
    await refused(sql`truncate audit`);
    assert.ok((await lines(a.client)).length > 0);
  });
  test('what is older than the least that retention may keep goes; a count goes on, and never back', async () => {
    const { db } = api.database;
    await sql`insert into audit ("reqID", method, url, times, "createdAt") values ('old', 'PUT', 'x', null, now() - interval '31 days'), ('many', 'PUT', 'x', 5, now())`.execute(
      db,
    );
    await sql`delete from audit where "reqID" = 'old'`.execute(db);
    await sql`update audit set times = 6, "lastAt" = now() where "reqID" = 'many'`.execute(db);
    await refused(sql`update audit set times = 5 where "reqID" = 'many'`);
    const left = await rows<{ times: number }>(db, sql`select times from audit where "reqID" in ('old', 'many')`);
    assert.deepEqual(left, [{ times: 6 }]);
  });
});
