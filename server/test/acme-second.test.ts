/** Where an authority cannot or will not, another one is asked: of operators who are at both, and never where a name is at fault. */
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { sql } from 'kysely';
import { errors } from '#contract/errors.ts';
import { row } from '#server/store/db.ts';
import { FakeAuthority, problem, type Said } from './acme-fake.ts';
import { acmeRig, asking, type Customer, change, customer, domains, due, fake, found, lines, run, shownBy } from './acme-rig.ts';
import { by, ok } from './expect.ts';
import type { Reply } from './harness.ts';
import { a, api, db } from './tasks-rig.ts';

acmeRig();
let first: FakeAuthority;
let second: FakeAuthority;
beforeEach(async () => {
  first?.stop();
  second?.stop();
  [first, second] = [await new FakeAuthority().start(), await new FakeAuthority().start()];
  api.services.acmeAt = { letsEncrypt: first.directory, zeroSSL: second.directory, ca: first.ca };
});
after(() => {
  first?.stop();
  second?.stop();
});
const bind = async (eabKID: string, eabHmacKey: string) =>
  ok(await by(api, a.client).put('/client/setting/system/zeroSSL', { eabKID, eabHmacKey }));

/** A domain that wants one of Let's Encrypt. */
async function wanting(who: Customer, name: string): Promise<number> {
  const [id] = await domains(who, name);
  ok(await change(who, [id!], true, { provider: 'letsEncrypt' }));
  return id!;
}
const refuses = (authority: FakeAuthority, said: Said) => (authority.says = what => (what === 'newOrder' ? said : undefined));
const providerOf = async (domainID: number) =>
  (await row<{ provider: string }>(db(), sql`select c.provider from certificate c where c.id = ${await shownBy(domainID)}`))
    ?.provider;
const down: Said = { status: 500, body: 'out of order' };
const limited = problem('rateLimited', 'too many new orders (300) from this account', 429, { 'retry-after': '72000' });

test('without credentials of the other, and for an authority of one’s own, there is no second', async () => {
  const who = await customer();
  const id = await wanting(who, 'alone.test');
  refuses(first, down);
  await run();
  assert.equal((await found(id)).state, 'fail');
  const [own] = await asking(who, 'inside.test');
  refuses(fake, down);
  await run();
  assert.equal((await found(own!)).state, 'fail');
  await due(id, own!);
  await run();
  assert.deepEqual([second.asked.length, (await found(id)).attempts], [0, 2]);
});

