/** Certificates that make themselves: which of them a domain shows, and how many there may be. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { acmeLimits, certificateLimits } from '#contract/limits.ts';
import { addCertificatesCheck } from '#server/system/ending.ts';
import { Health } from '#server/kit/health.ts';
import { row } from '#server/store/db.ts';
import { authority } from '#system/authority.ts';
import { acmeRig, asking, customer, type Customer, domains, due, fake, found, lines, run, shownBy } from './acme-rig.ts';
import { broken, by, ok } from './expect.ts';
import { api, db } from './tasks-rig.ts';

acmeRig();
const day = 86_400;

const uploaded = (who: Customer, pair: { chain: string; key: string }) =>
  by(api, who.user).make(`/user/site/${who.siteID}/certificates`, {
    sslName: 'ours',
    certificate: pair.chain,
    privateKey: pair.key,
  });
const assigned = async ({ user, siteID }: Customer, id: number, domainIDs: number[]) =>
  ok(await by(api, user).patch(`/user/site/${siteID}/certificate/${id}/domains`, { domainIDs }));

test('one that asks has a certificate that it shows, and another after two thirds of its life, in the same row', async () => {
  const who = await customer();
  const [id] = await asking(who, 'plain.test');
  await run();
  const first = await found(id!);
  assert.deepEqual([first.state, first.attempts, first.error, await shownBy(id!)], ['success', 0, '', first.certificateID]);
  const renew = 90 * acmeLimits.renewAfter * day;
  assert.ok(first.seconds! > renew * 0.94 && first.seconds! < renew * 1.06, String(first.seconds! / day));
  await due(id!);
  await run();
  const next = await found(id!);
  assert.deepEqual(
    [next.certificateID, await shownBy(id!), fake.count('certificate')],
    [first.certificateID, first.certificateID, 2],
  );
  assert.deepEqual(
    (await lines(who)).slice(0, 6).map(({ code }) => code),
    ['started', 'ordered', 'spread', 'validated', 'issued', 'succeeded'],
  );
});

test('what somebody put there by hand is shown as long as it is good, whatever is renewed meanwhile', async () => {
  const who = await customer();
  const ca = authority();
  const [byHand, over] = await asking(who, 'by-hand.test', 'over.test');
  await run();
  const [mine, old] = [await uploaded(who, ca.issue(['by-hand.test'])), await uploaded(who, ca.issue(['over.test']))];
  await assigned(who, mine, [byHand!]);
  await assigned(who, old, [over!]);
  await sql`update certificate set "notAfter" = now() - interval '1 second' where id = ${old}`.execute(db());
  await due(byHand!, over!);
  await run();
  assert.equal(await shownBy(byHand!), mine);
  assert.equal((await found(byHand!)).state, 'success');
  assert.equal(await shownBy(over!), (await found(over!)).certificateID);
});

test('nothing uploaded takes the place of one that makes itself; one that others show by now is left to them', async () => {
  const who = await customer();
  const [id] = await asking(who, 'first.test');
  const [other] = await domains(who, 'second.test');
  await run();
  const { certificateID } = await found(id!);
  const path = `/user/site/${who.siteID}/certificate/${certificateID}`;
  const both = authority().issue(['first.test', 'second.test']);
  const reply = await by(api, who.user).put(path, { sslName: 'x', certificate: both.chain, privateKey: both.key });
  broken(reply, 'certificate', 'certificateAutomatic');
  ok(await by(api, who.user).put(path, { sslName: 'named anew' }));
  // as an earlier release let them
  await sql`update certificate set names = '{first.test,second.test}' where id = ${certificateID}`.execute(db());
  await assigned(who, certificateID!, [id!, other!]);
  await due(id!);
  await run();
  const { certificateID: next } = await found(id!);
  assert.notEqual(next, certificateID);
  assert.deepEqual([await shownBy(id!), await shownBy(other!)], [next, certificateID]);
});

test('one that is for other names, or good only later, is not shown', async () => {
  const who = await customer();
  const [id] = await asking(who, 'mine.test');
  fake.names = () => ['yours.test'];
  await run();
  const { state, certificateID, attempts } = await found(id!);
  assert.deepEqual([state, certificateID, attempts, await shownBy(id!)], ['fail', null, 1, null]);
});

test('those that make themselves take no room of those that are uploaded, nor are they kept from theirs', async () => {
  const who = await customer();
  const [id] = await asking(who, 'room.test');
  await run();
  const { certificateID } = await found(id!);
  const copies = (type: string, n: number) =>
    sql`insert into certificate ("siteID", "sslName", type, names, "isWhole", issuer, serial, fingerprint, "keyType", "keyBits", "notBefore", "notAfter", leaf, issuers, "privateKey")
      select "siteID", "sslName", ${type}, names, "isWhole", issuer, serial, fingerprint, "keyType", "keyBits", "notBefore", "notAfter", repeat('A', 2500), issuers, "privateKey"
      from certificate, generate_series(1, ${n}) where id = ${certificateID}`.execute(db());
  await copies('autoSSL', certificateLimits.perSite + 1);
  const pair = authority().issue(['by-hand.test']);
  const mine = await uploaded(who, pair);
  assert.ok(mine > 0);
  await copies('manual', certificateLimits.perSite);
  broken(
    await by(api, who.user).post(`/user/site/${who.siteID}/certificates`, {
      sslName: 'x',
      certificate: pair.chain,
      privateKey: pair.key,
    }),
    'certificate',
    'tooMany',
  );
  const [next] = await asking(who, 'more-room.test');
  await due(id!);
  await run();
  assert.deepEqual([(await found(id!)).state, (await found(next!)).state], ['success', 'success']);
  const { n } = (await row<{ n: number }>(
    db(),
    sql`select count(*) as n from certificate where "siteID" = ${who.siteID} and "deletedAt" is null`,
  ))!;
  assert.equal(n, 2 * certificateLimits.perSite + 4);
});

test('one that ends soon and that nothing renews is told of, with the first of them; one that renews itself is not', async () => {
  const who = await customer();
  const [id, other] = await asking(who, 'ending.test', 'renewing.test');
  await sql`update certificate set "notAfter" = now() + interval '60 days'`.execute(db());
  await run();
  const ends = async (days: number) => {
    await sql`update certificate set "notAfter" = now() + ${days} * interval '1 day' + interval '1 hour' where "siteID" = ${who.siteID}`.execute(
      db(),
    );
    const again = new Health();
    addCertificatesCheck(again, api.database.db);
    return (await again.look()).filter(one => String(one.params?.['sites']).includes('.test'));
  };
  await sql`update "autoCertificate" set "nextAt" = now() where "domainID" in (${id}, ${other})`.execute(db());
  assert.deepEqual(await ends(5), []);
  await sql`update "autoCertificate" set state = 'fail' where "domainID" = ${id}`.execute(db());
  const [told, ...more] = await ends(5);
  assert.deepEqual([more, told?.state, told?.value, told?.params], [[], 'warn', 5, { count: 1, days: 5, sites: 'ending.test' }]);
  assert.deepEqual(await ends(31), []);
});
