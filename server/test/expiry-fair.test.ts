/** Rows that end, of many at once: nobody's ends wait for another's. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { row, rows } from '#server/store/db.ts';
import { poll } from '#server/store/engine-process.ts';
import { Expiry } from '#server/work/expiry.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let b: Tenant;
let expiry: Expiry;
before(async () => {
  api = await Api.start();
  [a, b] = [await api.tenant('a'), await api.tenant('b')];
  // lines are cleared away between tests: in the product nobody can
  await sql`alter table audit disable trigger user`.execute(api.database.db);
});
beforeEach(async () => {
  await sql`delete from blacklist`.execute(api.database.db);
  await sql`delete from audit where method = 'EXPIRE'`.execute(api.database.db);
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

let serial = 0;
const sitesOf = async ({ client, user, productID }: Tenant, count: number) =>
  (
    await rows<{ id: number }>(
      api.database.db,
      sql`insert into site ("clientID", "userID", "productID", "siteName")
          select ${client.id}, ${user.id}, ${productID}, 'fair ' || ${++serial}::int || ' ' || n from generate_series(1, ${count}) n returning id`,
    )
  ).map(({ id }) => id);
/** So many entries of each site that are over since then. */
const over = (siteIDs: readonly number[], seconds: number, count = 1) =>
  sql`insert into blacklist ("siteID", ips, "blockType", "expiredAt")
      select s, array['192.0.2.' || n], 'deny', now() - ${seconds} * interval '1 second'
      from unnest(${siteIDs}::bigint[]) s cross join generate_series(1, ${count}) n`.execute(api.database.db);
const left = async (siteIDs: readonly number[]) =>
  (await row<{ n: number }>(
    api.database.db,
    sql`select count(*) as n from blacklist where "siteID" = any(${siteIDs}) and "deletedAt" is null`,
  ))!.n;
/** Whose rows ended, in their order. */
const ended = async () =>
  (await rows<{ userID: number }>(api.database.db, sql`select "userID" from audit where method = 'EXPIRE' order by id`)).map(
    ({ userID }) => userID,
  );

test('whoever has much that ends at once keeps nobody: each root account has its turns of a look', async () => {
  const many = await sitesOf(a, 30);
  await over(many, 60, 40);
  await over([b.siteID], 1);
  expiry = new Expiry(api.database.url, api.services);
  try {
    await expiry.sweep();
    assert.deepEqual([await left(many), await left([b.siteID])], [0, 0]);
    const order = await ended();
    assert.equal(order.length, 31);
    // begun second; how soon it is done is the machine's: its connection may have to be made first
    assert.ok(order.indexOf(b.user.id) < 15, String(order));
  } finally {
    await expiry.stop();
  }
});

test('an operator of many customers whose rows ended before keeps no other operator’s from a turn', async () => {
  const customers = await rows<{ id: number }>(
    api.database.db,
    sql`insert into account (email, name, auth, "isRoot", grade, "parentClient", "parentID", "emailConfirmed")
        select 'fair' || n || '@x.test', 'c' || n, 'user', true, 0, ${a.client.id}, ${a.client.id}, true from generate_series(1, 40) n returning id`,
  );
  await sql`update account set "rootID" = id where "rootID" is null`.execute(api.database.db);
  const sites: number[] = [];
  for (const user of customers) sites.push(...(await sitesOf({ ...a, user: { ...a.user, ...user } }, 1)));
  await over(sites, 60);
  await over([b.siteID], 1);
  expiry = new Expiry(api.database.url, api.services);
  try {
    await expiry.sweep();
    const order = await ended();
    assert.equal(order.length, 41);
    assert.ok(order.indexOf(b.user.id) < 20, String(order));
  } finally {
    await expiry.stop();
  }
});

