/** How often a name is ordered, whatever its customer switches, deletes or tries again; and that nobody waits for what others have to do. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { taskLimits } from '#contract/kit/task.ts';
import { acmeLimits } from '#contract/limits.ts';
import { row, rows } from '#server/store/db.ts';
import { poll } from '#server/store/engine-process.ts';
import { problem } from './acme-fake.ts';
import {
  acmeRig,
  asking,
  auto,
  change,
  customer,
  type Customer,
  due,
  fake,
  found,
  idle,
  lines,
  removeDomains,
  run,
  shownBy,
  switched,
} from './acme-rig.ts';
import { by, ok } from './expect.ts';
import { a, api, db } from './tasks-rig.ts';

acmeRig();
const hour = 3600;
/** As if its certificate had been issued that long ago. */
const issuedAgo = (id: number, seconds: number) =>
  sql`update "autoCertificate" set "issuedAt" = now() - ${seconds} * interval '1 second' where "domainID" = ${id}`.execute(db());
const removeCertificate = async ({ user, siteID }: Customer, id: number) =>
  ok(await by(api, user).del(`/user/site/${siteID}/certificates`, { ids: [id] }));
const tasksOf = ({ siteID }: Customer) =>
  rows<{ id: number; input: { domainIDs: number[] }; state: string }>(
    db(),
    sql`select id, input, state from task where "siteID" = ${siteID} and kind = 'autoSSL' order by id`,
  );

test('switched off and on it goes on where it stood: no second certificate is ordered', async () => {
  const who = await customer();
  const [id] = await asking(who, 'toggled.test');
  await run();
  const first = await found(id!);
  for (let n = 0; n < 3; n++) {
    await switched(who, [id!], false);
    await switched(who, [id!]);
    await run();
  }
  const { state, certificateID, seconds } = await found(id!);
  assert.deepEqual([state, certificateID, await shownBy(id!)], ['success', first.certificateID, first.certificateID]);
  assert.ok(Math.abs(seconds! - first.seconds!) < 600);
  assert.equal(fake.count('newOrder'), 1);
});

test('switched to another authority and back, nothing is ordered that it shows already', async () => {
  const who = await customer();
  await by(api, a.client).put('/client/setting/system/zeroSSL', {
    eabKID: 'kid',
    eabHmacKey: 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W',
  });
  const [id] = await asking(who, 'back.test');
  await run();
  for (const provider of ['zeroSSL', 'private']) ok(await change(who, [id!], true, { provider }));
  await run();
  const { state, provider, seconds } = await found(id!);
  assert.deepEqual([state, provider, fake.count('newOrder')], ['success', 'private', 1]);
  assert.ok(seconds! > 0.9 * hour, String(seconds));
});

test('one whose certificate was deleted has another, an hour after the last at the earliest; so has a domain that was added anew', async () => {
  const who = await customer();
  const [id, other] = await asking(who, 'deleted.test', 'added.test');
  await run();
  await removeCertificate(who, (await found(id!)).certificateID!);
  await run();
  const waits = await found(id!);
  assert.ok(waits.seconds! > 0.9 * hour && waits.seconds! <= hour, String(waits.seconds));
  await removeDomains(who, [other!]);
  const [anew] = await asking(who, 'added.test');
  await run();
  const added = await found(anew!);
  assert.ok(added.state === 'pending' && added.seconds! > 0.9 * hour && added.seconds! <= hour, JSON.stringify(added));
  assert.equal(fake.count('newOrder'), 2);
  await issuedAgo(id!, acmeLimits.issuedMinutes * 60);
  await switched(who, [id!], false);
  await switched(who, [id!]);
  await due(anew!);
  await run();
  assert.equal(fake.count('newOrder'), 4);
  assert.deepEqual(
    [await shownBy(id!), await shownBy(anew!)],
    [(await found(id!)).certificateID, (await found(anew!)).certificateID],
  );
  // long after, at once
  await issuedAgo(id!, 2 * hour);
  await removeCertificate(who, (await found(id!)).certificateID!);
  await run();
  assert.equal(fake.count('newOrder', 'deleted.test'), 3);
  assert.notEqual(await shownBy(id!), null);
});

