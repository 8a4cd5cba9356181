/** Orders at an authority that is slow, out of order, forgetful or lies: what is lost, and what is told of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { accountOf } from '#server/domain/acme/providers.ts';
import { saidOf } from '#server/domain/acme/questions.ts';
import { autoSSLWork } from '#server/domain/acme/work.ts';
import { copyModuleWork } from '#server/module/copy.ts';
import { row, rows } from '#server/store/db.ts';
import { poll } from '#server/store/engine-process.ts';
import { mayGoOn } from '#server/system/tasks.ts';
import { AutoSSL } from '#server/work/auto-ssl.ts';
import { Tasks } from '#server/work/tasks.ts';
import { startWork } from '#server/work/work.ts';
import { day, problem, type Said, type What } from './acme-fake.ts';
import { acmeRig, asking, auto, customer, due, fake, found, idle, lines, removeDomains, run, shownBy } from './acme-rig.ts';
import { by } from './expect.ts';
import { a, api, copy, db, ended, redirectsIn, sitesOf } from './tasks-rig.ts';

acmeRig([copyModuleWork]);
const hour = 3600;
const keys = async () => (await row<{ n: number }>(db(), sql`select count(*) as n from "acmeOrder"`))!.n;
/** Answers each of these once. */
function once(answers: Partial<Record<What, Said>>) {
  const left = new Map(Object.entries(answers));
  fake.says = what => {
    const said = left.get(what);
    left.delete(what);
    return said;
  };
  return left;
}

test('once there is an order, an answer that says nothing of it ends nothing: one certificate is ordered, and it is shown', async () => {
  const who = await customer();
  const broken: Said = { status: 500, body: 'out of order' };
  const left = once({
    challenge: broken,
    authorization: undefined as unknown as Said,
    finalize: problem('badNonce', 'no', 400),
    certificate: problem('rateLimited', 'slow down', 429, { 'retry-after': '1' }),
    order: { status: 502, body: '' },
  });
  left.delete('authorization');
  const [id] = await asking(who, 'blip.test');
  await run();
  assert.equal(left.size, 0, [...left.keys()].join());
  const { state, certificateID, attempts } = await found(id!);
  assert.deepEqual([state, attempts, await shownBy(id!)], ['success', 0, certificateID]);
  assert.deepEqual([fake.count('newOrder'), await keys()], [1, 0]);
});

test('while there is none, an authority that is out of order is asked again a minute later; its directory is not remembered as gone', async () => {
  const who = await customer();
  once({ directory: { status: 500, body: 'out of order' } });
  const [id] = await asking(who, 'away.test');
  await run();
  const { state, attempts, error } = await found(id!);
  assert.deepEqual([state, attempts], ['fail', 1]);
  assert.match(error, /the authority answered 500/);
  await due(id!);
  await run();
  assert.equal((await found(id!)).state, 'success');
});

test('customers are told what is wrong, and nothing of the way from the operator to the authority', async () => {
  const who = await customer();
  api.services.acme = { directory: 'https://127.0.0.1:9/secret/directory', ca: fake.ca };
  const [id] = await asking(who, 'no-way.test');
  await run();
  assert.match((await found(id!)).error, /connection.*127\.0\.0\.1:9/);
  const told = (await lines(who)).find(line => line.code === 'notIssued')!.values['why'];
  assert.equal(told, 'the authority could not be reached (connection)');
  api.services.acme = { directory: fake.directory, ca: fake.ca };
  fake.says = what => (what === 'account' ? problem('unauthorized', 'the key ID kid-7 is revoked', 403) : undefined);
  await due(id!);
  await run();
  assert.match((await found(id!)).error, /kid-7 is revoked/);
  assert.doesNotMatch(JSON.stringify(await lines(who)), /kid-7|127\.0\.0\.1/);
});

