/**
 * Origins that nodes find down: told once it has lasted and most say so, to whom it concerns; told again when most say that they are back.
 * Nodes may be stolen and customers may have any number of dead origins: neither makes us tell others what is not so.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { nodeTable, productTable } from '#server/node/tables.ts';
import { siteTable } from '#server/site/tables.ts';
import { NoticeTeller } from '#server/work/notices.ts';
import { watchOrigins } from '#server/work/origin-watch.ts';
import { row, rows } from '#server/store/db.ts';
import { Api, type Person, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let b: Tenant;
let teller: NoticeTeller;
let shop: number;
const nodes: number[] = [];
const insert = async (text: ReturnType<typeof sql>) => (await row<{ id: number }>(api.database.db, text))!.id;
/** What nodes have of a domain, as the relay writes it down. */
const stands = (
  domainID: number,
  siteID: number,
  upstreams: { address: string; port: number; httpsPort?: number }[],
  { type = 'tcp', zoneID = a.zoneID }: { type?: string; zoneID?: number } = {},
) =>
  sql`insert into published (kind, "entityID", "zoneID", "siteID", subject, hash, seq, body)
    values ('domain', ${domainID}, ${zoneID}, ${siteID}, 'cfg', 'h', 1, ${JSON.stringify({ upstreams, originCheck: { type } })})
    on conflict (kind, "entityID", "zoneID") do update set body = excluded.body`.execute(api.database.db);
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
    if (one === a) shop = id;
    await stands(id, one.siteID, [{ address: 'origin.shop.test', port: 8080 }]);
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
  error: 'ECONNREFUSED',
  since: '',
  isDown: true,
};
type Trouble = Partial<typeof trouble>;
interface Words {
  troubles?: Trouble[];
  wrong?: number;
  back?: Trouble[];
  whole?: boolean;
}
const well: Words = { troubles: [] };
const down: Words = { troubles: [trouble] };
/** What nodes say, one after another; those that nothing is given for are not heard. */
async function say(...words: Words[]): Promise<void> {
  await sql`update node set "lastBeat" = now() - interval '1 hour' where id = any(${nodes}::bigint[])`.execute(api.database.db);
  for (const [place, { troubles = [], wrong = troubles.length, back = [], whole = true }] of words.entries())
    await sql`update node set "lastBeat" = clock_timestamp(), beat = ${JSON.stringify({ origins: { checked: 100, wrong, troubles, back, whole } })}::jsonb
      where id = ${nodes[place]!}`.execute(api.database.db);
}
/** All that was seen and told lies further back. */
const later = async (seconds: number) => {
  const by = sql`${seconds} * interval '1 second'`;
  await sql`update "originDown" set since = since - ${by}, "seenAt" = "seenAt" - ${by}, "toldAt" = "toldAt" - ${by}, "backSince" = "backSince" - ${by}`.execute(
    api.database.db,
  );
  await sql`update "originTold" set at = at - ${by}`.execute(api.database.db);
};
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
/** Long enough for whatever would be told to be told. */
async function lasting(...words: Words[]): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await say(...words);
    await look();
    await later(31);
  }
  await say(...words);
  await look();
}
/** Events since the last time. */
let known = 0;
async function events(): Promise<string[]> {
  const found = await rows<{ id: number; kind: string; name: string }>(
    api.database.db,
    sql`select id, kind, name from "noticeEvent" where kind like 'origin%' and id > ${known} and "rootID" = ${a.user.id} order by id`,
  );
  known = found.at(-1)?.id ?? known;
  return found.map(({ kind, name }) => `${kind} ${name}`);
}
const shopDown = 'originDown shop.test (origin.shop.test:8080)';
const shopBack = 'originBack shop.test (origin.shop.test:8080)';
/** Nothing is known of any origin, and nothing was told lately. */
async function anew(): Promise<void> {
  await sql`delete from "originDown"`.execute(api.database.db);
  await sql`delete from "originTold"`.execute(api.database.db);
  await stands(shop, a.siteID, [{ address: 'origin.shop.test', port: 8080 }]);
  await events();
}
async function shopIsDown(): Promise<void> {
  await anew();
  await lasting(down, down, down);
  assert.deepEqual(await events(), [shopDown]);
}

test('what one node of three says is nobody’s business; what two say for half a minute is, once', async () => {
  await lasting(down, well, well);
  assert.deepEqual(await told(a.client), []);
  await say(down, down, well);
  await look();
  assert.deepEqual(await told(a.client), [], 'it has not lasted');
  await later(31);
  await say(down, down, well);
  await look();
  const sentence = ['1 origin is down: shop.test (origin.shop.test:8080) | ECONNREFUSED'];
  assert.deepEqual([await told(a.client), await told(a.user)], [sentence, sentence]);
  await lasting(down, down, down);
  assert.deepEqual(await told(a.client), sentence);
  assert.deepEqual([await told(b.client), await told(b.user)], [[], []], 'the same name of another, where it is not served');
});

