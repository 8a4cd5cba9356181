/** What an authority says of how often it may be asked: who waits for it, and for how long. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { acmeLimits } from '#contract/limits.ts';
import { row } from '#server/store/db.ts';
import { problem, type Said } from './acme-fake.ts';
import { acmeRig, asking, customer, domains, due, fake, found, lines, run } from './acme-rig.ts';
import { db } from './tasks-rig.ts';

acmeRig();
const hour = 3600;
const limited = (detail: string, retry?: number, status = 429): Said =>
  problem('rateLimited', detail, status, retry === undefined ? {} : { 'retry-after': String(retry) });
const near = (seconds: number | null, wanted: number) =>
  assert.ok(seconds !== null && seconds > wanted - 30 && seconds < wanted + 90, `${seconds} s, not ${wanted}`);
/** Its first orders are answered so. */
const says = (answers: Record<string, Said>) => {
  fake.says = (what, name) => (what === 'newOrder' ? answers[name] : undefined);
};

test('a limit of one name, or of what is below one domain, keeps nobody else from theirs', async () => {
  const [x, y] = [await customer(), await customer()];
  const [exact, below] = await asking(x, 'exact-account.test', 'one.orders.test');
  says({
    'exact-account.test': limited(
      'too many certificates (5) already issued for this exact set of identifiers in the last 168h0m0s: see https://ca.test/docs/#new-certificates-per-account',
      20 * hour,
    ),
    'one.orders.test': limited('too many certificates (50) already issued for "orders.test" in the last 168h0m0s', 10 * hour),
  });
  await run();
  assert.deepEqual([(await found(exact!)).state, (await found(below!)).state], ['pending', 'pending']);
  near((await found(exact!)).seconds, 20 * hour);
  near((await found(below!)).seconds, 10 * hour);
  assert.match((await found(exact!)).error, /exact set/);
  const [good, other] = [await asking(y, 'good.test'), await asking(x, 'two.orders.test', 'also.test')];
  await run();
  assert.deepEqual([(await found(good[0]!)).state, (await found(other[1]!)).state], ['success', 'success']);
  // the authority was not even asked
  near((await found(other[0]!)).seconds, 10 * hour);
  assert.equal(fake.count('newOrder', 'two.orders.test'), 0);
  assert.ok((await lines(x)).some(line => line.code === 'limited' && Number(line.values['minutes']) > 590));
});

test('what it says of our account, of orders, or when it is overloaded holds for everybody at it', async () => {
  for (const said of [
    limited('too many new orders (300) from this account in the last 3h0m0s', 2 * hour),
    { status: 503, headers: { 'retry-after': String(2 * hour) }, body: '<html>busy</html>' },
  ]) {
    await sql`update "acmeAccount" set "notBefore" = null`.execute(db());
    const [x, y] = [await customer(), await customer()];
    const n = x.siteID;
    const [bad] = await asking(x, `bad${n}.test`);
    says({ [`bad${n}.test`]: said });
    await run();
    near((await found(bad!)).seconds, 2 * hour);
    const [next] = await asking(y, `next${n}.test`);
    await run();
    assert.equal((await found(next!)).state, 'pending');
    near((await found(next!)).seconds, 2 * hour);
    assert.equal(fake.count('newOrder', `next${n}.test`), 0);
    // once it is over
    await sql`update "acmeAccount" set "notBefore" = now()`.execute(db());
    says({});
    await due(next!);
    await run();
    assert.equal((await found(next!)).state, 'success');
  }
});

test('where several domains meet limits it is the account that does, for a while', async () => {
  const who = await customer();
  const names = ['a.several1.test', 'b.several1.test', 'several2.test', 'several3.test'];
  const wait = limited('', 5 * hour);
  says(Object.fromEntries(names.map(name => [name, wait])));
  const ids = await asking(who, ...names.slice(0, 3));
  await run();
  for (const id of ids) near((await found(id)).seconds, 5 * hour);
  const [free] = await asking(who, 'free.test');
  await run();
  assert.equal((await found(free!)).state, 'success');
  await asking(who, names[3]!);
  await run();
  const [held] = await asking(who, 'held.test');
  await run();
  near((await found(held!)).seconds, 600);
});

test('a limit that says nothing, or that it is over at once, holds a minute, and longer each time', async () => {
  const who = await customer();
  const [id] = await asking(who, 'again.test');
  says({ 'again.test': limited('', 0) });
  for (const wanted of [1, 2, 4].map(times => times * acmeLimits.limitSeconds)) {
    await sql`delete from "acmeLimit"`.execute(db());
    await due(id!);
    await run();
    const { seconds, attempts } = await found(id!);
    assert.ok(seconds! > wanted - 5 && seconds! < wanted + 65, `${seconds} s, not ${wanted}`);
    assert.equal(attempts, 0, 'it is nobody’s fault');
  }
  assert.equal(fake.count('newOrder', 'again.test'), 3);
  says({});
  await sql`delete from "acmeLimit"`.execute(db());
  await due(id!);
  await run();
  assert.equal((await found(id!)).state, 'success');
});

test('what fails is tried again later each time', async () => {
  const who = await customer();
  const [id] = await asking(who, 'refused.test');
  says({ 'refused.test': problem('rejectedIdentifier', 'not this one', 403) });
  for (const [n, minutes] of acmeLimits.retryMinutes.slice(0, 3).entries()) {
    await due(id!);
    await run();
    const { seconds, attempts, error, state } = await found(id!);
    assert.deepEqual([attempts, error, state], [n + 1, 'not this one (rejectedIdentifier)', 'fail']);
    assert.ok(seconds! > minutes * 60 * 0.85 && seconds! < minutes * 60 * 1.15, `${seconds} s, not ${minutes} min`);
  }
});

test('an authority has twenty orders of an account at once, whoever they are for, and then the next', async () => {
  const [x, y] = [await customer(), await customer()];
  await run();
  // others have most of the places
  const taken = acmeLimits.ordersAtOnce - 2;
  const [first] = await asking(x, 'first-place.test');
  await run();
  const hold = (id: number) =>
    sql`update "autoCertificate" set "orderUntil" = now() + interval '1 hour', "accountID" = (select max(id) from "acmeAccount") where "domainID" = ${id}`.execute(
      db(),
    );
  const others = await domains(x, ...Array.from({ length: taken }, (_, n) => `taken${n}.test`));
  await sql`insert into "autoCertificate" ("domainID", provider, "nextAt") select unnest(${others}::bigint[]), 'private', 'infinity'`.execute(
    db(),
  );
  for (const id of others) await hold(id);
  let most = 0;
  fake.says = async what => {
    if (what !== 'newOrder') return undefined;
    const { n } = (await row<{ n: number }>(
      db(),
      sql`select count(*) as n from "autoCertificate" where "orderUntil" > clock_timestamp()`,
    ))!;
    most = Math.max(most, n);
    return undefined;
  };
  const ids = [...(await asking(x, 'x1.test', 'x2.test', 'x3.test')), ...(await asking(y, 'y1.test', 'y2.test'))];
  await run();
  for (const id of [first!, ...ids]) assert.equal((await found(id)).state, 'success');
  assert.equal(most, acmeLimits.ordersAtOnce);
});