test('what failed keeps its time, whoever deletes the domain; what was put by hand and goes leaves the place to the one that is there', async () => {
  const who = await customer();
  fake.says = (what, name) => (what === 'newOrder' && name === 'failing.test' ? problem('rejectedIdentifier', 'no') : undefined);
  const [id, own] = await asking(who, 'failing.test', 'own.test');
  await sql`update "autoCertificate" set attempts = 4 where "domainID" = ${id}`.execute(db());
  await run();
  await removeDomains(who, [id!]);
  const [anew] = await asking(who, 'failing.test');
  await run();
  const { attempts, seconds } = await found(anew!);
  assert.ok(attempts === 5 && seconds! > 2.5 * hour, `${attempts} ${seconds}`);
  assert.equal(fake.count('newOrder', 'failing.test'), 1);
  const { certificateID } = await found(own!);
  const copied = (await row<{ id: number }>(
    db(),
    sql`insert into certificate ("siteID", "sslName", type, names, "isWhole", issuer, serial, fingerprint, "keyType", "keyBits", "notBefore", "notAfter", leaf, issuers, "privateKey")
        select "siteID", 'ours', 'manual', names, "isWhole", issuer, serial, fingerprint, "keyType", "keyBits", "notBefore", "notAfter", leaf, issuers, "privateKey"
        from certificate where id = ${certificateID} returning id`,
  ))!.id;
  ok(await by(api, who.user).patch(`/user/site/${who.siteID}/certificate/${copied}/domains`, { domainIDs: [own] }));
  await removeCertificate(who, copied);
  await run();
  assert.deepEqual([await shownBy(own!), fake.count('newOrder', 'own.test')], [certificateID, 1]);
});

test('what one customer failed at does not put off another who has the name next, beyond the hour', async () => {
  const [x, y] = [await customer(), await customer()];
  fake.says = (what, name) => (what === 'newOrder' && name === 'handed.test' ? problem('rejectedIdentifier', 'no') : undefined);
  const [id] = await asking(x, 'handed.test');
  await sql`update "autoCertificate" set attempts = 6 where "domainID" = ${id}`.execute(db());
  await run();
  assert.ok((await found(id!)).seconds! > 10 * hour);
  await removeDomains(x, [id!]);
  const [next] = await asking(y, 'handed.test');
  const { attempts, seconds } = await found(next!);
  assert.ok(attempts === 0 && seconds! > 0.9 * hour && seconds! <= hour, `${attempts} ${seconds}`);
});

test('one name is never two tasks’, and a task that is tried again takes nothing that another has or that was tried just now', async () => {
  const who = await customer();
  let isBad = true;
  fake.says = (what, name) =>
    isBad && what === 'newOrder' && name === 'retried.test' ? problem('rejectedIdentifier', 'no') : undefined;
  const [id] = await asking(who, 'retried.test');
  await run();
  const retry = async () => {
    const [task] = await tasksOf(who);
    ok(await by(api, who.user).put(`/user/task/${task!.id}/retry`, {}));
    await idle();
  };
  isBad = false;
  await retry();
  assert.equal(fake.count('newOrder'), 1, 'tried a moment ago');
  assert.equal((await lines(who)).at(-2)!.code, 'limited');
  // another has it
  await due(id!);
  let go = () => {};
  const gate = new Promise<void>(resolve => (go = resolve));
  fake.says = async what => {
    if (what === 'finalize') await gate;
    return undefined;
  };
  await auto.look();
  assert.ok(await poll(() => fake.count('finalize') > 0, 30_000, 20));
  const [first, second] = await tasksOf(who);
  ok(await by(api, who.user).put(`/user/task/${first!.id}/retry`, {}));
  assert.ok(await poll(async () => (await tasksOf(who))[0]!.state === 'succeeded', 30_000, 50));
  go();
  await idle();
  assert.deepEqual([(await found(id!)).state, fake.count('newOrder'), fake.count('certificate')], ['success', 2, 1]);
  assert.equal(
    (await lines(who))
      .filter(line => line.code === 'issued')
      .map(line => line.taskID)
      .join(),
    String(second!.id),
  );
  // long ago
  await sql`update "autoCertificate" set state = 'fail', "updatedAt" = now() - interval '1 day', "nextAt" = now() + interval '1 day' where "domainID" = ${id}`.execute(
    db(),
  );
  await sql`update task set state = 'failed', "endedAt" = now(), cursor = jsonb_set(cursor, '{failed}', ${JSON.stringify([id])}::jsonb) where id = ${first!.id}`.execute(
    db(),
  );
  await retry();
  assert.equal(fake.count('newOrder'), 3);
});

