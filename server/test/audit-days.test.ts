/** What the audit keeps of a day: every line counts, what changed something is always told, what did not is counted. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { sql } from 'kysely';
import { AuditFolds } from '#server/kit/audit-folds.ts';
import { type AuditLine, AuditRoom } from '#server/kit/audit-room.ts';
import { audit, auditDay } from '#server/kit/context.ts';
import { untangled } from '#server/kit/untangled.ts';
import { row, rows } from '#server/store/db.ts';
import { mark } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let b: Tenant;
/** Characters of a day here, of which a quarter is for what changes nothing. */
const max = 40_000;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  b = await api.tenant('b');
  // lines are cleared away between tests: in the product nobody can
  await sql`alter table audit disable trigger user`.execute(api.database.db);
});
after(() => api?.stop());
beforeEach(async () => {
  await sql`delete from audit`.execute(api.database.db);
  Object.assign(auditDay(api.services.database), { room: new AuditRoom(undefined, max), folds: new AuditFolds() });
});

const query = '?'.padEnd(1500, 'x');
const refuse = (of: Tenant, more = '') =>
  api.call('PUT', `/user/site/${of.siteID}/setting/gzip${query}${more}`, { token: of.user.token, body: {} });
const change = (of: Tenant, tag: string) =>
  api.call('PUT', `/user/site/${of.siteID}/tags`, { token: of.user.token, body: { tags: [tag] } });
const weight = async () =>
  (await row<{ n: number }>(api.database.db, sql`select coalesce(sum(octet_length(to_jsonb(t)::text)), 0) as n from audit t`))!.n;
const flush = () => auditDay(api.services.database).folds.flush(api.database.db);
const folded = () =>
  rows<{ times: number; url: string; reason: string; accountName: string; isLater: boolean }>(
    api.database.db,
    sql`select times, url, reason, "accountName", "lastAt" >= "createdAt" as "isLater" from audit where times is not null order by id`,
  );

test('refused by the hundred: past its part of the day they are one line that says how many, first and last', async () => {
  for (let n = 0; n < 100; n++) assert.equal((await refuse(a, String(n))).status, 400);
  await flush();
  const [one, ...more] = await folded();
  assert.equal(more.length, 0);
  const { n } = (await row<{ n: number }>(api.database.db, sql`select count(*) as n from audit where times is null`))!;
  assert.ok(n >= 2 && n < 10, `${n} lines of their own`);
  assert.deepEqual(
    [one!.times + n, one!.url, one!.reason, one!.accountName, one!.isLater],
    [100, `/api/v1/user/site/${a.siteID}/setting/gzip`, 'parameter', a.user.email, true],
  );
  assert.ok((await weight()) < max, String(await weight()));
  // the same line counts on
  await refuse(a);
  await flush();
  assert.deepEqual(
    (await folded()).map(fold => fold.times),
    [one!.times + 1],
  );
});

test('who fills its day takes nothing of anybody else’s', async () => {
  for (let n = 0; n < 20; n++) await refuse(a);
  const since = await mark(api);
  await refuse(b);
  await flush();
  assert.deepEqual(
    (await since.refusals()).filter(line => line.reason !== 'parameter').map(line => line.accountName),
    [b.user.email],
  );
});

test('what changed something is kept however full the day is: whole in its own part, then without contents', async () => {
  for (let n = 0; n < 20; n++) await refuse(a);
  const whole = await mark(api);
  assert.equal((await change(a, 'whole')).status, 200);
  assert.deepEqual((await whole.audits())[0]!.body, { tags: ['whole'] });
  auditDay(api.services.database).room = new AuditRoom(undefined, 350); // too little for any contents
  const short = await mark(api);
  assert.equal((await change(a, 'short')).status, 200);
  const line = await row<object>(
    api.database.db,
    sql`select body, changes, touched, url, status from audit where id = (select max(id) from audit)`,
  );
  assert.equal((await short.audits()).length, 1);
  assert.deepEqual(line, {
    body: null,
    changes: [{ table: 'site', id: a.siteID, cut: 'changed' }],
    touched: [`site:${a.siteID}`],
    url: `/api/v1/user/site/${a.siteID}/tags`,
    status: 200,
  });
});

test('a change of many rows names the first of them once names have filled the day too', async () => {
  auditDay(api.services.database).room = new AuditRoom(undefined, 0);
  const items = Array.from({ length: 30 }, (_, n) => ({ ips: [`192.0.2.${n}`], blockType: 'deny' }));
  const path = `/user/site/${a.siteID}/firewall/setting/blacklists`;
  const made = await api.call('POST', path, { token: a.user.token, body: { items } });
  assert.equal(made.status, 200, made.text);
  const line = await row<{ changes: { more?: number }[]; touched: string[] }>(
    api.database.db,
    sql`select changes, touched from audit where id = (select max(id) from audit)`,
  );
  assert.deepEqual([line!.changes.length, line!.changes.at(-1)!.more, line!.touched.length], [21, 10, 21]);
});

