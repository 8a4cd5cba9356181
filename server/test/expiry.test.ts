/** Rows that end by themselves: at their time, as a call would remove them, and by nobody's hand. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { parts } from '#server/compile/parts.ts';
import { theHouse } from '#server/kit/context.ts';
import { row, rows } from '#server/store/db.ts';
import { poll } from '#server/store/engine-process.ts';
import { Expiry } from '#server/work/expiry.ts';
import { broken, by, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let b: Tenant;
before(async () => {
  api = await Api.start();
  [a, b] = [await api.tenant('a'), await api.tenant('b')];
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
const entry = (ip: string, expiredAt?: string | null) => ({
  ips: [ip],
  blockType: 'deny',
  ...(expiredAt === undefined ? {} : { expiredAt }),
});
const path = ({ siteID }: Tenant, list = 'blacklists') => `/user/site/${siteID}/firewall/setting/${list}`;
const deletedAt = async (id: number, table = 'blacklist') =>
  (await row<{ at: string | null }>(api.database.db, sql`select "deletedAt" as at from ${sql.table(table)} where id = ${id}`))!
    .at;
const revisionOf = async ({ siteID }: Tenant) =>
  (await row<{ n: number }>(api.database.db, sql`select revision as n from site where id = ${siteID}`))!.n;
/** Rows that the next document of a site would hold. */
const compiled = async (kind: 'blacklists' | 'whitelists', { siteID }: Tenant) =>
  ((await api.database.pool.query(parts[kind].text, [[siteID]])).rows[0] as { row: { id: number }[] }).row.map(({ id }) =>
    Number(id),
  );
/** What was written while it was not looked at. */
const overdue = (id: number, table = 'blacklist') =>
  sql`update ${sql.table(table)} set "expiredAt" = now() - interval '1 second' where id = ${id}`.execute(api.database.db);

test('an entry is removed at its time, its site is published, and the audit says that it was the house', async () => {
  const expiry = new Expiry(api.database.url, api.services);
  const stays = await by(api, a.user).make(path(a), { items: [entry('192.0.2.1')] });
  const later = await by(api, a.user).make(path(a), { items: [entry('192.0.2.2', inSeconds(3600))] });
  const ends = await by(api, a.user).make(path(a), { items: [entry('192.0.2.3', inSeconds(2))] });
  const white = await by(api, b.user).make(path(b, 'whitelists'), {
    items: [{ ips: ['192.0.2.9'], urls: [], expiredAt: inSeconds(2) }],
  });
  const { data } = await by(api, a.user).read(`${path(a)}?sortBy=expiredAt&orderBy=asc`);
  assert.deepEqual(
    data.map(({ id, expiredAt }: { id: number; expiredAt: string | null }) => [id, expiredAt !== null]),
    [
      [ends, true],
      [later, true],
      [stays, false],
    ],
  );
  await sql`delete from outbox`.execute(api.database.db);
  const before = await revisionOf(a);
  expiry.start();
  try {
    assert.ok(
      await poll(async () => (await deletedAt(ends)) !== null && (await deletedAt(white, 'whitelist')) !== null, 15_000, 20),
    );
  } finally {
    await expiry.stop();
  }
  assert.deepEqual([await deletedAt(stays), await deletedAt(later)], [null, null]);
  assert.ok((await revisionOf(a)) > before);
  const waiting = await rows<{ kind: string; id: number }>(
    api.database.db,
    sql`select kind, "entityID" as id from outbox order by kind`,
  );
  assert.deepEqual(waiting, [
    { kind: 'blacklists', id: a.siteID },
    { kind: 'whitelists', id: b.siteID },
  ]);
  // one line of each, for those alone whose it is
  for (const [who, resource, id] of [
    [a, 'blacklists', ends],
    [b, 'whitelists', white],
  ] as const)
    for (const person of [who.user, who.client]) {
      const of = encodeURIComponent(`/site/{siteID}/firewall/setting/${resource}`);
      const history = await by(api, person).read(`/${person.area}/history?resource=${of}&id=${id}`);
      assert.deepEqual([history.data[0].kind, history.data[0].by, history.total], ['removed', theHouse, 2]);
    }
  const lines = await rows<{ clientID: number; userID: number; accountID: number | null }>(
    api.database.db,
    sql`select "clientID", "userID", "accountID" from audit where method = 'EXPIRE' order by id`,
  );
  assert.deepEqual(
    lines.sort((x, y) => x.clientID - y.clientID),
    [
      { clientID: a.client.id, userID: a.user.id, accountID: null },
      { clientID: b.client.id, userID: b.user.id, accountID: null },
    ],
  );
});

