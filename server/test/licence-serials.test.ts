/** What an installation of before there were serials knows of its licence files: what was taken back stays so, and one is one operator's. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { migrate, migrationNames } from '#server/store/migrate.ts';
import { freshDatabase } from '#system/engines.ts';

test('files that are held, taken back, changed, held twice, or held again behind their end', async () => {
  const url = await freshDatabase();
  await migrate(
    url,
    (await migrationNames()).filter(name => name < '0480'),
  );
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: accounts } = await client.query<{ id: string }>(
      `insert into account (email, name, auth, "isRoot") select n || '@test.test', 'x', 'client', true from generate_series(1, 6) n returning id`,
    );
    const ids = accounts.map(({ id }) => id);
    await client.query('update account set "rootID" = id');
    const issued = (serial: string, revision: number, isDeleted = false) =>
      client.query(
        `insert into "offlineLicense" ("vendorID", name, serial, revision, file, "deletedAt") values ($1, 'x', $2, $3, 'x', $4)`,
        [ids[0], serial, revision, isDeleted ? new Date() : null],
      );
    const holds = (n: number, serial: string, revision: number, isGone = false) =>
      client.query(
        `insert into "licenseOrder" ("clientID", kind, serial, revision, file, "isGone") values ($1, 'offline', $2, $3, 'x', $4)`,
        [ids[n], serial, revision, isGone],
      );
    await issued('held', 2);
    await holds(1, 'held', 1);
    await issued('unseen', 1, true);
    await issued('back', 3, true);
    await holds(2, 'back', 3);
    await holds(3, 'elsewhere', 4, true);
    await holds(4, 'twice', 1);
    await holds(5, 'twice', 1);

    await migrate(url);
    const { rows: serials } = await client.query('select serial, "leastRevision"::int as least from "licenseSerial" order by 1');
    assert.deepEqual(Object.fromEntries(serials.map(({ serial, least }) => [serial, least])), {
      back: 4,
      elsewhere: 5,
      held: 2,
      twice: 1,
      unseen: 2,
    });
    const { rows: orders } = await client.query('select "isGone" from "licenseOrder" order by id');
    assert.deepEqual(
      orders.map(one => one.isGone),
      [false, true, true, false, true],
    );
  } finally {
    await client.end();
  }
});