test('a wish for what is there already is no change: it is counted too', async () => {
  await change(a, 'same');
  auditDay(api.services.database).room = new AuditRoom(undefined, 0);
  const since = await mark(api);
  for (let n = 0; n < 5; n++) assert.equal((await change(a, 'same')).status, 200);
  assert.deepEqual(await since.audits(), []);
  await flush();
  assert.deepEqual(
    (await folded()).map(({ times, url }) => [times, url]),
    [[5, `/api/v1/user/site/${a.siteID}/tags`]],
  );
});

test('tries at e-mails nobody has are counted together; a good sign-in is a line of its own', async () => {
  auditDay(api.services.database).room = new AuditRoom(undefined, 0);
  const verify = (email: string) => api.call('POST', '/user/verify', { body: { email, password: 'wrong-Password-1' } });
  for (let n = 0; n < 3; n++) assert.equal((await verify(`nobody-${n}@test.test`)).status, 401);
  await flush();
  assert.deepEqual(
    (await folded()).map(({ times, url }) => [times, url]),
    [[3, '/api/v1/user/verify']],
  );
});

test('kinds beyond fifty of one tree are one; a count of a day that is over begins anew', async () => {
  let now = 0;
  const folds = new AuditFolds(() => now);
  const line = (url: string) => ({
    reqID: 'x',
    actor: {
      accountID: a.user.id,
      email: a.user.email,
      proxyID: null,
      proxyName: null,
      clientID: a.client.id,
      area: 'user' as const,
      rootID: a.user.id,
    },
    method: 'PUT',
    url,
    permission: null,
    body: null,
    ip: '192.0.2.1',
    changes: [],
    status: 400,
    durationMs: 1,
    reason: 'parameter; secret wrongFormat',
  });
  for (let n = 0; n < 80; n++) folds.add(line(`/kind/${'abcdefghij'[n % 10]}${'abcdefghij'[Math.floor(n / 10)]}`));
  await folds.flush(api.database.db);
  const found = await folded();
  assert.equal(found.length, 51);
  assert.deepEqual([found.at(-1)!.times, found.at(-1)!.reason], [30, 'several']);
  // rows of one kind differ by their ids alone
  for (const id of [1, 22]) folds.add(line(`/kind/aa/${id}`));
  now = 86_400_001;
  await folds.flush(api.database.db);
  folds.add(line('/kind/aa'));
  await folds.flush(api.database.db);
  assert.equal((await folded()).filter(fold => fold.url === '/kind/aa').length, 2);
});

test('what is counted in another’s name is read by those whose rows it is about, and told apart from others of its kind', async () => {
  const folds = new AuditFolds();
  const { client } = a;
  for (const userID of [a.user.id, b.user.id, a.user.id])
    folds.add({
      reqID: 'x',
      actor: {
        accountID: null,
        email: 'house',
        proxyID: null,
        proxyName: null,
        clientID: client.id,
        area: 'client',
        rootID: client.id,
      },
      userID,
      method: 'EXPIRE',
      url: 'blacklist',
      permission: null,
      body: null,
      ip: '',
      changes: [],
      status: 400,
      durationMs: 1,
      reason: 'parameter',
    });
  await folds.flush(api.database.db);
  const found = await rows(api.database.db, sql`select "clientID", "userID", times from audit order by times`);
  assert.deepEqual(found, [
    { clientID: client.id, userID: b.user.id, times: 1 },
    { clientID: client.id, userID: a.user.id, times: 2 },
  ]);
});

test('what succeeded in part leaves one line, although it is answered as a failure', async () => {
  const { client } = a;
  const item = async (name: string) => {
    const made = await api.call('POST', '/client/zone', { token: client.token, body: { name } });
    return made.body.ids[0] as number;
  };
  const ids = [await item('to-go'), a.zoneID];
  const reply = await api.call('DELETE', '/client/zone', { token: client.token, body: { ids } });
  assert.equal(reply.body.code, 101009, reply.text);
  const lines = await rows<{ status: number; changes: object[] }>(
    api.database.db,
    sql`select status, changes from audit where "reqID" = ${String(reply.headers['x-request-id'])}`,
  );
  assert.deepEqual(
    lines.map(({ status, changes }) => [status, changes.length]),
    [[reply.status, 1]],
  );
});