test('two processes remove it once; one that was given more time stays; what is over is in no document before', async () => {
  const two = [new Expiry(api.database.url, api.services), new Expiry(api.database.url, api.services)];
  try {
    const id = await by(api, a.user).make(path(a), { items: [entry('192.0.2.4', inSeconds(3600))] });
    const other = await by(api, a.user).make(path(a), { items: [entry('192.0.2.5', inSeconds(3600))] });
    assert.ok((await compiled('blacklists', a)).includes(id));
    await overdue(id);
    assert.ok(!(await compiled('blacklists', a)).includes(id));
    assert.ok((await compiled('blacklists', a)).includes(other));
    const lines = async () =>
      (await rows(api.database.db, sql`select from audit where touched @> array[${`blacklist:${id}`}]`)).length;
    const known = await lines();
    await Promise.all(two.map(one => one.sweep()));
    assert.notEqual(await deletedAt(id), null);
    assert.equal(await lines(), known + 1);

    await overdue(other);
    // it is over: only more time brings it back
    broken(await by(api, a.user).put(path(a), { id: other, memo: 'late' }), 'expiredAt', 'isOver');
    ok(await by(api, a.user).put(path(a), { id: other, expiredAt: inSeconds(3600) }));
    await two[0]!.sweep();
    assert.equal(await deletedAt(other), null);
    ok(await by(api, a.user).put(path(a), { id: other, expiredAt: null }));
  } finally {
    for (const one of two) await one.stop();
  }
});

test('one that is given more time just then stays: whoever removes waits for whoever writes the site', async () => {
  const expiry = new Expiry(api.database.url, api.services);
  const holder = new pg.Client(api.database.url);
  await holder.connect();
  try {
    const id = await by(api, a.user).make(path(a), { items: [entry('192.0.2.14', inSeconds(3600))] });
    await overdue(id);
    await holder.query('begin');
    await holder.query('select from site where id = $1 for no key update', [a.siteID]);
    await holder.query(`update blacklist set "expiredAt" = now() + interval '1 hour' where id = $1`, [id]);
    const sweep = expiry.sweep();
    const waits = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    assert.ok(await poll(async () => (await rows(api.database.db, waits)).length > 0, 10_000, 10));
    await holder.query('commit');
    await sweep;
    assert.equal(await deletedAt(id), null);
  } finally {
    await holder.end();
    await expiry.stop();
  }
});

test('it is asked again at the very time of the next; a paused operator’s entries end as well, a deleted site’s are left alone', async () => {
  const expiry = new Expiry(api.database.url, api.services);
  try {
    assert.equal(await expiry.sweep(), 1000);
    const soon = await by(api, b.user).make(path(b), { items: [entry('192.0.2.6', inSeconds(3600))] });
    const ends = sql`update blacklist set "expiredAt" = clock_timestamp() + interval '600 milliseconds' where id = ${soon}`;
    let ms = 1000;
    // on a machine that stands still it may be over before it is looked at
    for (let tries = 0; ms > 600 && tries < 20; tries++) {
      await ends.execute(api.database.db);
      ms = await expiry.sweep();
    }
    assert.ok(ms > 0 && ms <= 600, String(ms));
    await overdue(soon);
    await sql`update account set status = 'pause' where id = ${b.client.id}`.execute(api.database.db);
    await expiry.sweep();
    assert.notEqual(await deletedAt(soon), null);
    await sql`update account set status = 'normal' where id = ${b.client.id}`.execute(api.database.db);

    const of = await by(api, b.user).make(path(b), { items: [entry('192.0.2.7', inSeconds(3600))] });
    await overdue(of);
    await sql`update site set "deletedAt" = now() where id = ${b.siteID}`.execute(api.database.db);
    assert.equal(await expiry.sweep(), 1000);
    assert.equal(await deletedAt(of), null);
    await sql`update site set "deletedAt" = null where id = ${b.siteID}`.execute(api.database.db);
  } finally {
    await expiry.stop();
  }
});

test('an end that is over already is refused, at the field', async () => {
  const past = inSeconds(-1);
  broken(await by(api, a.user).post(path(a), { items: [entry('192.0.2.8', past)] }), 'items.0.expiredAt', 'isOver');
  const id = await by(api, a.user).make(path(a), { items: [entry('192.0.2.8', null)] });
  broken(await by(api, a.user).put(path(a), { id, expiredAt: past }), 'expiredAt', 'isOver');
});
