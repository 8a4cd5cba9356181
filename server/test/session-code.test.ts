/** A login that waits for the code that was sent to its owner. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { errors } from '#contract/errors.ts';
import { holdLogin } from '#server/account/session.ts';
import { a, api, customer, is, self } from './signing.ts';

describe('a login that waits for its code', () => {
  const login = (body: object, area = 'user', headers: Record<string, string> = {}) =>
    api.call('POST', `/${area}/login`, { body, headers });

  test('the code opens one session, and none twice', async () => {
    const person = await customer();
    const { onePassKey, vcode } = await holdLogin(api.database.db, person.id);
    const body = { onePassKey, email: person.email, vcode };
    const replies = await Promise.all([login(body), login(body), login(body)]);
    assert.equal(replies.filter(reply => reply.status === 200).length, 1);
    const opened = replies.find(reply => reply.status === 200)!;
    assert.equal((await self(opened.body.accessToken)).body.id, person.id);
    is(await login(body), 'invalidToken');
  });

  test('wrong code, wrong e-mail, wrong area, unknown key: 101013', async () => {
    const person = await customer();
    const { onePassKey, vcode } = await holdLogin(api.database.db, person.id);
    const wrong = vcode === '000000' ? '000001' : '000000';
    is(await login({ onePassKey, email: person.email, vcode: wrong }), 'invalidToken');
    is(await login({ onePassKey, email: a.user.email, vcode }), 'invalidToken');
    is(await login({ onePassKey, email: person.email, vcode }, 'client'), 'invalidToken');
    is(await login({ onePassKey: 'x', email: person.email, vcode }), 'invalidToken');
    assert.equal((await login({ onePassKey, email: person.email, vcode })).status, 200);
  });

  test('five tries, then not even the right code; ten minutes', async () => {
    const person = await customer();
    const { onePassKey, vcode } = await holdLogin(api.database.db, person.id);
    const wrong = vcode === '000000' ? '000001' : '000000';
    for (let i = 0; i < 5; i++) is(await login({ onePassKey, email: person.email, vcode: wrong }), 'invalidToken');
    is(await login({ onePassKey, email: person.email, vcode }), 'tokenExpired');
    const late = await holdLogin(api.database.db, person.id);
    await sql`update login set "expiredAt" = now() - interval '1 second' where "accountID" = ${person.id}`.execute(
      api.database.db,
    );
    is(await login({ ...late, email: person.email }), 'tokenExpired');
  });

  test('an account paused meanwhile', async () => {
    const person = await customer();
    const held = await holdLogin(api.database.db, person.id);
    await sql`update account set status = 'pause' where id = ${person.id}`.execute(api.database.db);
    is(await login({ ...held, email: person.email }), 'accountNotEnabled');
  });

  test('101013 is a wrong code here and an invalid token elsewhere, in three languages', async () => {
    const body = { onePassKey: 'x', email: a.user.email, vcode: '000000' };
    const seen = new Set<string>();
    for (const [tag, language] of [
      ['zh-TW', 'zh_TW'],
      ['zh-CN', 'zh_CN'],
      ['en-US', 'en_US'],
    ] as const) {
      const code = (await login(body, 'user', { 'accept-language': tag })).body.message as string;
      const token = (await self('x', 'user', { 'accept-language': tag })).body.message as string;
      assert.equal(token, errors.invalidToken.text[language]);
      seen.add(code).add(token);
    }
    assert.equal(seen.size, 6, [...seen].join(' | '));
    assert.ok(seen.has('Invalid Token'));
  });

  test('so it is wherever a code, a passkey or a provider leads to a session, and nowhere else', async () => {
    const person = await customer();
    const post = (path: string, body: object) => api.call('POST', `/user${path}`, { body, token: person.token });
    const code = { onePassKey: 'x', email: person.email };
    assert.equal((await post('/code', code)).body.message, 'wrong verification code');
    const flow = { flowKey: 'x', code: 'x', state: 'x' };
    assert.equal((await post('/oidc/finish', flow)).body.message, 'token invalid');
    assert.equal((await post('/login2fa/phase1', { onePassKey: 'x', type: 0 })).body.message, 'wrong verification code');
    // a link to set a password is no code
    const link = await api.call('POST', '/register/password', { body: { token: 'x', password: 'long enough for it' } });
    assert.equal(link.body.message, errors.invalidToken.text.en_US);
  });

  test('without a word about languages an error comes in the language of the account', async () => {
    const person = await customer();
    await sql`update account set language = 'zh_CN' where id = ${person.id}`.execute(api.database.db);
    const response = await api.app.inject({
      method: 'GET',
      url: '/api/v1/user/site/77777777',
      headers: { authorization: `Bearer ${person.token}` },
    });
    assert.equal(response.json().message, errors.parameter.text.zh_CN);
    const stranger = await api.app.inject({ method: 'GET', url: '/api/v1/user/sites' });
    assert.equal(stranger.json().message, errors.credentialFailed.text.zh_TW);
  });
});