test('it is back when most nodes say so, and not when they say nothing', async () => {
  await later(60);
  await say();
  await look();
  await later(60);
  await look();
  assert.equal((await told(a.client)).length, 1);
  await lasting(well, well, down);
  assert.match((await told(a.client))[0]!, /^1 origin is back: shop\.test \(origin\.shop\.test:8080\)$/);
  await look();
  assert.equal((await told(a.client)).length, 2);
});

test('half of the nodes are not most: neither down nor back is told by them', async () => {
  await anew();
  await lasting(down, well);
  assert.deepEqual(await events(), []);
  await lasting(down, down);
  assert.deepEqual(await events(), [shopDown]);
  await lasting(down, well);
  assert.deepEqual(await events(), []);
  await lasting(well, well);
  assert.deepEqual(await events(), [shopBack]);
});

test('one node alone is believed only where it is the only one', async () => {
  await anew();
  await lasting(down);
  assert.deepEqual(await events(), []);
  const others = sql`id = any(${nodes.slice(1)}::bigint[])`;
  await sql`update node set status = 'paused' where ${others}`.execute(api.database.db);
  await lasting(down);
  assert.deepEqual(await events(), [shopDown]);
  await sql`update node set status = 'normal' where ${others}`.execute(api.database.db);
  await lasting(well);
  assert.deepEqual(await events(), []);
  await lasting(well, well, well);
  assert.deepEqual(await events(), [shopBack]);
});

test('only what a domain has checked can be down: another port, another origin and a domain without checks are nobody’s', async () => {
  await anew();
  const forged = Array.from({ length: 38 }, (_, i) => ({ ...trouble, port: 10_000 + i }));
  const all = { troubles: [...forged, { ...trouble, origin: 'other.test' }] };
  await lasting(all, all, all);
  assert.deepEqual(await events(), []);
  await stands(shop, a.siteID, [{ address: 'origin.shop.test', port: 8080 }], { type: 'off' });
  await lasting(down, down, down);
  assert.deepEqual(await events(), []);
  await stands(shop, a.siteID, [{ address: 'origin.shop.test', port: 80, httpsPort: 8080 }]);
  await lasting(down, down, down);
  assert.deepEqual(await events(), [shopDown], 'one that follows is asked at two ports');
});

test('a node that has more to tell than it tells, or has not asked yet, does not say that what it leaves out is well', async () => {
  await shopIsDown();
  const others = Array.from({ length: 40 }, (_, i) => ({ ...trouble, host: `d${i}.other.test` }));
  for (const words of [
    { troubles: others, wrong: 46 },
    { troubles: [], wrong: 31 },
    { troubles: [], wrong: 0, whole: false },
  ]) {
    await lasting(words, words, words);
    assert.deepEqual(await events(), [], JSON.stringify(words).slice(0, 60));
  }
  // but what it names as back is
  const named = { troubles: others, wrong: 46, back: [trouble] };
  await lasting(named, named, down);
  assert.deepEqual(await events(), [shopBack]);
});

test('nodes of the last releases say neither what is back nor whether they say all: their number of troubles does', async () => {
  await shopIsDown();
  const earlier = (wrong: number) =>
    sql`update node set "lastBeat" = clock_timestamp(), beat = ${JSON.stringify({ origins: { checked: 3, wrong, troubles: [] } })}::jsonb`.execute(
      api.database.db,
    );
  for (const wrong of [31, 0]) {
    for (let round = 0; round < 3; round++) {
      await earlier(wrong);
      await look();
      await later(31);
    }
    assert.deepEqual(await events(), wrong ? [] : [shopBack]);
  }
});

test('an origin that fails and is not down yet, as after a restart of the agents, is not back', async () => {
  await shopIsDown();
  const failing = { troubles: [{ ...trouble, isDown: false }] };
  await lasting(failing, failing, failing);
  assert.deepEqual(await events(), []);
  await lasting(down, down, down);
  assert.deepEqual(await events(), []);
});