test('a certificate that begins later than our clock is kept, and shown when it begins', async () => {
  const who = await customer();
  const [id] = await asking(who, 'early.test');
  fake.validity = () => [new Date(Date.now() + 20 * hour * 1000), new Date(Date.now() + 91 * day)];
  await run();
  const { state, certificateID, seconds } = await found(id!);
  assert.deepEqual([state, await shownBy(id!)], ['success', null]);
  assert.ok(Math.abs(seconds! - 20 * hour) < 300, String(seconds));
  // as if that day had come
  await sql`update certificate set "notBefore" = now() - interval '1 second' where id = ${certificateID}`.execute(db());
  await due(id!);
  await run();
  assert.deepEqual([await shownBy(id!), fake.count('certificate')], [certificateID, 1]);
  assert.ok((await found(id!)).seconds! > 50 * 24 * hour);
});

test('one that is nearly over when it comes is renewed in an hour, not again and again', async () => {
  const who = await customer();
  const [id] = await asking(who, 'nearly.test');
  fake.validity = () => [new Date(Date.now() - 365 * day), new Date(Date.now() + 2 * hour * 1000)];
  await run();
  const { state, seconds } = await found(id!);
  assert.equal(state, 'success');
  assert.ok(seconds! > 0.9 * hour && seconds! < 1.1 * hour, String(seconds));
});

test('whatever an authority says is told as text, and keeps no other name from its certificate', async () => {
  const who = await customer();
  const ids = await asking(who, 'half.test', 'zero.test', 'order.test', 'fine.test');
  const refused = { status: 'invalid', authorizations: ['https://a.test/x'], finalize: 'https://a.test/x' };
  fake.says = (what, name) => {
    if (what === 'newOrder' && name === 'half.test') return problem('unauthorized', `${'x'.repeat(329)}😀 and more`);
    if (what === 'newOrder' && name === 'zero.test') return problem('a\u0000b', 'one\u0000two\r\nthree\u0085four \ud83d');
    if (what === 'finalize' && name === 'order.test') return { body: { ...refused, error: { detail: 'a\u0000b\u0007c' } } };
    return undefined;
  };
  await run();
  const [half, zero, order, fine] = await Promise.all(ids.map(found));
  assert.deepEqual([half!.state, zero!.state, order!.state, fine!.state], ['fail', 'fail', 'fail', 'success']);
  assert.equal(zero!.error, 'one two three four \ufffd (a b)');
  assert.equal(order!.error, 'a b c');
  assert.ok(half!.error.isWellFormed() && half!.error.length <= 400);
});

test('an account that the authority has forgotten is made again, and the order goes on', async () => {
  const who = await customer();
  const ids = await asking(who, 'known1.test');
  await run();
  fake.forgetAccounts();
  const next = await asking(who, 'known2.test', 'known3.test');
  await run();
  for (const id of [...ids, ...next]) assert.deepEqual([(await found(id)).state, (await found(id)).attempts], ['success', 0]);
  assert.equal(fake.accounts, 2);
});

test('whoever has a name next proves it, whatever the authority remembers of the operator’s account', async () => {
  const [x, y] = [await customer(), await customer()];
  const [id] = await asking(x, 'handed-on.test');
  await run();
  assert.equal(fake.count('deactivate', 'handed-on.test'), 1);
  await removeDomains(x, [id!]);
  // as if it had not been taken back
  fake.says = what => (what === 'deactivate' ? { status: 500, body: '' } : undefined);
  const [before] = await asking(x, 'proven.test');
  await run();
  // and it has two proofs more than one taking back ends
  let kept = 2;
  fake.says = (what, name) =>
    what === 'deactivate' && name === 'proven.test' && kept-- > 0
      ? { body: { status: 'deactivated', challenges: [] } }
      : undefined;
  await removeDomains(x, [before!]);
  const [next] = await asking(y, 'proven.test');
  await due(next!);
  await run();
  assert.equal((await found(next!)).state, 'success');
  assert.equal(fake.count('challenge', 'proven.test'), 2, 'proven by each');
  const said = (await lines(y)).map(({ code }) => code);
  assert.deepEqual(said, ['started', 'ordered', 'spread', 'validated', 'issued', 'succeeded']);
});