test('the operator is at both', async t => {
  await bind('kid-of-the-test', Buffer.from('of the test, thirty-two bytes ok').toString('base64url'));
  await t.test(
    'out of order, limited, away, an account refused, CAA of the other: the other issues it, and a log says so',
    async () => {
      const who = await customer();
      const ways: Record<string, () => void> = {
        'down.test': () => refuses(first, down),
        'account.test': () => refuses(first, problem('unauthorized', 'account is deactivated', 403)),
        'caa.test': () => refuses(first, problem('caa', 'CAA record prevents issuance', 403)),
        'limited.test': () => refuses(first, limited),
      };
      for (const [name, fails] of Object.entries(ways)) {
        fails();
        const id = await wanting(who, name);
        await run();
        const turned = await found(id);
        assert.deepEqual([turned.state, turned.provider, turned.attempts], ['pending', 'letsEncrypt', 0], name);
        assert.ok(turned.seconds! < 10);
        await due(id);
        await run();
        assert.deepEqual(
          [(await found(id)).state, await providerOf(id), second.count('newOrder', name)],
          ['success', 'zeroSSL', 1],
          name,
        );
        assert.ok((await lines(who)).some(line => line.code === 'otherAuthority' && line.values['host'] === name));
      }
      // the account is limited: the next name does not even ask
      const next = await wanting(who, 'next.test');
      const asked = first.count('newOrder');
      await run();
      await due(next);
      await run();
      assert.deepEqual([(await found(next)).state, first.count('newOrder')], ['success', asked]);
      first.stop();
      await sql`update "acmeAccount" set "notBefore" = null`.execute(db());
      const away = await wanting(who, 'away.test');
      await run();
      await due(away);
      await run();
      assert.equal(await providerOf(away), 'zeroSSL');
    },
  );

  await t.test(
    'CAA that is found with the proof or with the order, and an account that cannot be had, are not the name’s fault either',
    async () => {
      await sql`delete from "acmeAccount"`.execute(db());
      const caa = { type: 'urn:ietf:params:acme:error:caa', detail: 'CAA record prevents issuance' };
      const says: Record<string, FakeAuthority['says']> = {
        'proof.test': what =>
          what === 'authorization' && first.count('challenge', 'fault-proof.test') > 0
            ? {
                body: {
                  status: 'invalid',
                  challenges: [{ type: 'http-01', url: first.directory, status: 'invalid', error: caa }],
                },
              }
            : undefined,
        'order.test': what =>
          what === 'finalize'
            ? { body: { status: 'invalid', authorizations: [first.directory], finalize: first.directory, error: caa } }
            : undefined,
        'account.test': what => (what === 'account' ? problem('malformed', 'secret of the operator', 400) : undefined),
      };
      for (const [name, said] of Object.entries(says)) {
        if (name === 'account.test') await sql`delete from "acmeAccount"`.execute(db());
        const who = await customer();
        const id = await wanting(who, `fault-${name}`);
        first.says = (what, whose) => (name === 'account.test' || whose.endsWith(name) ? said(what, whose) : undefined);
        await run();
        assert.deepEqual([(await found(id)).state, (await found(id)).attempts], ['pending', 0], name);
        await due(id);
        await run();
        assert.equal(await providerOf(id), 'zeroSSL', name);
        assert.doesNotMatch(JSON.stringify(await lines(who)), /secret of the operator/);
      }
    },
  );

  await t.test('what is wrong with the name is wrong everywhere', async () => {
    const who = await customer();
    const before = second.count('newOrder');
    refuses(first, problem('rejectedIdentifier', 'policy forbids issuing for this name'));
    const id = await wanting(who, 'name.test');
    await run();
    assert.deepEqual([(await found(id)).state, (await found(id)).attempts], ['fail', 1]);
    await due(id);
    await run();
    assert.equal(second.count('newOrder'), before);
  });

  await t.test('neither does it: the first comes again, later each time, and the other not within the hour', async () => {
    const who = await customer();
    refuses(first, down);
    refuses(second, down);
    const id = await wanting(who, 'neither.test');
    for (let i = 0; i < 4; i++) {
      await run();
      await due(id);
    }
    assert.deepEqual([first.count('newOrder', 'neither.test'), second.count('newOrder', 'neither.test')], [3, 1]);
    assert.equal((await found(id)).attempts, 3);
    await sql`update "autoCertificate" set "insteadAt" = now() - interval '2 hours' where "domainID" = ${id}`.execute(db());
    second.says = () => undefined;
    await run();
    await due(id);
    await run();
    assert.equal(await providerOf(id), 'zeroSSL');
  });
});

test('credentials of ZeroSSL are tried where they are typed: whose fault it is is told by a code, and in the other side’s words', async () => {
  const trial = () => by(api, a.client).post('/client/setting/system/zeroSSL/test', {});
  const told = ({ status, body: { code, extra } }: Reply) => [status, code, extra];
  await sql`delete from "zeroSSL"`.execute(db());
  assert.deepEqual((await trial()).body.errorData, [{ path: 'eabKID', rule: 'required' }]);
  await bind('kid-of-the-trial', Buffer.from('of the trial, thirty-two bytes.').toString('base64url'));
  const accounts = second.accounts;
  ok(await trial());
  // with a key for this alone: none of the operator's account is told
  assert.deepEqual([second.accounts, first.asked.length], [accounts + 1, 0]);
  const refusing = (said: Said) => (second.says = what => (what === 'account' ? said : undefined));
  refusing(problem('unauthorized', 'the key identifier is unknown', 401));
  assert.deepEqual(told(await trial()), [502, errors.supplier.code, 'the key identifier is unknown (unauthorized)']);
  refusing({ status: 502, body: '<html>Bad gateway</html>' });
  assert.deepEqual(told(await trial()), [502, errors.supplierUnknown.code, 'the authority answered 502']);
  second.stop();
  const away = await trial();
  assert.deepEqual([away.status, away.body.code], [502, errors.selfCheck.code]);
  // who may look, and no more, sends nobody anywhere; nor does who holds the button down
  const many = await Promise.all(Array.from({ length: 12 }, trial));
  assert.ok(many.some(({ status }) => status === 429));
});
