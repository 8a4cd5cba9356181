/** What an installation of before there were parents becomes: nobody is put above anybody by a guess. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import pg from 'pg';
import { migrate } from '#server/store/migrate.ts';
import { freshDatabase } from '#system/engines.ts';

const folder = new URL('../src/store/migrations/', import.meta.url);
const first = '0007_accounts.sql';

test('accounts get the parent that made them where that is sure, else their root; doors that stand open are closed', async () => {
  const url = await freshDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('create table migration (name text primary key, "ranAt" timestamptz not null default now())');
    for (const name of readdirSync(folder)
      .filter(one => one.endsWith('.sql') && one < first)
      .sort()) {
      await client.query(readFileSync(new URL(name, folder), 'utf8'));
      await client.query('insert into migration (name) values ($1)', [name]);
    }
    const ids = new Map<string, number>();
    const add = async (name: string, auth: string, more: Record<string, unknown> = {}) => {
      const values: Record<string, unknown> = { email: `${name.replace(/\d$/, '')}@test.test`, name, auth, ...more };
      const columns = Object.keys(values);
      const { rows } = await client.query<{ id: string }>(
        `insert into account (${columns.map(one => `"${one}"`).join(', ')}) values (${columns.map((_, i) => `$${i + 1}`).join(', ')}) returning id`,
        Object.values(values),
      );
      const id = Number(rows[0]!.id);
      ids.set(name, id);
      if (values['isRoot']) await client.query('update account set "rootID" = id where id = $1', [id]);
      return id;
    };
    const op = await add('op', 'client', { isRoot: true, createdBy: 'admin@test.test' });
    const root = { rootID: op };
    await add('head', 'client', { ...root, createdBy: 'op@test.test' });
    await add('clerk', 'client', { ...root, createdBy: 'HEAD@test.test' });
    // an address that two had, one after the other: who of them it was is not known
    await add('twin1', 'client', { ...root, createdBy: 'op@test.test', deletedAt: new Date() });
    await add('twin2', 'client', { ...root, createdBy: 'op@test.test' });
    await add('orphan', 'client', { ...root, createdBy: 'twin@test.test' });
    // made by somebody who came later is made by somebody else of that name
    await add('early', 'client', { ...root, createdBy: 'late@test.test' });
    await add('late', 'client', { ...root, createdBy: 'op@test.test' });
    const shop = await add('shop', 'user', { isRoot: true, parentClient: op, createdBy: 'head@test.test' });
    await add('rival', 'client', { isRoot: true, createdBy: 'admin@test.test' });
    await add('stolen', 'user', { isRoot: true, parentClient: op, createdBy: 'rival@test.test' });
    await add('member', 'user', { rootID: shop, parentClient: op, parentUser: shop, createdBy: 'shop@test.test' });
    await client.query(
      `insert into session (id, "accountID", "refreshHash", "proxyID", "expiredAt") values (gen_random_uuid(), $1, 'x', $2, now() + interval '1 day'), (gen_random_uuid(), $1, 'x', null, now() + interval '1 day')`,
      [shop, op],
    );

    await migrate(url);
    const names = new Map([...ids].map(([name, id]) => [id, name]));
    const { rows } = await client.query<{ name: string; parentID: string | null }>(
      'select name, "parentID" from account order by id',
    );
    assert.deepEqual(
      Object.fromEntries(rows.map(({ name, parentID }) => [name, parentID === null ? null : names.get(Number(parentID))])),
      {
        op: null,
        head: 'op',
        clerk: 'head',
        twin1: 'op',
        twin2: 'op',
        orphan: 'op',
        early: 'op',
        late: 'op',
        shop: 'head',
        rival: null,
        stolen: 'op',
        member: 'shop',
      },
    );
    const open = await client.query('select "proxyID" from session where "endedAt" is null');
    assert.deepEqual(open.rows, [{ proxyID: null }]);
  } finally {
    await client.end();
  }
});
