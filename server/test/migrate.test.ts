/** What a database must be before anything is written to it. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import pg from 'pg';
import { checkInstallationKey } from '#server/store/key-check.ts';
import { migrate } from '#server/store/migrate.ts';
import { freshDatabase } from '#system/engines.ts';

async function on<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

test('a database of another encoding is refused before anything is made in it', async () => {
  const url = new URL(await freshDatabase());
  const name = `ascii_${randomBytes(6).toString('hex')}`;
  await on(url.href, client =>
    client.query(`create database ${name} encoding 'SQL_ASCII' locale_provider libc locale 'C' template template0`),
  );
  url.pathname = `/${name}`;
  await assert.rejects(migrate(url.href), {
    name: 'StartError',
    message: `The database ${name} is encoded as SQL_ASCII, Breakwater needs UTF8: make another with \`create database ${name}_utf8 encoding 'UTF8' template template0\` and name it in DATABASE_URL.`,
  });
  const made = await on(url.href, client =>
    client.query("select 1 from information_schema.tables where table_schema = 'public'"),
  );
  assert.equal(made.rowCount, 0);
});

test('a database that a newer version wrote is refused', async () => {
  const url = await freshDatabase();
  await migrate(url);
  await on(url, client => client.query("insert into migration (name) values ('9999_future.sql')"));
  await assert.rejects(migrate(url), /newer Breakwater \(it ran 9999_future\.sql/);
});

test('a database goes with one key', async () => {
  const url = await freshDatabase();
  await migrate(url);
  const key = randomBytes(32);
  await on(url, async client => {
    await checkInstallationKey(client, key);
    await checkInstallationKey(client, key);
    await assert.rejects(checkInstallationKey(client, randomBytes(32)), /^StartError: The key in secret\.key is not the one/);
  });
});
