/** What the database remembers of a round that comes late, or twice. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { type Outcome, record } from '#server/bus/record.ts';
import { migratedDatabase } from '#system/engines.ts';

let client: pg.Client;
let siteID: number;
let zoneID: number;
before(async () => {
  client = new pg.Client({ connectionString: await migratedDatabase() });
  await client.connect();
  const add = async (text: string, values: unknown[]) => Number((await client.query(`${text} returning id`, values)).rows[0].id);
  const account = await add(`insert into account (email, name, auth, "isRoot") values ('a@test.test', 'a', 'client', true)`, []);
  zoneID = await add(`insert into zone ("clientID", name) values ($1, 'z')`, [account]);
  const group = await add(`insert into "group" ("clientID", "zoneID", name) values ($1, $2, 'g')`, [account, zoneID]);
  const product = await add(`insert into product ("clientID", "groupID", name) values ($1, $2, 'p')`, [account, group]);
  siteID = await add(`insert into site ("clientID", "userID", "productID", "siteName") values ($1, $1, $2, 's')`, [
    account,
    product,
  ]);
});
after(() => client?.end());

const at = (day: number) => `2026-01-0${day}T00:00:00+00:00`;
const outcome = (revision: number, day: number, n?: number): Outcome => ({
  published:
    n === undefined
      ? []
      : [
          {
            kind: 'site',
            entityID: siteID,
            zoneID,
            siteID,
            subject: `cfg.${zoneID}.site.${siteID}`,
            hash: 'h',
            seq: n,
            inherited: '',
            n,
            body: '',
          },
        ],
  entities: [{ kind: 'site', id: siteID }],
  failures: [],
  changes: [{ siteID, revision, committedAt: at(day) }],
  outboxIDs: [],
  compiledAnew: false,
});
const stands = async () => {
  const { rows } = await client.query('select revision, seq, "committedAt" from publication where "siteID" = $1', [siteID]);
  return [Number(rows[0].revision), Number(rows[0].seq), new Date(rows[0].committedAt).getUTCDate()];
};

test('an older revision overwrites no newer one', async () => {
  await record(client, 'CFG', outcome(10, 2, 100));
  assert.deepEqual(await stands(), [10, 100, 2]);
  await record(client, 'CFG', outcome(9, 1, 101));
  assert.deepEqual(await stands(), [10, 100, 2]);
  await record(client, 'CFG', outcome(11, 3, 102));
  assert.deepEqual(await stands(), [11, 102, 3]);
});

test('the number of a publication does not go back: a node that has it would be taken for one that has not', async () => {
  await record(client, 'CFG', outcome(12, 4, 90));
  assert.deepEqual(await stands(), [12, 102, 4]);
});
