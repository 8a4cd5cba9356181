/** Webhooks of many operators: addresses that keep silent hold up nobody else's. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { webhookLimits } from '#contract/limits.ts';
import { row, rows } from '#server/store/db.ts';
import { poll } from '#server/store/engine-process.ts';
import { WebhookSender } from '#server/work/webhooks.ts';
import { ok } from './expect.ts';
import { Api, type Person } from './harness.ts';

let api: Api;
let silent: Server;
let well: Server;
/** Requests that wait for an answer: now, at most, and those that were given up. */
const open = new Set<string>();
let most = 0;
let ended = 0;
const limitMs = 45_000;
const heard: string[] = [];
const silentOnes = 3 * webhookLimits.atOnce;
const portOf = (server: Server) => (server.address() as AddressInfo).port;
before(async () => {
  silent = createServer((request, response) => {
    open.add(request.url!);
    most = Math.max(most, open.size);
    response.on('close', () => {
      open.delete(request.url!);
      ended++;
    });
  }).listen(0, '127.0.0.1');
  well = createServer((request, response) => {
    heard.push(request.url!);
    response.writeHead(204).end();
  }).listen(0, '127.0.0.1');
  await Promise.all([once(silent, 'listening'), once(well, 'listening')]);
  api = await Api.start();
});
after(async () => {
  silent?.closeAllConnections();
  silent?.close();
  well?.close();
  await api?.stop();
});

async function hook(person: Person, server: Server, name: string): Promise<void> {
  const url = `http://127.0.0.1:${portOf(server)}/${name}`;
  const body = { enable: true, url, secret: 'a secret of many letters', kinds: [] };
  ok(await api.call('PUT', `/${person.area}/setting/webhook`, { token: person.token, body }));
}
const tell = (person: Person) =>
  sql`insert into "webhookDelivery" ("webhookID", kind, body) select id, 'test', '{}' from webhook where "accountID" = ${person.id}`.execute(
    api.database.db,
  );
const leased = async () =>
  (await row<{ n: number }>(api.database.db, sql`select count(*)::int as n from "webhookDelivery" where "leasedUntil" > now()`))!
    .n;

test('an operator whose addresses keep silent has some of the places: another’s is told meanwhile, by whichever process', async () => {
  const slow = await api.account('client', 'slow@test.test');
  const other = await api.account('client', 'other@test.test');
  for (let n = 0; n < silentOnes; n++) {
    const customer = await api.account('user', `slow-${n}@test.test`, { parentClient: slow.id });
    await hook(customer, silent, `slow-${n}`);
    await tell(customer);
  }
  await hook(other, well, 'other');
  const senders = [new WebhookSender(api.services), new WebhookSender(api.services)];
  for (const sender of senders) sender.start();
  try {
    assert.ok(await poll(() => open.size >= webhookLimits.atOnceOfOne, limitMs), 'the silent ones are asked');
    await tell(other);
    assert.ok(await poll(() => heard.length > 0, limitMs), 'the other is told');
    assert.ok(ended < silentOnes, 'before all of them were given up');
    assert.equal(most, webhookLimits.atOnceOfOne);
  } finally {
    await Promise.all(senders.map(sender => sender.stop()));
  }
  assert.equal(await leased(), 0, 'what was cut off is another’s at once');
  const tried = sql`select 1 from "webhookDelivery" where attempts > 0 and "sentAt" is null`;
  assert.deepEqual(await rows(api.database.db, tried), [], 'and is no try of its address');
  assert.ok(await poll(() => open.size === 0, limitMs));
  [most, heard.length] = [0, 0];

  // those that failed lately leave the rest of its own places to those that have not
  await sql`update "webhookDelivery" set attempts = 1, "nextAt" = now() where state = 'waiting'`.execute(api.database.db);
  const own = await api.account('user', 'own@test.test', { parentClient: slow.id });
  await hook(own, well, 'own');
  const sender = new WebhookSender(api.services);
  sender.start();
  try {
    assert.ok(await poll(() => open.size >= webhookLimits.atOnceOfFailing, limitMs), 'those that failed are asked again');
    await tell(own);
    assert.ok(await poll(() => heard.length > 0, limitMs), 'its own is told');
    assert.equal(most, webhookLimits.atOnceOfFailing);
  } finally {
    await sender.stop();
  }
});

test('an address that a process of an earlier release holds is left alone, and of more than are looked at together each has its turn', async () => {
  const { db } = api.database;
  await sql`delete from "webhookDelivery"`.execute(db);
  heard.length = 0;
  const [many, last] = [await api.account('client', 'many@test.test'), await api.account('client', 'last@test.test')];
  await hook(many, silent, 'many');
  // customers of one operator, whose addresses say nothing
  await sql`with one as (
      insert into account (email, name, auth, "isRoot", "parentClient") select 'many-' || n || '@test.test', 'x', 'user', true, ${many.id}
        from generate_series(1, 600) n returning id
    ), hooks as (
      insert into webhook ("accountID", enable, url, secret)
        select one.id, true, w.url || one.id, w.secret from one, webhook w where w."accountID" = ${many.id} returning id
    ) insert into "webhookDelivery" ("webhookID", kind, body) select id, 'test', '{}' from hooks`.execute(db);
  await hook(last, well, 'last');
  await tell(last);
  const sender = new WebhookSender(api.services);
  try {
    await db.transaction().execute(async trx => {
      await sql`select 1 from webhook where "accountID" = ${last.id} for no key update`.execute(trx);
      sender.start();
      assert.ok(await poll(() => open.size >= webhookLimits.atOnceOfOne, limitMs), 'the silent ones are asked');
      // whoever took their places has looked at all of them
      await sql`update "webhookDelivery" set "nextAt" = now() - interval '1 hour' where "webhookID" = (select id from webhook where "accountID" = ${last.id})`.execute(
        db,
      );
      assert.deepEqual(heard, []);
    });
    assert.ok(await poll(() => heard.length > 0, limitMs), 'the last is told');
    assert.deepEqual(heard, ['/last']);
  } finally {
    await sender.stop();
  }
});

test('what was leased is told, and counts no try for nothing, though the next lease of the same look fails', async t => {
  const { db } = api.database;
  const many = (await row<{ id: number }>(db, sql`select id from account where email = 'many@test.test'`))!;
  await sql`delete from "webhookDelivery"`.execute(db);
  // nobody else's places are left for the others of it: they are looked at, and then asked for in a lease of their own
  await sql`insert into "webhookDelivery" ("webhookID", kind, body)
    select w.id, 'test', '{}' from webhook w join account a on a.id = w."accountID" where a."parentClient" = ${many.id}`.execute(
    db,
  );
  assert.ok(await poll(() => open.size === 0, limitMs));
  let leases = 0;
  const transaction = db.transaction.bind(db);
  t.mock.method(db, 'transaction', () => {
    if (++leases === 2) throw new Error('the database is away');
    return transaction();
  });
  const sender = new WebhookSender(api.services);
  const looked = assert.rejects(sender.look(), /is away/);
  assert.ok(await poll(() => open.size === webhookLimits.atOnceOfOne, limitMs), 'they are asked all the same');
  assert.equal(await leased(), webhookLimits.atOnceOfOne);
  await sender.stop();
  silent.closeAllConnections();
  await looked;
  assert.equal(await leased(), 0);
});