test('secrets are in no contents of a change', async () => {
  const since = await mark(api);
  const path = `/user/site/${a.siteID}/module/customHeaders`;
  const secret = 'Bearer of-the-origin';
  const header = { name: 'Authorization', value: secret };
  const item = { name: 'with a secret', enabled: true, request: [header], response: [] };
  const made = await api.call('POST', path, { token: a.user.token, body: { modules: [item] } });
  assert.equal(made.status, 200, made.text);
  const [line] = await since.audits();
  assert.ok(JSON.stringify(line!.changes).includes('Authorization'));
  assert.ok(!JSON.stringify(line).includes(secret));
});

/** A line of a customer's. */
const lineOf = (of: Tenant, more: Partial<AuditLine> = {}): AuditLine => ({
  reqID: 'x',
  actor: {
    accountID: of.user.id,
    email: of.user.email,
    proxyID: null,
    proxyName: null,
    clientID: of.client.id,
    area: 'user',
    rootID: of.user.id,
  },
  method: 'PUT',
  url: '/line',
  permission: null,
  body: null,
  ip: '',
  changes: [],
  status: 400,
  durationMs: 1,
  reason: 'parameter',
  ...more,
});

test('strangers at the door of an account use up a day of their own, never its', async () => {
  const asked: number[] = [];
  auditDay(api.services.database).room.take = rootID => asked.push(rootID) > 0;
  const verify = (password: string) => api.call('POST', '/user/verify', { body: { email: a.user.email, password } });
  assert.equal((await verify('wrong-Password-1')).status, 401);
  assert.equal((await refuse(a)).status, 400);
  assert.deepEqual(asked, [-a.user.id, a.user.id]);
});

test('what the house does about a customer’s rows is of the customer’s day', async () => {
  const { database } = api.services;
  const asked: number[] = [];
  auditDay(database).room.take = rootID => asked.push(rootID) > 0;
  await audit(api.services, database.db, lineOf(a, { userID: b.user.id }));
  await audit(api.services, database.db, lineOf(a));
  await audit(api.services, database.db, lineOf(a, { isStranger: true }));
  assert.deepEqual(asked, [b.user.id, a.user.id, -a.user.id]);
});

test('a call that is undone has taken nothing of the day', async () => {
  const { database } = api.services;
  const { room } = auditDay(database);
  const left = (weight: number) => {
    if (!room.take(a.user.id, weight, 'idle')) return false;
    room.give(a.user.id, weight, 'idle');
    return true;
  };
  const idle = max / 4;
  assert.ok(left(idle));
  await assert.rejects(
    untangled(database.writes, async db => {
      await audit(api.services, db, lineOf(a));
      assert.ok(!left(idle));
      throw new Error('undone');
    }),
    /undone/,
  );
  assert.ok(left(idle));
  await untangled(database.writes, db => audit(api.services, db, lineOf(a)));
  assert.ok(!left(idle));
});

test('counts that are written by two at once are written once; one that cannot be written keeps none of the others', async () => {
  const { db } = api.services.database;
  const folds = new AuditFolds();
  for (const [tenant, method] of [
    [a, 'PUT'],
    [b, 'POST'],
    [a, 'POST'],
  ] as const)
    folds.add(lineOf(tenant, { method }));
  await Promise.all([folds.flush(db), folds.flush(db), folds.flush(db)]);
  assert.deepEqual(
    (await folded()).map(({ times }) => times),
    [1, 1, 1],
  );
  folds.add(lineOf(a));
  folds.add(lineOf(a, { method: 'a\0b' }));
  folds.add(lineOf(b, { method: 'DELETE' }));
  await assert.rejects(folds.flush(db));
  assert.deepEqual(
    (await folded()).map(({ times }) => times),
    [2, 1, 1, 1],
  );
});

test('kinds of all root accounts together have an end, whose call it was is what tells them apart, and none is lost at midnight', async () => {
  const { db } = api.services.database;
  let now = 0;
  const folds = new AuditFolds(() => now, 3);
  const { actor } = lineOf(a);
  folds.add(lineOf(a));
  folds.add(lineOf(a, { actor: { ...actor, accountID: b.user.id } }));
  folds.add(lineOf(b));
  for (const url of ['/late', '/later']) folds.add(lineOf(b, { url }));
  // nobody wrote it down yet when its day was over
  now = 86_400_001;
  folds.add(lineOf(a));
  await folds.flush(db);
  assert.deepEqual(
    (await folded()).map(({ times, url }) => [times, url]),
    [
      [2, '/line'],
      [1, '/line'],
      [1, '/line'],
      [2, ''],
    ],
  );
});
