/** When certificates are renewed: what their authority says of it (RFC 9773), what it may say, and what is done where it says nothing of use. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { acmeLimits } from '#contract/limits.ts';
import { certificateID } from '#server/domain/acme/certificate-id.ts';
import { askRenewals, renewalTime } from '#server/domain/acme/renewal.ts';
import { row } from '#server/store/db.ts';
import { day, problem, type Said } from './acme-fake.ts';
import { acmeRig, asking, customer, type Customer, due, fake, found, lines, run, shownBy } from './acme-rig.ts';
import { by, ok } from './expect.ts';
import { a, api, db } from './tasks-rig.ts';

acmeRig();
const hour = 3600;
const never = new AbortController().signal;
/** All are asked about now. */
async function askAll(): Promise<void> {
  await sql`update "autoCertificate" set "askAt" = now() where "askAt" is not null`.execute(db());
  await askRenewals(db(), api.services, never);
}
const inDays = (from: number, until: number): [Date, Date] => [
  new Date(Date.now() + from * day),
  new Date(Date.now() + until * day),
];
/** As if its certificate had been issued ten days ago: an authority may have it renewed. */
const rested = (...ids: number[]) =>
  sql`update "autoCertificate" set "issuedAt" = now() - interval '10 days' where "domainID" = any(${ids})`.execute(db());
const askedIn = async (id: number): Promise<number> =>
  (await row<{ seconds: number }>(
    db(),
    sql`select extract(epoch from "askAt" - clock_timestamp())::float8 as seconds from "autoCertificate" where "domainID" = ${id}`,
  ))!.seconds;
const codes = async (who: Customer) => (await lines(who)).map(({ code }) => code);
const isUsual = (seconds: number | null) => {
  const wanted = 90 * 86_400 * acmeLimits.renewAfter;
  assert.ok(seconds! > wanted * 0.94 && seconds! < wanted * 1.06, String(seconds! / 86_400));
};

test('an authority’s window brings renewal forward; the order says what it replaces, the log why', async () => {
  const who = await customer();
  let window = inDays(20, 30);
  fake.window = () => window;
  const [id] = await asking(who, 'window.test');
  await run();
  isUsual((await found(id!)).seconds);
  await askAll();
  const first = await found(id!);
  assert.ok(first.seconds! >= 19.9 * 24 * hour && first.seconds! <= 30 * 24 * hour, String(first.seconds! / 86_400));
  // the same answer moves nothing
  await askAll();
  assert.ok(Math.abs((await found(id!)).seconds! - first.seconds!) < 600);
  assert.deepEqual([fake.count('renewalInfo', 'window.test'), fake.replaced.length], [2, 0]);
  const before = fake.idOf('window.test');
  // it is about to revoke it
  await rested(id!);
  window = inDays(-2, -1);
  await askAll();
  await run();
  const next = await found(id!);
  assert.deepEqual([next.state, next.certificateID, await shownBy(id!)], ['success', first.certificateID, first.certificateID]);
  assert.deepEqual(fake.replaced, [{ name: 'window.test', id: before }]);
  assert.deepEqual(
    (await codes(who)).filter(code => code.startsWith('renews')),
    ['renewsSuggested'],
  );
  assert.notEqual(fake.idOf('window.test'), before);
  // a new one has its own time, however often it is said of it that it is over
  isUsual(next.seconds);
  await askAll();
  assert.ok((await found(id!)).seconds! > 20 * hour, String((await found(id!)).seconds));
});

test('an order that is refused for what it replaces goes on without it; one that is refused for itself fails', async () => {
  const who = await customer();
  fake.window = () => inDays(20, 30);
  const ids = await asking(who, 'taken.test', 'gone.test', 'refused.test');
  await run();
  const said: Record<string, Said> = {
    'taken.test': problem('alreadyReplaced', 'it has been replaced', 409),
    'gone.test': problem('malformed', 'no such certificate', 404),
  };
  fake.says = (what, name) => {
    if (what !== 'newOrder') return undefined;
    if (name === 'refused.test') return problem('rejectedIdentifier', 'not this one', 403);
    const answer = said[name];
    delete said[name];
    return answer;
  };
  await due(...ids);
  await run();
  const [taken, gone, refused] = await Promise.all(ids.map(found));
  assert.deepEqual([taken!.state, gone!.state, refused!.state], ['success', 'success', 'fail']);
  assert.deepEqual(fake.replaced.map(({ name }) => name).toSorted(), ['gone.test', 'refused.test', 'taken.test']);
  assert.deepEqual([fake.count('newOrder', 'taken.test'), fake.count('newOrder', 'refused.test')], [3, 2]);
});

test('without renewal information, and with answers of no use, it is two thirds of the life; nothing is said of what is replaced', async () => {
  const who = await customer();
  const [id] = await asking(who, 'usual.test');
  await run();
  await askAll();
  const before = await found(id!);
  isUsual(before.seconds);
  assert.equal(fake.count('renewalInfo'), 0);
  assert.ok((await askedIn(id!)) > 23 * hour);
  await due(id!);
  await sql`update "autoCertificate" set "renewAt" = now() where "domainID" = ${id}`.execute(db());
  await run();
  assert.deepEqual([fake.replaced, (await codes(who)).includes('renewsAged')], [[], true]);
});

