/** What is removed for good, what stays, and who decides. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { sql } from 'kysely';
import { retentionDefaults } from '#contract/limits.ts';
import { row, rows } from '#server/store/db.ts';
import { childrenFirst, retain } from '#server/work/retention.ts';
import { broken, by, is, ok } from './expect.ts';
import { siteLists } from './guards/site-lists.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let serial = 0;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
});
beforeEach(() => void serial++);
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const insert = async (table: string, values: Record<string, unknown>): Promise<number> => {
  const names = Object.keys(values);
  const made = await row<{ id: number }>(
    api.database.db,
    sql`insert into ${sql.table(table)} (${sql.join(names.map(n => sql.ref(n)))}) values (${sql.join(Object.values(values))}) returning id`,
  );
  return made!.id;
};
const ago = (days: number) => new Date(Date.now() - days * 86_400_000);
const isThere = async (table: string, id: number) =>
  (await rows(api.database.db, sql`select 1 from ${sql.table(table)} where id = ${id}`)).length === 1;
/** zone → group → product → site → domain → origin, with a rule, a purge and a reader of the site; deleted that long ago, as the API does it. */
async function line(days: number): Promise<Record<string, number>> {
  const deletedAt = ago(days);
  const name = `gone-${serial}-${days}`;
  const zone = await insert('zone', { clientID: a.client.id, name, deletedAt });
  const group = await insert('group', { clientID: a.client.id, zoneID: zone, name, deletedAt });
  const product = await insert('product', { clientID: a.client.id, groupID: group, name, deletedAt });
  const site = await insert('site', { clientID: a.client.id, userID: a.user.id, productID: product, siteName: name, deletedAt });
  const domain = await insert('domain', { siteID: site, domainName: `${name}.test`, deletedAt });
  const upstream = await insert('upstream', { domainID: domain, address: '192.0.2.1' });
  const purgeTask = await insert('purgeTask', { siteID: site, type: 1, url: 'http://x/', generation: 5, createdAt: deletedAt });
  const blacklist = await insert('blacklist', { siteID: site, ips: ['192.0.2.1'], blockType: 'x' });
  await sql`insert into "siteUser" values (${site}, ${a.user.id})`.execute(api.database.db);
  await sql`insert into publication ("siteID", revision, seq, "committedAt") values (${site}, 1, 1, now())`.execute(
    api.database.db,
  );
  return { zone, group, product, site, domain, upstream, purgeTask, blacklist };
}
async function left(made: Record<string, number>): Promise<string[]> {
  const found: string[] = [];
  for (const [table, id] of Object.entries(made)) if (await isThere(table, id)) found.push(table);
  return found;
}

test('children go before parents; what statistics name stays as long as they do', async () => {
  const old = await line(500);
  const young = await line(100);
  const fresh = await line(5);
  const result = await retain(api.database.db);
  assert.deepEqual([result.problem, result.more], [null, false]);
  assert.deepEqual(await left(old), []);
  assert.deepEqual(await left(young), ['zone', 'group', 'product', 'site', 'domain']);
  assert.deepEqual(await left(fresh), Object.keys(fresh));
  assert.equal((await rows(api.database.db, sql`select 1 from publication where "siteID" = ${old['site']}`)).length, 0);
  assert.ok(result.removed['upstream']! >= 2 && result.removed['site'] === 1, JSON.stringify(result.removed));
  assert.deepEqual((await retain(api.database.db)).removed, {});
});