test('nothing is answered, and no key kept, once an order is over', async () => {
  const who = await customer();
  await asking(who, 'kept1.test', 'kept2.test');
  fake.says = (what, name) => (what === 'finalize' && name === 'kept2.test' ? problem('badCSR', 'no') : undefined);
  await run();
  const left = await rows(db(), sql`select 1 from "acmeChallenge"`);
  assert.deepEqual([left.length, await keys()], [0, 0]);
  // of a task that is gone
  const [id] = await asking(who, 'kept3.test');
  await sql`insert into "acmeChallenge" ("domainID", token, answer, "createdAt") values (${id}, 't', 'a', now() - interval '2 hours')`.execute(
    db(),
  );
  await sql`insert into "acmeOrder" ("domainID", "privateKey", "createdAt") values (${id}, 'k', now() - interval '2 hours')`.execute(
    db(),
  );
  const { revision } = (await row<{ revision: number }>(db(), sql`select revision from site where id = ${who.siteID}`))!;
  const other = new AutoSSL(api.database.url);
  await other.look();
  await other.stop();
  const after = (await row<{ revision: number; n: number }>(
    db(),
    sql`select revision, (select count(*) from "acmeChallenge") as n from site where id = ${who.siteID}`,
  ))!;
  assert.deepEqual([after.n, after.revision > revision], [0, true]);
  await idle();
  assert.equal(await keys(), 0);
});

test('an authority that does not answer holds up neither other tasks nor the end of the program', async () => {
  const waiting: (() => void)[] = [];
  fake.says = () => new Promise(resolve => waiting.push(() => resolve({ status: 500, body: '' })));
  const ids: number[] = [];
  for (let n = 0; n < 4; n++) ids.push(...(await asking(await customer(), `slow${n}.test`)));
  await auto.look();
  assert.ok(await poll(() => fake.asked.length > 0, 20_000, 20));
  const module = await redirectsIn(a.siteID, a.user, 2);
  const [target] = await sitesOf(a, 1);
  await ended(a.user, await copy(a.user, a.siteID, { moduleID: module.id, siteIDs: [target] }), 'succeeded');
  // all this while it has answered nobody
  assert.equal(
    (await by(api, a.client).read('/client/autoCertificates?pageSize=500')).data.filter(
      (one: { domainID: number; state: string }) => ids.includes(one.domainID) && one.state !== 'processing',
    ).length,
    0,
  );
  const second = await startWork(
    { databaseUrl: api.database.url },
    api.services,
    new Tasks(api.database.url, api.services, [autoSSLWork], mayGoOn),
  );
  await second.stop();
  fake.says = () => undefined;
  for (const one of waiting) one();
  await idle();
});

test('what was asked by HTTP and answered late is no answer to what is asked by DNS', async () => {
  const accountID = await accountOf({ db: db(), services: api.services }, a.client.id, 'private');
  const given = { services: api.services, taskID: 2_000_000_000, accountID, signal: new AbortController().signal };
  const one = { domainID: 1, host: 'ways.test', phase: 'order', looks: 0, skip: 0 } as const;
  let go = () => {};
  const gate = new Promise<void>(resolve => (go = resolve));
  fake.says = async what => {
    if (what === 'newOrder') await gate;
    return undefined;
  };
  assert.deepEqual(await saidOf(given, [one]), []);
  go();
  assert.ok(await poll(() => fake.count('authorization') > 0, 10_000, 20));
  const said: unknown[] = [];
  assert.ok(await poll(async () => said.push(...(await saidOf(given, [{ ...one, way: 'dns' }]))) > 0, 10_000, 20));
  // this authority has no proof by DNS
  assert.match(JSON.stringify(said), /no proof by DNS/);
});
