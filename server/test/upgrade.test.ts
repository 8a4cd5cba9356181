/** What rows of the first release become: no site stops being served, no account has a time zone that nobody knows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { originRanges } from '#contract/rules/lists.ts';
import { timezone } from '#contract/rules/values.ts';
import { migrate, migrationNames } from '#server/store/migrate.ts';
import { freshDatabase } from '#system/engines.ts';

/** A database as it was before this migration. */
async function before(t: { after(end: () => Promise<void>): void }, name: string) {
  const url = await freshDatabase();
  await migrate(
    url,
    (await migrationNames()).filter(one => one < name),
  );
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.after(() => client.end());
  const one = async (text: string, values: unknown[] = []): Promise<number> =>
    Number(Object.values((await client.query<Record<string, string>>(text, values)).rows[0]!)[0]);
  return { client, one, migrate: () => migrate(url) };
}

test('private origins that are in use are allowed, and nothing more', async t => {
  const { client, one, migrate: upgrade } = await before(t, '0014');
  let serial = 0;
  const operator = async () => {
    const name = `op${++serial}`;
    const id = await one(`insert into account (email, name, auth, "isRoot") values ($1, $1, 'client', true) returning id`, [
      name,
    ]);
    const zoneID = await one('insert into zone ("clientID", name) values ($1, $2) returning id', [id, name]);
    const groupID = await one('insert into "group" ("clientID", "zoneID", name) values ($1, $2, $3) returning id', [
      id,
      zoneID,
      name,
    ]);
    const productID = await one('insert into product ("clientID", "groupID", name) values ($1, $2, $3) returning id', [
      id,
      groupID,
      name,
    ]);
    const siteID = await one(
      'insert into site ("clientID", "userID", "productID", "siteName") values ($1, $1, $2, $3) returning id',
      [id, productID, name],
    );
    const domainID = await one('insert into domain ("siteID", "domainName") values ($1, $2) returning id', [
      siteID,
      `${name}.test`,
    ]);
    const origins = (addresses: string[], more = '') =>
      client.query(
        `insert into upstream ("domainID", address${more && `, "${more}"`}) select $1, unnest($2::text[])${
          { enabled: ', false', deletedAt: ', now()' }[more] ?? ''
        }`,
        [domainID, addresses],
      );
    return { id, zoneID, siteID, origins };
  };
  const few = await operator();
  await few.origins(['10.1.2.3', '192.168.7.1', '[fd12::1]', '100.64.3.4', '8.8.8.8', '127.0.0.1', '169.254.169.254']);
  await few.origins(['100.100.100.200', 'app.internal', '10.1.2', 'fd00:::1', '10.1.2.300', '2001:db8::1']);
  await few.origins(['10.9.9.1'], 'enabled');
  await few.origins(['10.9.9.2'], 'deletedAt');
  const many = await operator();
  await many.origins(Array.from({ length: 150 }, (_, i) => `10.0.${i % 3}.${i + 1}`));
  const wide = await operator();
  await wide.origins(Array.from({ length: 150 }, (_, i) => `172.16.${i}.1`));
  const own = await operator();
  await own.origins(['10.5.5.5']);
  await client.query(`insert into setting ("clientID", key, value) values ($1, 'originAllow', '["192.168.0.0/16"]')`, [own.id]);
  const open = await operator();
  await open.origins(['1.1.1.1', '::1']);

  await upgrade();
  const { rows } = await client.query<{ id: string; value: string[] }>(
    `select "clientID" as id, value from setting where key = 'originAllow'`,
  );
  const allowed = (who: { id: number }) => rows.find(row => Number(row.id) === who.id)?.value;
  assert.deepEqual(allowed(few)?.sort(), ['10.1.2.3', '100.64.3.4', '192.168.7.1', 'fd12::1']);
  assert.deepEqual(allowed(many)?.sort(), ['10.0.0.0/24', '10.0.1.0/24', '10.0.2.0/24']);
  assert.deepEqual(allowed(wide), ['172.16.0.0/12']);
  assert.deepEqual(allowed(own), ['192.168.0.0/16'], 'what somebody set stays');
  assert.equal(allowed(open), undefined);
  for (const { value } of rows) assert.equal(originRanges.check(value), true, 'as an operator could have set it');
  const told = await client.query<{ id: string }>(`select "zoneID" as id from outbox where kind = 'zone' order by 1`);
  assert.deepEqual(
    told.rows.map(row => Number(row.id)),
    [few.zoneID, many.zoneID, wide.zoneID],
    'their nodes are told',
  );
});