/** A row of each table whose rows are part of a site; a new one that is no `siteList` belongs here. */
const parts: Record<string, (of: Record<string, number>) => Record<string, unknown>> = {
  domain: ({ site }) => ({ siteID: site, domainName: `part-${serial}.test` }),
  upstream: ({ domain }) => ({ domainID: domain, address: '192.0.2.1' }),
  port: ({ site }) => ({ siteID: site, port: 8443, scheme: 'https' }),
  portUpstream: ({ port }) => ({ portID: port, address: '192.0.2.1' }),
  module: ({ site }) => ({ siteID: site, type: 'urlRedirect', name: 'x' }),
  redirect: ({ module }) => ({ moduleID: module, matchType: 'exact', source: '/a', target: '/b', statusCode: 301 }),
  cacheRule: ({ site }) => ({ siteID: site, type: 'site', duration: 1, mode: 'followOrigin' }),
  purgeTask: ({ site }) => ({ siteID: site, type: 0, url: '*', generation: 9 }),
  rate: ({ site }) => ({ siteID: site, type: 'site', rate: 1 }),
  errorPage: ({ site }) => ({ siteID: site, code: 403, type: 'content', content: 'x' }),
  certificate: ({ site }) => ({
    siteID: site,
    sslName: 'x',
    names: sql`'{part.test}'::text[]`,
    issuer: 'x',
    serial: 'x',
    fingerprint: `part-${serial}`,
    keyType: 'ec',
    keyBits: 256,
    notBefore: ago(1),
    notAfter: ago(1),
    isWhole: true,
    leaf: Buffer.from('x'),
    issuers: '[]',
    privateKey: Buffer.from('x'),
  }),
  siteDNS: ({ site }) => ({ siteID: site, provider: 'cloudflare' }),
  autoCertificate: ({ domain }) => ({ domainID: domain, provider: 'letsEncrypt' }),
  ...Object.fromEntries(
    siteLists.map(({ table, row: values }) => [table, ({ site }: Record<string, number>) => ({ ...values(), siteID: site })]),
  ),
};

test('what is part of a row that a call deleted goes with it, whatever it is', async () => {
  const { db } = api.database;
  const below = await rows<{ name: string }>(
    db,
    sql`with recursive part as (
      select '"site"'::regclass::oid as oid union
      select c.oid from part join pg_constraint f on f.confrelid = part.oid and f.contype = 'f'
        join pg_class c on c.oid = f.conrelid
        join pg_attribute a on a.attrelid = c.oid and a.attnum = f.conkey[1] and a.attnotnull
        join pg_attribute d on d.attrelid = c.oid and d.attname = 'deletedAt'
    ) select relname::text as name from part join pg_class using (oid) where relname <> 'site'`,
  );
  assert.deepEqual(below.map(one => one.name).sort(), Object.keys(parts).sort(), 'say above how a row of it is made');
  const made: Record<string, number> = {};
  made['site'] = await insert('site', {
    clientID: a.client.id,
    userID: a.user.id,
    productID: a.productID,
    siteName: `part-${serial}`,
  });
  for (const [table, values] of Object.entries(parts)) made[table] = await insert(table, values(made));
  const user = by(api, a.user);
  const { site, domain, module } = made;
  ok(await user.del(`/user/site/${site}/domains`, { ids: [domain] }));
  ok(await user.del(`/user/site/${site}/module/urlRedirects`, { ids: [module] }));
  ok(await by(api, a.client).del('/client/site', { ids: [site] }));
  await retain(db);
  assert.deepEqual(await left(made), Object.keys(made), 'not before its time');
  for (const [table, id] of Object.entries({ site, domain, module }))
    await sql`update ${sql.table(table)} set "deletedAt" = "deletedAt" - interval '900 days' where id = ${id}`.execute(db);
  assert.equal((await retain(db)).problem, null);
  assert.deepEqual(await left(made), []);
});

test('what something refers to stays, also where the table that refers is unknown here', async () => {
  const { db } = api.database;
  const made = await line(500);
  await sql`create table invoice (id bigint primary key, "siteID" bigint references site)`.execute(db);
  await sql`insert into invoice values (1, ${made['site']})`.execute(db);
  const live = await insert('product', { clientID: a.client.id, groupID: a.groupID, name: `live-${serial}` });
  await sql`update "group" set "deletedAt" = ${ago(500)} where id = ${a.groupID}`.execute(db);
  assert.equal((await retain(db)).problem, null);
  assert.ok((await left(made)).includes('site'));
  assert.ok(await isThere('group', a.groupID), 'a live product refers to the group');
  await sql`update "group" set "deletedAt" = null where id = ${a.groupID}`.execute(db);
  await sql`drop table invoice`.execute(db);
  await retain(db);
  assert.deepEqual(await left(made), []);
  assert.ok(await isThere('product', live));
});

test('more than one step holds; a row somebody holds is passed over; a run that is cut short says so', async () => {
  const { db, pool } = api.database;
  await sql`insert into blacklist ("siteID", ips, "blockType", "deletedAt") select ${a.siteID}, '{}', 'x', ${ago(91)} from generate_series(1, 2500)`.execute(
    db,
  );
  assert.deepEqual(await retain(db, -1).then(({ removed, more }) => [removed, more]), [{}, true]);
  const client = await pool.connect();
  try {
    await client.query('begin');
    const held = await client.query(
      'select id from blacklist where "siteID" = $1 and "deletedAt" is not null limit 3 for update',
      [a.siteID],
    );
    assert.equal((await retain(db)).removed['blacklist'], 2497);
    await client.query('rollback');
    assert.equal(held.rowCount, 3);
  } finally {
    client.release();
  }
  assert.equal((await retain(db)).removed['blacklist'], 3);
});