test('broken answers take back a window; an authority that is away leaves it; both are asked again within bounds', async () => {
  const who = await customer();
  fake.window = () => inDays(10, 12);
  const [id] = await asking(who, 'broken.test');
  await run();
  const time = (days: number) => new Date(Date.now() + days * day).toISOString();
  const broken: Said[] = [
    { body: 'out of order' },
    { body: { suggestedWindow: { start: time(12), end: time(10) } } },
    { body: { suggestedWindow: { start: time(10), end: time(10) } } },
    { body: { suggestedWindow: { start: 'soon', end: 'later' } } },
    { body: { suggestedWindow: { start: '0000-01-01T00:00:00Z', end: time(1) } } },
    { body: { suggestedWindow: { start: time(1), end: '9999-12-31T23:59:59-23:59' } } },
    { body: { suggestedWindow: null } },
    problem('malformed', 'no such certificate', 404),
  ];
  for (const answer of broken) {
    fake.says = () => undefined;
    await askAll();
    assert.ok((await found(id!)).seconds! < 12.1 * 24 * hour);
    fake.says = what => (what === 'renewalInfo' ? answer : undefined);
    await askAll();
    isUsual((await found(id!)).seconds);
    assert.ok((await askedIn(id!)) > 5 * hour);
  }
  fake.says = () => undefined;
  await askAll();
  const kept = (await found(id!)).seconds!;
  for (const answer of [
    { status: 500, body: '' },
    { status: 503, headers: { 'retry-after': '5' }, body: '' },
    { status: 429, headers: { 'retry-after': '99999999' }, body: '' },
  ]) {
    fake.says = what => (what === 'renewalInfo' ? answer : undefined);
    await askAll();
    assert.ok(Math.abs((await found(id!)).seconds! - kept) < 600);
    const seconds = await askedIn(id!);
    const wanted = answer.status === 429 ? 24 * hour : hour;
    assert.ok(seconds > wanted * 0.98 && seconds < wanted * 1.11, String(seconds));
  }
});

test('what somebody asks for goes before what an authority says, and by-hand certificates end when they end', async () => {
  const who = await customer();
  fake.window = () => inDays(80, 85);
  const [id] = await asking(who, 'asked.test');
  await run();
  // asked for anew by the operator while the authority answers
  const { id: rowID } = await found(id!);
  ok(await by(api, a.client).post('/client/autoCertificates/renew', { ids: [rowID] }));
  await askAll();
  assert.equal((await found(id!)).seconds, null);
  await run();
  assert.deepEqual([fake.count('certificate'), (await codes(who)).includes('renewsAsked')], [2, true]);
  // wanted in an hour, as after its certificate was deleted
  await sql`update "autoCertificate" set "nextAt" = now() + interval '1 hour' where "domainID" = ${id}`.execute(db());
  await askAll();
  assert.ok(Math.abs((await found(id!)).seconds! - hour) < 300);
});

test('a time is picked within the window, never later than with a tenth of the life left, never sooner than a day after the last', () => {
  const now = Date.parse('2026-11-01T00:00:00Z');
  const at = (days: number) => new Date(now + days * day);
  const life = { notBefore: at(0).toISOString(), notAfter: at(90).toISOString(), issuedAt: at(0).toISOString() };
  const picked = (from: number, until: number, random: number) =>
    (renewalTime(life, { from: at(from), until: at(until) }, () => random).valueOf() - now) / day;
  assert.deepEqual([picked(20, 30, 0), picked(20, 30, 0.5), picked(20, 30, 1)], [20, 25, 30]);
  assert.deepEqual([picked(85, 2_000_000, 0), picked(85, 2_000_000, 1)], [81, 76.5]);
  assert.deepEqual([picked(-9000, -8000, 0), picked(-9000, -8000, 1)], [1, 1]);
  // of a short one a tenth of its life
  const short = { ...life, notAfter: at(5).toISOString() };
  assert.equal(renewalTime(short, { from: at(-2), until: at(-1) }).valueOf(), now + day / 2);
});

test('a certificate is called by its authority’s key and its serial number, as they stand in it (RFC 9773, appendix A)', () => {
  const leaf = Buffer.from(
    `MIIBQzCB66ADAgECAgUAh2VDITAKBggqhkjOPQQDAjAVMRMwEQYDVQQDEwpFeGFt
    cGxlIENBMCIYDzAwMDEwMTAxMDAwMDAwWhgPMDAwMTAxMDEwMDAwMDBaMBYxFDAS
    BgNVBAMTC2V4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeBZu
    7cbpAYNXZLbbh8rNIzuOoqOOtmxA1v7cRm//AwyMwWxyHz4zfwmBhcSrf47NUAFf
    qzLQ2PPQxdTXREYEnKMjMCEwHwYDVR0jBBgwFoAUaYhba4dGQEHhs3uEe6CuLN4B
    yNQwCgYIKoZIzj0EAwIDRwAwRAIge09+S5TZAlw5tgtiVvuERV6cT4mfutXIlwTb
    +FYN/8oCIClDsqBklhB9KAelFiYt9+6FDj3z4KGVelYM5MdsO3pK`,
    'base64',
  );
  assert.equal(certificateID(leaf), 'aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE');
  // whatever else it is given, it says nothing and throws nothing
  for (let n = 0; n < leaf.length; n++) assert.equal(certificateID(leaf.subarray(0, n)), undefined);
  for (let n = 0; n < leaf.length; n++)
    for (const bit of [1, 0x80, 0xff]) {
      const other = Buffer.from(leaf);
      other[n]! ^= bit;
      const said = certificateID(other);
      assert.ok(said === undefined || /^[\w-]+\.[\w-]+$/.test(said));
    }
});