test('another authority that is chosen meanwhile makes the certificate', async () => {
  const who = await customer();
  await by(api, a.client).put('/client/setting/system/zeroSSL', {
    eabKID: 'kid',
    eabHmacKey: 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W',
  });
  fake.says = async (what, name) => {
    if (what !== 'finalize' || name !== 'chosen.test') return undefined;
    ok(await change(who, [id!], true, { provider: 'zeroSSL' }));
    return undefined;
  };
  const [id] = await asking(who, 'chosen.test');
  await run();
  const { provider, state, taskID, certificateID } = await found(id!);
  assert.deepEqual([provider, state, taskID, certificateID], ['zeroSSL', 'pending', null, null]);
  assert.ok(((await found(id!)).seconds ?? 0) <= 300);
  await switched(who, [id!], false);
});

test('what a task had to do when it ended is not under way for ever', async () => {
  const who = await customer();
  const [id] = await asking(who, 'unset.test');
  const { acme } = api.services;
  delete api.services.acme;
  await run();
  api.services.acme = acme!;
  const { state, error, attempts, seconds } = await found(id!);
  assert.deepEqual([state, attempts], ['fail', 1]);
  assert.ok(error !== '' && error !== 'Parameter Error' && seconds! > 0, error);
  const [paused] = await asking(who, 'paused.test');
  await auto.look();
  await sql`update task set state = 'failed', "endedAt" = now(), error = '{"code":101005}' where id = ${(await found(paused!)).taskID}`.execute(
    db(),
  );
  await auto.look();
  const ended = await found(paused!);
  assert.deepEqual([ended.state, ended.attempts, ended.taskID], ['fail', 1, null]);
  assert.notEqual(ended.error, '');
  const told = await by(api, who.user).read(`/user/site/${who.siteID}/domain/${paused}`);
  assert.equal(told.certStatus, 'fail');
  await idle();
});

test('a task has a hundred names, an account half the tasks it may have, and what it has beyond that holds up nobody', async () => {
  const [x, y] = [await customer(), await customer()];
  const n = acmeLimits.namesPerTask;
  await sql`with made as (insert into domain ("siteID", "domainName", "autoSSL") select ${x.siteID}, 'many' || g || '.test', true from generate_series(1, ${11 * n}) g returning id)
    insert into "autoCertificate" ("domainID", provider) select id, 'private' from made`.execute(db());
  const others = taskLimits.open / 2 - 2;
  await sql`insert into task (kind, resource, "rootID", "siteID", input, about, total, "runAt")
    select 'autoSSL', 'certificates', ${x.user.id}, ${x.siteID}, '{"siteID":1,"provider":"private","domainIDs":[1]}', '{"count":1}', 1, now() + interval '15 minutes'
    from generate_series(1, ${others})`.execute(db());
  const ids = await asking(y, 'not-held-up.test');
  fake.says = (what, name) => (what === 'newOrder' && name.startsWith('many') ? { status: 500, body: '' } : undefined);
  await auto.look();
  const made = (await tasksOf(x)).slice(others);
  assert.deepEqual(
    made.map(task => task.input.domainIDs.length),
    [n, n],
  );
  assert.equal((await found(ids[0]!)).state === 'pending', false);
  const { waiting, soonest } = (await row<{ waiting: number; soonest: number }>(
    db(),
    sql`select count(*) as waiting, extract(epoch from min("nextAt") - now())::float8 as soonest from "autoCertificate" a join domain d on d.id = a."domainID"
        where d."siteID" = ${x.siteID} and a."taskID" is null`,
  ))!;
  assert.ok(waiting === 9 * n && soonest > 200, `${waiting} ${soonest}`);
  await sql`update task set state = 'cancelled', "endedAt" = now(), run = run + 1 where "siteID" = ${x.siteID} and "endedAt" is null`.execute(
    db(),
  );
  // their places among the orders are others'
  await auto.look();
  await idle();
  assert.equal((await found(ids[0]!)).state, 'success');
});
