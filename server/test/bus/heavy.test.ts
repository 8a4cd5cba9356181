/** Documents that weigh much: a round is cut by what it weighs, and goes on where it failed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Bounds } from '#server/bus/publish.ts';
import { startRelay } from '#server/bus/relay.ts';
import { siteApplied } from '#server/bus/settle.ts';
import { type Rig, Rig as Rigs, until } from './rig.ts';

/** A hundredth of what they are. One module below weighs some 25 kB. */
const bounds: Bounds = { roundBytes: 160_000, windowBytes: 40_000 };
const moduleBytes = 24_000;
function relay(rig: Rig) {
  const running = startRelay({ databaseUrl: rig.url, nats: rig.nc, signer: rig.signer, bounds });
  rig.onEnd(() => running.stop());
  return running;
}
const empty = (rig: Rig) => until('the outbox is empty', async () => (await rig.outbox()) === 0);

/** Sites with heavy modules, all of them waiting in the outbox. */
async function heavySites(rig: Rig, sites: number, modules: number): Promise<void> {
  const { productID } = await rig.zone('one');
  await rig.pool.query(
    `insert into site ("clientID", "userID", "productID", "siteName", revision)
     select 1, 2, $1, 's' || g, nextval('revision') from generate_series(1, $2::int) g`,
    [productID, sites],
  );
  await rig.pool.query(
    `insert into module ("siteID", type, name) select id, 'urlRedirect', 'm' || g from site, generate_series(1, $1::int) g`,
    [modules],
  );
  await rig.pool.query(
    `insert into redirect ("moduleID", "matchType", source, target, "statusCode")
     select m.id, 'exact', '/' || repeat('a', 1000) || g, 'https://x.test/' || repeat('a', 1000), 301 from module m, generate_series(1, 12) g`,
  );
  await rig.pool.query(
    `insert into outbox (kind, "entityID", "siteID", revision)
     select 'module', m.id, s.id, s.revision from module m join site s on s.id = m."siteID" union all select 'site', id, id, revision from site`,
  );
}
/** What each statement that records puts down, in bytes. */
async function weigh(rig: Rig): Promise<() => Promise<number[]>> {
  await rig.pool.query(`create table weight (id serial, bytes bigint);
    create function weigh() returns trigger language plpgsql as $$ begin
      insert into weight (bytes) select sum(octet_length(body)) from put having count(*) > 0; return null; end $$;
    create trigger inserted after insert on published referencing new table as put for each statement execute function weigh();
    create trigger updated after update on published referencing new table as put for each statement execute function weigh()`);
  return async () => (await rig.pool.query('select bytes::int from weight order by id')).rows.map(row => row.bytes);
}
/** What is recorded of one module fails, until it is mended: as a database that fails in the middle. */
async function fail(rig: Rig, moduleID: number): Promise<() => Promise<unknown>> {
  await rig.pool.query(`create function fail() returns trigger language plpgsql as $$ begin
      if new.kind = 'module' and new."entityID" = ${moduleID} then raise exception 'fails in the middle'; end if; return new; end $$;
    create trigger fail before insert on published for each row execute function fail()`);
  return () => rig.pool.query('drop trigger fail on published');
}
const modulesThere = async (rig: Rig): Promise<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(await rig.stands())
      .filter(([subject]) => subject.includes('.module.'))
      .map(([subject, { seq }]) => [subject, seq]),
  );

test('what waits is published in rounds of bounded weight, on a new stream and on one that stands', async t => {
  const rig = await Rigs.start(t);
  const weights = await weigh(rig);
  await heavySites(rig, 30, 1);
  let running = relay(rig);
  await empty(rig);
  assert.equal(Object.keys(await modulesThere(rig)).length, 30);
  await running.stop();
  const filled = await weights();
  await rig.pool.query(`update redirect set target = target || 'b'`);
  await rig.pool.query(`update site set revision = nextval('revision')`);
  await rig.pool.query(
    `insert into outbox (kind, "entityID", "siteID", revision) select 'module', m.id, s.id, s.revision from module m join site s on s.id = m."siteID"`,
  );
  running = relay(rig);
  await empty(rig);
  const all = await weights();
  assert.ok(filled.reduce((a, b) => a + b) > 30 * moduleBytes && all.reduce((a, b) => a + b) > 60 * moduleBytes);
  assert.ok(Math.max(...all) <= bounds.roundBytes, JSON.stringify(all));
  for (const { rows } of [await rig.pool.query('select id from site')])
    for (const { id } of rows) assert.deepEqual((await siteApplied(rig.pool, Number(id)))!.errors, []);
  assert.equal(
    await rig.one('select count(*)::int from site s join publication p on p."siteID" = s.id and p.revision = s.revision'),
    30,
  );
});

test('a site that is heavy by itself goes out in one round, recorded in pieces', async t => {
  const rig = await Rigs.start(t);
  relay(rig);
  await until('the stream stands', async () => (await rig.one('select count(*)::int from "busStream"')) === 1);
  const weights = await weigh(rig);
  await heavySites(rig, 1, 20);
  await empty(rig);
  assert.equal(Object.keys(await modulesThere(rig)).length, 20);
  const all = await weights();
  assert.ok(all.length > 2 && Math.max(...all) <= bounds.roundBytes, JSON.stringify(all));
  // it is served when the newest number of all pieces is
  assert.equal(
    await rig.one('select seq from publication'),
    await rig.one('select max(n) from published where "siteID" is not null'),
  );
});

test('a round that fails goes on where it failed: what was recorded is not published again', async t => {
  const rig = await Rigs.start(t);
  const first = relay(rig);
  await until('the stream stands', async () => (await rig.one('select count(*)::int from "busStream"')) === 1);
  await first.stop();
  await heavySites(rig, 30, 1);
  const mend = await fail(rig, await rig.one('select max(id) from module'));
  const running = relay(rig);
  await until('it fails', () => running.problem()?.includes('in the middle'));
  await running.stop();
  const waiting = await rig.outbox();
  assert.ok(waiting > 0 && waiting < 30, `${waiting} wait`);
  const recorded = (
    await rig.pool.query(`select subject, seq::int from published where kind = 'module' and hash not in ('', 'unknown')`)
  ).rows;
  assert.ok(recorded.length > 10, `${recorded.length} are recorded`);
  await mend();
  relay(rig);
  await empty(rig);
  const there = await modulesThere(rig);
  assert.equal(Object.keys(there).length, 30);
  for (const { subject, seq } of recorded) assert.equal(there[subject], seq);
});

test('a new stream that was half filled is filled further, and nobody is told of it before', async t => {
  const rig = await Rigs.start(t);
  await heavySites(rig, 30, 1);
  const mend = await fail(rig, await rig.one('select max(id) from module'));
  const running = relay(rig);
  await until('it fails', () => running.problem()?.includes('in the middle'));
  await running.stop();
  assert.equal(await rig.one(`select count(*)::int from "busStream" where name = 'CFG'`), 0);
  const recorded = (
    await rig.pool.query(`select subject, seq::int from published where kind = 'module' and hash not in ('', 'unknown')`)
  ).rows;
  assert.ok(recorded.length > 10, `${recorded.length} are recorded`);
  await mend();
  relay(rig);
  await empty(rig);
  const there = await modulesThere(rig);
  assert.equal(Object.keys(there).length, 30);
  for (const { subject, seq } of recorded) assert.equal(there[subject], seq);
  assert.deepEqual((await rig.pool.query('select name from "busStream"')).rows, [{ name: 'CFG' }]);
});
