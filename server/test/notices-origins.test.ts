/** Origins that nodes find down: told once it has lasted and most say so, to whom it concerns; told again when they are back. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { nodeTable, productTable } from '#server/node/tables.ts';
import { siteTable } from '#server/site/tables.ts';
import { NoticeTeller } from '#server/work/notices.ts';
import { watchOrigins } from '#server/work/origin-watch.ts';
import { row } from '#server/store/db.ts';
import { Api, type Person, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let b: Tenant;
let teller: NoticeTeller;
const nodes: number[] = [];
const insert = async (text: ReturnType<typeof sql>) => (await row<{ id: number }>(api.database.db, text))!.id;
before(async () => {
  api = await Api.start();
  [a, b] = [await api.tenant('a'), await api.tenant('b')];
  teller = new NoticeTeller(api.services, { node: nodeTable, site: siteTable, product: productTable });
  for (let n = 1; n <= 3; n++)
    nodes.push(
      await insert(
        sql`insert into node ("clientID", "zoneID", name, status) values (${a.client.id}, ${a.zoneID}, ${`edge-${n}`}, 'normal') returning id`,
      ),
    );
  for (const one of [a, b]) {
    const id = await insert(
      sql`insert into domain ("siteID", "domainName", status) values (${one.siteID}, 'shop.test', ${one === a ? 1 : 0}) returning id`,
    );
    await insert(sql`insert into upstream ("domainID", address, port) values (${id}, 'origin.shop.test', 8080) returning id`);
  }
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const trouble = {
  host: 'shop.test',
  origin: 'origin.shop.test',
  address: '192.0.2.1',
  port: 8080,
  error: 'connectionRefused',
  since: '',
  isDown: true,
};
/** What the first so many nodes say; the others say that all is well. */
const say = (down: number, one: object = trouble) =>
  sql`update node set "lastBeat" = clock_timestamp(), beat = jsonb_build_object('origins', jsonb_build_object('troubles',
      case when id = any(${nodes.slice(0, down)}::bigint[]) then ${JSON.stringify([one])}::jsonb else '[]' end))
    where id = any(${nodes}::bigint[])`.execute(api.database.db);
const later = (seconds: number) =>
  sql`update "originDown" set since = since - ${seconds} * interval '1 second', "seenAt" = "seenAt" - ${seconds} * interval '1 second'`.execute(
    api.database.db,
  );
const told = async (person: Person) =>
  (
    (await api.call('GET', `/${person.area}/notices`, { token: person.token })).body as {
      notices: { kind: string; sentence: string; detail: string }[];
    }
  ).notices.map(({ sentence, detail }) => [sentence, detail].filter(Boolean).join(' | '));
const look = async () => {
  await watchOrigins(api.database.db);
  await teller.look();
};

test('what one node of three says is nobody’s business; what two say for half a minute is, once', async () => {
  await say(1);
  await look();
  await later(60);
  await look();
  assert.deepEqual(await told(a.client), []);
  await say(2);
  await look();
  assert.deepEqual(await told(a.client), [], 'it has not lasted');
  await later(31);
  await say(2);
  await look();
  const down = ['1 origin is down: shop.test (origin.shop.test:8080) | connectionRefused'];
  assert.deepEqual([await told(a.client), await told(a.user)], [down, down]);
  await later(31);
  await say(3);
  await look();
  assert.deepEqual(await told(a.client), down);
  assert.deepEqual([await told(b.client), await told(b.user)], [[], []], 'the same name of another, where it is not served');
});

test('it is back when nodes say so, and not when they say nothing', async () => {
  await sql`update node set "lastBeat" = now() - interval '1 hour' where id = any(${nodes}::bigint[])`.execute(api.database.db);
  await later(60);
  await look();
  assert.equal((await told(a.client)).length, 1);
  await say(0);
  await later(60);
  await look();
  assert.match((await told(a.client))[0]!, /^1 origin is back: shop\.test \(origin\.shop\.test:8080\)$/);
  await look();
  assert.equal((await told(a.client)).length, 2);
});

test('an origin that is asked for no more did not come back; words of no shape stop nothing', async () => {
  await say(3);
  await look();
  await later(31);
  await say(3);
  await look();
  const before = (await told(a.user)).length;
  await sql`update upstream set "deletedAt" = now()`.execute(api.database.db);
  await say(0);
  await later(60);
  await look();
  assert.equal((await told(a.user)).length, before);
  await say(3, { host: 7, origin: null, isDown: true });
  await watchOrigins(api.database.db);
});
