/** Jobs that run by the clock. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { openDatabase, type Database, row, rows } from '#server/store/db.ts';
import { poll } from '#server/store/engine-process.ts';
import { migrate } from '#server/store/migrate.ts';
import { type PostgresEngine, startPostgres } from '#server/store/postgres-launcher.ts';
import { startWork } from '#server/work/work.ts';
import { testFolder } from '#system/engines.ts';

// an engine of its own: it is taken away from the running worker
const dir = join(testFolder('pg'), 'pg');
let engine: PostgresEngine;
let database: Database;
let work: Awaited<ReturnType<typeof startWork>>;
before(async () => {
  engine = await startPostgres({ dir, durable: false, ref: false });
  await migrate(engine.url);
  database = openDatabase(engine.url, 3);
  work = await startWork({ databaseUrl: engine.url }, { database });
});
after(async () => {
  await work?.stop();
  await database?.close();
  await engine?.stop();
});

const days = (n: number) => new Date(Date.now() - n * 86_400_000);
const tidied = async () => {
  await sql`select graphile_worker.add_job('tidy')`.execute(database.db);
  return poll(
    async () => (await rows(database.db, sql`select 1 from graphile_worker.jobs where task_identifier = 'tidy'`)).length === 0,
    20_000,
  );
};

test('what ended long ago is removed, what may still be asked for stays', async () => {
  const { db } = database;
  const account = (await row<{ id: number }>(
    db,
    sql`insert into account (email, name, auth, "isRoot") values ('a@test.test', 'a', 'client', true) returning id`,
  ))!.id;
  const session = async (expiredAt: Date, endedAt: Date | null) => {
    const id = randomUUID();
    await sql`insert into session (id, "accountID", "refreshHash", "expiredAt", "endedAt") values (${id}, ${account}, ${randomBytes(32)}, ${expiredAt}, ${endedAt})`.execute(
      db,
    );
    return id;
  };
  const keep = [await session(days(-30), null), await session(days(-30), days(6)), await session(days(6), null)];
  await session(days(8), null);
  await session(days(-30), days(8));
  const login = (expiredAt: Date) =>
    sql`insert into login (hash, "accountID", code, "expiredAt") values (${randomBytes(32)}, ${account}, 'x', ${expiredAt})`.execute(
      db,
    );
  await login(days(0.5));
  await login(days(2));
  const token = (name: string, expiredAt: Date) =>
    sql`insert into "joinToken" (hash, "clientID", name, "expiredAt") values (${randomBytes(32)}, ${account}, ${name}, ${expiredAt})`.execute(
      db,
    );
  await token('young', days(6));
  await token('old', days(8));

  assert.ok(await tidied());
  assert.deepEqual((await rows<{ id: string }>(db, sql`select id from session`)).map(one => one.id).sort(), keep.sort());
  assert.equal((await rows(db, sql`select 1 from login`)).length, 1);
  assert.deepEqual(
    (await rows<{ name: string }>(db, sql`select name from "joinToken"`)).map(one => one.name),
    ['young'],
  );
});

test('the worker goes on after PostgreSQL was away', async () => {
  const { port } = engine;
  for (let round = 0; round < 2; round++) {
    await engine.stop();
    engine = await startPostgres({ dir, port, durable: false, ref: false });
    await sql`insert into login (hash, "accountID", code, "expiredAt") select 'after the loss', id, 'x', ${days(2)} from account`.execute(
      database.db,
    );
    assert.ok(await tidied(), `no job ran after restart ${round}`);
    assert.equal((await rows(database.db, sql`select 1 from login where hash = 'after the loss'`)).length, 0);
  }
});

test('the clock knows the job', async () => {
  const known = await rows<{ identifier: string }>(
    database.db,
    sql`select identifier from graphile_worker._private_known_crontabs`,
  );
  assert.ok(known.some(one => one.identifier === 'tidy'));
});