test('what is checked no more, is asked at another port or moved to another zone did not come back: it is forgotten', async () => {
  const origin = { address: 'origin.shop.test', port: 8080 };
  const ways: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
    ['switched off', () => stands(shop, a.siteID, [origin], { type: 'off' }), async () => {}],
    ['another port', () => stands(shop, a.siteID, [{ ...origin, port: 8081 }]), async () => {}],
    ['gone from the domain', () => stands(shop, a.siteID, []), async () => {}],
    [
      'another zone',
      async () => {
        await stands(shop, a.siteID, [origin], { zoneID: b.zoneID });
        await sql`update "group" set "zoneID" = ${b.zoneID} where "zoneID" = ${a.zoneID}`.execute(api.database.db);
        await sql`update node set "zoneID" = ${b.zoneID}`.execute(api.database.db);
      },
      async () => {
        await sql`update "group" set "zoneID" = ${a.zoneID} where id = (select p."groupID" from product p join site s on s."productID" = p.id where s.id = ${a.siteID})`.execute(
          api.database.db,
        );
        await sql`update node set "zoneID" = ${a.zoneID}`.execute(api.database.db);
      },
    ],
    [
      'a domain that is off',
      () => sql`update domain set status = 0 where id = ${shop}`.execute(api.database.db),
      () => sql`update domain set status = 1 where id = ${shop}`.execute(api.database.db),
    ],
  ];
  for (const [what, change, undo] of ways) {
    await shopIsDown();
    await change();
    await lasting(well, well, well);
    assert.deepEqual(await events(), [], what);
    assert.equal(await row(api.database.db, sql`select 1 from "originDown"`), undefined, what);
    await undo();
  }
});

test('an origin that goes up and down is told once in ten minutes, a domain’s of twenty, a zone’s of sixty a minute, its customers by turns', async () => {
  await shopIsDown();
  await lasting(well, well, well);
  assert.deepEqual(await events(), [shopBack]);
  await lasting(down, down, down);
  assert.deepEqual(await events(), [], 'it was told within ten minutes');
  await later(600);
  await say(down, down, down);
  await look();
  assert.deepEqual(await events(), [shopDown], 'and still is');

  await anew();
  const many = Array.from({ length: 30 }, (_, i) => ({ address: 'origin.shop.test', port: 9000 + i }));
  await stands(shop, a.siteID, many);
  const all = { troubles: many.map(({ port }) => ({ ...trouble, port })) };
  await lasting(all, all, all);
  assert.equal((await events()).length, 20);
  await later(600);
  await say(all, all, all);
  await look();
  assert.equal((await events()).length, 10);

  // domains of one customer, and after them one of another: his is told with the first ones
  await anew();
  const troubles: Trouble[] = [];
  const make = async (siteID: number, name: string, port: number) => {
    const id = await insert(sql`insert into domain ("siteID", "domainName", status) values (${siteID}, ${name}, 1) returning id`);
    await stands(id, siteID, [{ address: 'origin.shop.test', port }]);
    troubles.push({ ...trouble, host: name, port });
  };
  for (let i = 0; i < 79; i++) await make(a.siteID, `d${i}.shop.test`, 7000 + i);
  const other = await insert(
    sql`insert into site ("clientID", "userID", "productID", "siteName") select "clientID", ${b.user.id}, "productID", 'other' from site where id = ${a.siteID} returning id`,
  );
  await make(other, 'victim.test', 6000);
  // 40 of them a node: what counts is who says it, so each look hears others
  const parts = [troubles.slice(0, 40), troubles.slice(40)];
  const both = async () => {
    for (const part of parts) {
      await say({ troubles: part, wrong: 80 }, { troubles: part, wrong: 80 });
      await sql`update "originDown" set "seenAt" = now()`.execute(api.database.db);
      await watchOrigins(api.database.db);
    }
  };
  await both();
  await sql`update "originDown" set since = since - interval '31 seconds'`.execute(api.database.db);
  await watchOrigins(api.database.db);
  const counts = async () =>
    row<{ mine: number; theirs: number }>(
      api.database.db,
      sql`select count(*) filter (where "siteID" <> ${other})::int as mine, count(*) filter (where "siteID" = ${other})::int as theirs
        from "noticeEvent" where id > ${known} and kind = 'originDown' and "rootID" in (${a.user.id}, ${b.user.id})`,
    );
  assert.deepEqual(await counts(), { mine: 59, theirs: 1 });
  await later(61);
  await both();
  assert.deepEqual(await counts(), { mine: 79, theirs: 1 });
});

test('words of no shape stop nothing', async () => {
  await sql`update node set "lastBeat" = clock_timestamp(), beat = '{"origins": {"checked": "many", "wrong": {}, "back": 7, "whole": [], "troubles": [{"host": 7, "origin": null, "isDown": true}]}}'`.execute(
    api.database.db,
  );
  await watchOrigins(api.database.db);
});