test('offsets become zones of that offset, what nobody knows becomes the operator’s zone', async t => {
  const { client, one, migrate: upgrade } = await before(t, '0015');
  const add = async (name: string, zone: string, more: { rootID?: number; parentClient?: number } = {}) => {
    const id = await one(
      `insert into account (email, name, auth, "isRoot", timezone, "rootID", "parentClient") values ($1, $1, 'client', $2, $3, $4, $5) returning id`,
      [name, !more.rootID, zone, more.rootID ?? null, more.parentClient ?? null],
    );
    if (!more.rootID) await client.query('update account set "rootID" = id where id = $1', [id]);
    return id;
  };
  const tokyo = await add('tokyo', 'Asia/Tokyo');
  const lost = await add('lost', 'Mars/Olympus');
  await add('east', '+08:00', { rootID: tokyo });
  await add('west', '-0500', { rootID: tokyo });
  await add('utc', 'UTC+0', { rootID: tokyo });
  await add('short', 'gmt-3', { rootID: tokyo });
  await add('half', '+05:30', { rootID: tokyo });
  await add('far', '+15:00', { rootID: tokyo });
  await add('customer', 'nowhere', { parentClient: tokyo });
  await add('empty', '', { rootID: lost });
  await add('good', 'europe/Berlin', { rootID: lost });
  await upgrade();
  const { rows } = await client.query<{ name: string; timezone: string }>('select name, timezone from account');
  assert.deepEqual(Object.fromEntries(rows.map(row => [row.name, row.timezone])), {
    tokyo: 'Asia/Tokyo',
    lost: 'Asia/Taipei',
    east: 'Etc/GMT-8',
    west: 'Etc/GMT+5',
    utc: 'UTC',
    short: 'Etc/GMT+3',
    half: 'Asia/Tokyo',
    far: 'Asia/Tokyo',
    customer: 'Asia/Tokyo',
    empty: 'Asia/Taipei',
    good: 'europe/Berlin',
  });
  for (const row of rows) assert.equal(timezone.check(row.timezone), true, row.timezone);
  const { rows: hours } = await client.query(
    `select extract(hour from timestamptz '2026-01-01 00:00Z' at time zone timezone)::int as hour from account where name = 'east'`,
  );
  assert.deepEqual(hours, [{ hour: 8 }], 'east is east');
});

test('doors of relays are known from zones that stand, each once, however often zones that are gone name them', async t => {
  const { client, one, migrate: upgrade } = await before(t, '0293');
  const operator = await one(
    `insert into account (email, name, auth, "isRoot") values ('op', 'op', 'client', true) returning id`,
  );
  const zone = (name: string) => one('insert into zone ("clientID", name) values ($1, $2) returning id', [operator, name]);
  const [gone, there, beside] = [await zone('gone'), await zone('there'), await zone('beside')];
  const relay = await one(`insert into node ("clientID", "zoneID", name, type) values ($1, $2, 'relay', 'relay') returning id`, [
    operator,
    there,
  ]);
  for (const [id, port] of [
    [gone, 1],
    [there, 2],
    [beside, 2],
  ])
    await client.query('update zone set relays = $2 where id = $1', [
      id,
      JSON.stringify({ relays: [{ id: relay, addresses: [], port }], left: [] }),
    ]);
  await client.query('update zone set "deletedAt" = now() where id = $1', [gone]);
  await upgrade();
  const { rows } = await client.query('select "nodeID"::int, port from "relayDoor"');
  assert.deepEqual(rows, [{ nodeID: relay, port: 2 }]);
});

test('the first operator that is there becomes the installation’s owner', async t => {
  const { client, one, migrate: upgrade } = await before(t, '0475');
  const add = (email: string, auth: string, deletedAt: string | null = null) =>
    one(`insert into account (email, name, auth, "isRoot", "deletedAt") values ($1, $1, $2, true, $3) returning id`, [
      email,
      auth,
      deletedAt,
    ]);
  await add('vendor', 'admin');
  await add('gone', 'client', '2026-01-01');
  const first = await add('first', 'client');
  await add('second', 'client');
  await upgrade();
  const { rows } = await client.query<{ id: string }>('select id from account where "isOwner"');
  assert.deepEqual(
    rows.map(row => Number(row.id)),
    [first],
  );
});
