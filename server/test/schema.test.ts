/** What the migrated schema must have, whichever migration brings it. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { migratedDatabase } from '#system/engines.ts';

let client: pg.Client;
before(async () => {
  const url = await migratedDatabase();
  client = new pg.Client({ connectionString: url });
  await client.connect();
});
after(() => client?.end());

/** Columns that refer to another table and that no index over all their values begins with. */
async function withoutIndex(): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select c.conrelid::regclass || '.' || a.attname as name
     from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
     where c.contype = 'f' and c.connamespace = 'public'::regnamespace and not exists (
       select from pg_index i where i.indrelid = c.conrelid and i.indkey[0] = c.conkey[1]
         and (i.indpred is null or pg_get_expr(i.indpred, i.indrelid) = format('(%I IS NOT NULL)', a.attname)))
     order by 1`,
  );
  return rows.map(row => row.name);
}

/** Columns that need none, each with the reason. */
const exempt: Record<string, string> = {
  '"lineNode".lineID': 'lines come with the program and are never removed; their nodes are asked for by group',
};

describe('the schema', () => {
  test('has an index for every column that refers to another table', async () => {
    // one that covers live rows alone is of no use when a row is removed for good
    await client.query('begin; drop index domain_site; create index domain_site on domain ("siteID") where "deletedAt" is null');
    assert.ok((await withoutIndex()).includes('domain.siteID'));
    await client.query('rollback');
    assert.deepEqual(
      (await withoutIndex()).filter(name => !(name in exempt)),
      [],
    );
  });

  test('finds deleted rows without reading a table', async () => {
    const { rows } = await client.query<{ name: string }>(
      `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'deletedAt'
       where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and not exists (
         select from pg_index i where i.indrelid = c.oid and i.indkey[0] = a.attnum)`,
    );
    assert.deepEqual(rows, []);
  });
});