test('a hundred and twenty sites of one customer all end once it has started', async () => {
  const many = await sitesOf(a, 120);
  await over(many, 60);
  expiry = new Expiry(api.database.url, api.services);
  expiry.start();
  try {
    assert.ok(await poll(async () => (await left(many)) === 0, 60_000, 20));
    // each look asks for all that is due: it is not asked anew for every two
    assert.ok(expiry.looks < 30, String(expiry.looks));
  } finally {
    await expiry.stop();
  }
});

test('a site that somebody holds keeps neither others nor its owner’s others; its rows end when it is free', async () => {
  const [held, ...others] = (await sitesOf(a, 6)) as [number, ...number[]];
  await over([held, ...others], 60);
  await over([b.siteID], 1);
  expiry = new Expiry(api.database.url, api.services);
  const holder = new pg.Client(api.database.url);
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query('select from site where id = $1 for no key update', [held]);
    expiry.start();
    assert.ok(await poll(async () => (await left([...others, b.siteID])) === 0, 20_000, 20));
    assert.equal(await left([held]), 1);
    await holder.query('commit');
    assert.ok(await poll(async () => (await left([held])) === 0, 20_000, 20));
  } finally {
    await holder.end();
    await expiry.stop();
  }
});

test('what cannot be removed keeps nobody either, and is asked again', async () => {
  const [broken, ...others] = (await sitesOf(a, 4)) as [number, ...number[]];
  await over([broken, ...others], 60);
  await over([b.siteID], 1);
  await sql
    .raw(
      `create function fair() returns trigger language plpgsql as $$ begin if new."siteID" = ${broken} then raise exception 'no'; end if; return new; end $$;
       create trigger fair before update on blacklist for each row execute function fair()`,
    )
    .execute(api.database.db);
  expiry = new Expiry(api.database.url, api.services);
  try {
    await expiry.sweep();
    assert.deepEqual([await left(others), await left([b.siteID]), await left([broken])], [0, 0, 1]);
    await sql.raw('drop trigger fair on blacklist; drop function fair()').execute(api.database.db);
    assert.ok(await poll(async () => (await expiry.sweep(), (await left([broken])) === 0), 20_000, 50));
  } finally {
    await expiry.stop();
  }
});

test('ends that take long keep another operator’s waiting no longer than a look: it has a place of its own', async () => {
  const many = await sitesOf(a, 3);
  await over(many, 60);
  await sql
    .raw(
      `create function slow() returns trigger language plpgsql as $$ begin if new."siteID" in (${many.join()}) then perform pg_sleep(8); end if; return new; end $$;
       create trigger slow before update on blacklist for each row execute function slow()`,
    )
    .execute(api.database.db);
  expiry = new Expiry(api.database.url, api.services);
  try {
    expiry.start();
    assert.ok(await poll(async () => expiry.looks > 0, 20_000, 20));
    await over([b.siteID], 1);
    assert.ok(await poll(async () => (await left([b.siteID])) === 0, 20_000, 20));
    assert.equal(await left(many), 3, 'while none of the first was done');
  } finally {
    await sql.raw('drop trigger slow on blacklist; drop function slow()').execute(api.database.db);
    await expiry.stop();
  }
});

test('a look that takes as long as there is between two ends what it found all the same', async () => {
  await over([b.siteID], 1);
  await sql
    .raw(
      `alter table blacklist rename to blacklist_all;
       create function slowly() returns boolean language plpgsql volatile as $$ begin if current_query() like '%row_number%' then perform pg_sleep(1.1); end if; return true; end $$;
       create view blacklist as select * from blacklist_all where (select slowly())`,
    )
    .execute(api.database.db);
  expiry = new Expiry(api.database.url, api.services);
  try {
    expiry.start();
    assert.ok(await poll(async () => (await left([b.siteID])) === 0, 30_000, 20));
  } finally {
    await expiry.stop();
    await sql
      .raw('drop view blacklist; drop function slowly; alter table blacklist_all rename to blacklist')
      .execute(api.database.db);
  }
});