test('that there was an owner is known for good: the next operator that is made makes nobody the owner', async () => {
  const { db } = api.database;
  const person = { name: 'x', auth: 'client', isRoot: true, deletedAt: ago(900) };
  const other = await insert('account', { ...person, email: `other-${serial}@test.test` });
  await sql`update account set "isOwner" = false where "isOwner"`.execute(db);
  const owner = await insert('account', { ...person, email: `owner-${serial}@test.test`, isOwner: true });
  try {
    await retain(db);
    assert.deepEqual([await isThere('account', other), await isThere('account', owner)], [false, true]);
  } finally {
    await sql`delete from account where id = ${owner}`.execute(db);
    await sql`update account set "isOwner" = true where id = ${a.client.id}`.execute(db);
  }
});

test('what may be without what it names stays when that is long gone', async () => {
  const { db } = api.database;
  const maker = await insert('account', {
    email: `maker-${serial}@test.test`,
    name: 'm',
    auth: 'client',
    rootID: a.client.id,
    deletedAt: ago(900),
  });
  const role = await insert('role', {
    rootID: a.client.id,
    name: `of-maker-${serial}`,
    permissionKeys: ['sites.view'],
    makerID: maker,
  });
  assert.equal((await retain(db)).problem, null);
  const found = await rows<{ deletedAt: string | null }>(db, sql`select "deletedAt" from role where id = ${role}`);
  assert.deepEqual(found, [{ deletedAt: null }]);
  await sql`delete from role where id = ${role}`.execute(db);
});

test('what somebody signed in by keeps no account, and challenges of days ago go', async () => {
  const { db } = api.database;
  const gone = await insert('account', {
    ...{ email: `signed-in-${serial}@test.test`, name: 'm', auth: 'user', parentClient: a.client.id, deletedAt: ago(900) },
  });
  const passkey = { name: 'x', publicKey: Buffer.of(1), counter: 0, host: 'console.test', isSynced: false };
  await insert('passkey', { accountID: gone, credentialID: `gone-${serial}`, ...passkey });
  await insert('authenticator', { accountID: gone, step: 0 });
  await insert('identity', {
    accountID: gone,
    clientID: a.client.id,
    area: 'user',
    issuer: 'https://x.test',
    subject: `${serial}`,
  });
  const hash = (n: number) => Buffer.from(`${serial} ${n}`);
  await sql`insert into "mailLink" (hash, "accountID", "expiredAt") values (${hash(0)}, ${gone}, now())`.execute(db);
  for (const [n, accountID] of [gone, null, null].entries())
    await sql`insert into "passkeyChallenge" (hash, "accountID", area, "expiredAt")
      values (${hash(n)}, ${accountID}, 'user', ${n === 2 ? ago(-1) : ago(2)})`.execute(db);
  for (const [n, accountID] of [gone, null, null].entries())
    await sql`insert into "oidcFlow" (hash, "clientID", area, "accountID", origin, "expiredAt")
      values (${hash(n)}, ${a.client.id}, 'user', ${accountID}, 'https://x.test', ${n === 2 ? ago(-1) : ago(2)})`.execute(db);
  assert.equal((await retain(db)).problem, null);
  assert.equal(await isThere('account', gone), false);
  const flows = await rows<{ hash: Buffer }>(
    db,
    sql`select hash from "oidcFlow" where hash in (${hash(0)}, ${hash(1)}, ${hash(2)})`,
  );
  assert.deepEqual(flows, [{ hash: hash(2) }]);
  const left = await rows<{ hash: Buffer }>(db, sql`select hash from "passkeyChallenge" where hash in (${hash(1)}, ${hash(2)})`);
  assert.deepEqual(left, [{ hash: hash(2) }]);
});

