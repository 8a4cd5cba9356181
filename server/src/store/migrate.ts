/** Plain SQL migrations, run once each in the order of their file names, under one lock. */
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import { StartError } from './start-error.ts';

export const migrationFolder = new URL('./migrations/', import.meta.url);

/** Those this program brings, in their order. */
export const migrationNames = async () => (await readdir(migrationFolder)).filter(name => name.endsWith('.sql')).sort();

/**
 * Brings the schema up to date; answers the names that were run. Safe to call from several processes at once.
 * `only`: these alone, for rows that were written for them.
 */
export async function migrate(url: string, only?: readonly string[]): Promise<string[]> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'breakwater-migrate',
    connectionTimeoutMillis: 10_000,
  });
  await client.connect();
  try {
    await checkEncoding(client);
    await client.query('select pg_advisory_lock(72010)');
    await client.query(
      'create table if not exists migration (name text primary key, "ranAt" timestamptz not null default now())',
    );
    const done = new Set((await client.query<{ name: string }>('select name from migration')).rows.map(r => r.name));
    const known = await migrationNames();
    const unknown = [...done].filter(name => !known.includes(name)).sort();
    if (unknown.length)
      throw new StartError(
        `The database was written by a newer Breakwater (it ran ${unknown.at(-1)}, which this one does not know): start that version, or restore a backup from before.`,
      );
    const names = known.filter(name => !only || only.includes(name));
    const ran: string[] = [];
    for (const name of names) {
      if (done.has(name)) continue;
      const text = await readFile(new URL(name, migrationFolder), 'utf8');
      await client.query('begin');
      try {
        await client.query(text);
        await client.query('insert into migration (name) values ($1)', [name]);
        await client.query('commit');
      } catch (error) {
        await client.query('rollback');
        throw new Error(`migration ${name} failed: ${(error as Error).message}`, { cause: error });
      }
      ran.push(name);
    }
    return ran;
  } finally {
    await client.end();
  }
}

/** Names come in every script; a database of another encoding would refuse some of them, or cut them in the middle. */
async function checkEncoding(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ encoding: string; name: string }>(
    "select current_setting('server_encoding') as encoding, current_database() as name",
  );
  const { encoding, name } = rows[0]!;
  if (encoding !== 'UTF8')
    throw new StartError(
      `The database ${name} is encoded as ${encoding}, Breakwater needs UTF8: make another with \`create database ${name}_utf8 encoding 'UTF8' template template0\` and name it in DATABASE_URL.`,
    );
}
