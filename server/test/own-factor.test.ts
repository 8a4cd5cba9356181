/** What takes the place of a second factor takes a code of it: a new authenticator, a passkey. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { setAuthenticator } from '#server/account/factors.ts';
import { codeAt, newSecret, stepAt } from '#server/account/totp.ts';
import { broken, ok } from './expect.ts';
import { Api, password, type Person, type Tenant } from './harness.ts';
import { type Mailing, startMailing } from './mailing.ts';
import { type Smtp, textOf } from './smtp.ts';

let api: Api;
let smtp: Smtp;
let mailing: Mailing;
let a: Tenant;
before(async () => {
  api = await Api.start();
  mailing = await startMailing(api);
  ({ smtp } = mailing);
  const begun = Date.now();
  api.sessions.tries.now = () => begun;
  a = await api.tenant('a');
  await mailing.serve(a);
});
after(async () => {
  await mailing?.stop();
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

let people = 0;
const customer = () => api.account('user', `own-factor-${++people}@test.test`, { parentClient: a.client.id });
const post = (path: string, body: unknown, token?: string) => api.call('POST', path, { body, ...(token ? { token } : {}) });
const verify = (who: Pick<Person, 'email'>) => post('/user/verify', { email: who.email, password });
const login = (who: Pick<Person, 'email'>, onePassKey: string, vcode: string) =>
  post('/user/login', { onePassKey, email: who.email, vcode });
const mailedCode = async (to: string) => /^\d{6}$/m.exec(textOf(await smtp.next(to)))![0];
const other = (code: string) => (code === '000000' ? '000001' : '000000');
const begin = async (person: Person) =>
  ok(await post('/user/login2fa/phase0', { password }, person.token)).body.onePassKey as string;
const choose = (person: Person, onePassKey: string, type: number) =>
  post('/user/login2fa/phase1', { onePassKey, type }, person.token);
const now = (secret: string) => codeAt(secret, stepAt(Date.now()));
/** One that was set up before the code of now. */
async function setUp(person: Person) {
  const secret = newSecret();
  const recovery = await setAuthenticator(api.database.db, api.services, person.id, secret, 0);
  await sql`update account set "twoFactor" = 1 where id = ${person.id}`.execute(api.database.db);
  return { secret, recovery };
}

describe('what takes the place of a second factor', () => {
  test('another takes its place with a code of the present one, or of the mail that is asked for, which is counted', async () => {
    const person = await customer();
    const { secret } = await setUp(person);
    const begun = async () => {
      const onePassKey = await begin(person);
      const { qrCodeData, presentType } = ok(await choose(person, onePassKey, 1)).body;
      const next = new URL(qrCodeData).searchParams.get('secret')!;
      return { onePassKey, presentType, code: now(next), next };
    };
    const both = ({ onePassKey, code }: { onePassKey: string; code: string }, presentCode?: string) =>
      post('/user/login2fa/phase2', { onePassKey, code, presentCode }, person.token);
    const first = await begun();
    assert.equal(first.presentType, 1);
    broken(await both(first), 'presentCode', 'factorByApp');
    broken(await both(first, other(now(secret))), 'presentCode', 'wrongCode');
    // the new one’s own code is none of the present one
    broken(await both(first, first.code), 'presentCode', 'wrongCode');
    ok(await both(first, now(secret)));
    await smtp.next(person.email);
    ok(await login(person, ok(await verify(person)).body.onePassKey, codeAt(first.next, stepAt(Date.now()) + 1)));
    const again = await begun();
    const replies = await Promise.all(Array.from({ length: 20 }, () => both(again, '00000a')));
    assert.ok(replies.filter(reply => reply.status === 400).length <= 5);
  });

  test('who is mailed codes takes an authenticator with one of them', async () => {
    const person = await customer();
    await sql`update account set "twoFactor" = 0 where id = ${person.id}`.execute(api.database.db);
    const onePassKey = await begin(person);
    const { qrCodeData, presentType, login2FAType } = ok(await choose(person, onePassKey, 1)).body;
    assert.deepEqual([presentType, login2FAType], [0, 1]);
    const mailed = await mailedCode(person.email);
    const code = now(new URL(qrCodeData).searchParams.get('secret')!);
    const both = (presentCode?: string) => post('/user/login2fa/phase2', { onePassKey, code, presentCode }, person.token);
    broken(await both(), 'presentCode', 'factorByMail');
    broken(await both(other(mailed)), 'presentCode', 'wrongCode');
    ok(await both(mailed));
  });

  test('where signing in takes a code, adding one does: of the authenticator, or by mail; each serves once and is counted', async () => {
    const who = await customer();
    const given = (code?: string) =>
      api.call('POST', '/user/account/passkey/options', {
        token: who.token,
        body: { password, code },
        headers: { host: 'console.test' },
      });
    const { secret, recovery } = await setUp(who);
    broken(await given(), 'code', 'factorByApp');
    broken(await given('000000x'), 'code', 'wrongCode');
    const code = codeAt(secret, stepAt(Date.now()));
    ok(await given(code));
    broken(await given(code), 'code', 'wrongCode');
    ok(await given(recovery[0]));
    broken(await given(recovery[0]), 'code', 'wrongCode');
    const replies = await Promise.all(Array.from({ length: 20 }, () => given('000000x')));
    assert.ok(replies.some(reply => reply.status === 429));
    assert.ok(replies.filter(reply => reply.status === 400).length <= 10);

    const mailed = await customer();
    await sql`update account set "twoFactor" = 0 where id = ${mailed.id}`.execute(api.database.db);
    const ask = (token: string, typed?: string) =>
      api.call('POST', '/user/account/passkey/options', {
        token,
        body: { password, code: typed },
        headers: { host: 'console.test' },
      });
    broken(await ask(mailed.token), 'code', 'factorByMail');
    const right = await mailedCode(mailed.email);
    broken(await ask(mailed.token, right === '000000' ? '000001' : '000000'), 'code', 'wrongCode');
    // of another session of theirs: it asked for none
    const elsewhere = await api.sessions.open(api.database.db, mailed.id);
    broken(await ask(elsewhere.accessToken, right), 'code', 'wrongCode');
    const both = await Promise.all([ask(mailed.token, right), ask(mailed.token, right)]);
    assert.deepEqual(both.map(reply => reply.status).toSorted(), [200, 400]);
  });
});