test('a backlog of one kind leaves the others their part of a run', async () => {
  const { db } = api.database;
  await sql`insert into audit ("reqID", method, url, "createdAt") overriding system value
    select 'backlog', 'PUT', 'x', now() - interval '4000 days' from generate_series(1, 1000)`.execute(db);
  await sql`update audit set id = id - 10000000 where "reqID" = 'backlog'`.execute(db).catch(() => {});
  await sql`insert into blacklist ("siteID", ips, "blockType", "deletedAt") values (${a.siteID}, '{}', 'x', ${ago(91)})`.execute(
    db,
  );
  // a step of the audit that takes half a second, and always finds more
  await sql`create function slow_backlog() returns trigger language plpgsql as $$
    begin
      perform pg_sleep(0.5);
      insert into audit ("reqID", method, url, "createdAt") select 'backlog', 'PUT', 'x', now() - interval '4000 days' from generate_series(1, 10);
      return null;
    end $$`.execute(db);
  await sql`create trigger slow_backlog after delete on audit execute function slow_backlog()`.execute(db);
  try {
    const { removed, more, problem } = await retain(db, 3000);
    assert.deepEqual([removed['blacklist'], more, problem], [1, true, null]);
  } finally {
    await sql`drop trigger slow_backlog on audit`.execute(db);
    await sql`delete from audit where "reqID" = 'backlog'`.execute(db);
  }
});

test('the audit, purges that say nothing any more, sessions', async () => {
  const { db } = api.database;
  // the oldest lines have the smallest ids
  await sql`insert into audit (id, "reqID", method, url, "createdAt") overriding system value select -n, 'old', 'POST', '/x', ${ago(366)} from generate_series(1, 1500) n`.execute(
    db,
  );
  await sql`update site set "cacheGeneration" = 10 where id = ${a.siteID}`.execute(db);
  const purge = (generation: number, days: number) =>
    insert('purgeTask', { siteID: a.siteID, type: 1, url: 'http://x/', generation, createdAt: ago(days) });
  const spent = await purge(9, 31);
  const young = await purge(9, 29);
  const standing = await purge(11, 399);
  const ancient = await purge(11, 401);
  await retain(db);
  assert.equal((await rows(db, sql`select 1 from audit where "reqID" = 'old'`)).length, 0);
  assert.deepEqual(await Promise.all([spent, young, standing, ancient].map(id => isThere('purgeTask', id))), [
    false,
    true,
    true,
    false,
  ]);
});

test('the owner decides within bounds and sees the last run; other operators and customers do not', async () => {
  const owner = by(api, a.client);
  const path = '/client/setting/system/retention';
  await retain(api.database.db);
  const { lastRun, version, ...days } = await owner.read(path);
  assert.deepEqual(days, retentionDefaults);
  assert.equal(version, 0);
  assert.equal(lastRun.problem, null);
  assert.ok(Date.now() - Date.parse(lastRun.at) < 60_000);
  broken(await owner.put(path, { ...retentionDefaults, audit: 29 }), 'audit');
  const made = await line(10);
  ok(await owner.put(path, { ...retentionDefaults, deleted: 7 }));
  await retain(api.database.db);
  assert.ok(!(await left(made)).includes('upstream'));
  const other = await api.account('client', 'other-operator@test.test');
  is(await by(api, other).get(path), 'permissionDenied');
  is(await by(api, other).put(path, retentionDefaults), 'permissionDenied');
  is(await by(api, a.user).get('/user/setting/system/retention'), 'pathInvalid');
});

test('an order of tables that refer to each other in a ring is still an order', () => {
  const reference = (child: string, parent: string) => ({ child, parent, column: 'x', must: true });
  const order = childrenFirst(
    ['a', 'b', 'c'],
    [reference('b', 'a'), reference('c', 'b'), reference('a', 'a'), reference('a', 'c')],
  );
  assert.deepEqual([...order].sort(), ['a', 'b', 'c']);
  assert.deepEqual(childrenFirst(['a', 'b'], [reference('b', 'a')]), ['b', 'a']);
});

test('a plan that was taken away stays as long as months it paid for are counted', async () => {
  const plan = async (days: number) => {
    const id = await insert('extraTrafficPlan', {
      clientID: a.client.id,
      userID: a.user.id,
      productID: a.productID,
      bytes: 5,
      startTime: ago(200),
      endTime: ago(-1),
      deletedAt: ago(days),
    });
    await sql`insert into "trafficDraw" values (${id}, 2020, 1, 5)`.execute(api.database.db);
    return id;
  };
  const [younger, older] = [await plan(90), await plan(110)];
  await retain(api.database.db);
  assert.deepEqual([await isThere('extraTrafficPlan', younger), await isThere('extraTrafficPlan', older)], [true, false]);
});
