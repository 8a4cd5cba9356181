/** Choosing an identity provider: what is judged before a code is used up, and what a trial of it says. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { oidcLimits } from '#contract/limits.ts';
import { setAuthenticator } from '#server/account/factors.ts';
import { codeAt, newSecret, stepAt } from '#server/account/totp.ts';
import { broken, by, is, ok } from './expect.ts';
import { Api, password, type Tenant } from './harness.ts';

const origin = 'http://console.test';
const settings = '/client/setting/system/oidc';
let api: Api;
let a: Tenant;
let provider: Server;
let issuer: string;
/** what the provider's token endpoint answers */
let answers: { status: number; type?: string; body: string };
const refuses = (error: string, status = 400) => ({ status, body: JSON.stringify({ error }) });
before(async () => {
  provider = createServer((request, response) => {
    const isToken = request.url === '/token';
    const document = {
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
    };
    const { status, type, body } = isToken ? answers : { status: 200, type: undefined, body: JSON.stringify(document) };
    response.writeHead(status, { 'content-type': type ?? 'application/json' }).end(body);
  });
  await new Promise<void>(done => provider.listen(0, '127.0.0.1', done));
  issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  api = await Api.start();
  a = await api.tenant('a');
});
after(async () => {
  await api?.stop();
  provider?.close();
  assert.deepEqual(api.failures, []);
});

const put = (more: object, version?: number) =>
  api.call('PUT', settings, {
    token: a.client.token,
    body: {
      ...{ enable: true, issuer, client: 'breakwater', label: 'House', forOperator: true, forCustomers: true, byEmail: false },
      ...{ password, ...more },
    },
    ...(version === undefined ? {} : { headers: { 'if-match': `"${version}"` } }),
  });

test('a form that is refused uses up no code, nor counts as a wrong one', async () => {
  const { db } = api.database;
  const { id } = a.client;
  const app = newSecret();
  await setAuthenticator(db, api.services, id, app, 0);
  await sql`update account set "twoFactor" = 1 where id = ${id}`.execute(db);
  const code = codeAt(app, stepAt(Date.now()));
  // none yet: a secret is asked for, a version that nobody saw is none
  broken(await put({ code }), 'secret', 'required');
  broken(await put({ code, secret: 's', issuer: '' }), 'issuer', 'required');
  broken(await put({ code, secret: 's' }, 7), 'issuer', 'stale', 409);
  ok(await put({ code, secret: 's' }, 0));
  await setAuthenticator(db, api.services, id, app, 0);
  broken(await put({ code, issuer: 'https://elsewhere.example' }), 'secret', 'required');
  const { version } = await by(api, a.client).read(settings);
  broken(await put({ code, label: 'Mine' }, version + 1), 'label', 'stale', 409);
  // who has another password learns nothing of it
  broken(await put({ code, password: 'another than that', issuer: 'https://elsewhere.example' }), 'password', 'wrongPassword');
  ok(await put({ code, label: 'Mine' }, version));
  await sql`update account set "twoFactor" = 2 where id = ${id}`.execute(db);
});

test('a trial passes where the client is known and its code is not, and says what else was answered', async () => {
  ok(await put({ secret: 's' }));
  const tried = async () => {
    // each counts, as whoever presses the button
    api.sessions.tries.giveBack([{ key: `oidc test ${a.client.id}`, free: oidcLimits.testsFree }]);
    return by(api, a.client).post(`${settings}/test`, {});
  };
  answers = refuses('invalid_grant');
  assert.equal(ok(await tried()).body.endpoint, `${issuer}/auth`);
  for (const refused of [refuses('invalid_client', 401), refuses('unauthorized_client')]) {
    answers = refused;
    broken(await tried(), 'secret', 'oidcClient');
  }
  const page = { type: 'text/html', body: '<p>A page.</p>' };
  for (const [answer, why] of [
    [{ status: 404, ...page }, /HTTP 404/],
    [{ status: 403, ...page }, /HTTP 403/],
    [{ status: 200, ...page }, /HTTP 200, text\/html/],
    [{ status: 302, ...page }, /HTTP 302/],
    [{ status: 200, body: '{"access_token":"x","token_type":"bearer"}' }, /HTTP 200/],
    [{ status: 503, body: '' }, /503/],
    [refuses('invalid_request'), /HTTP 400, invalid_request/],
  ] as const) {
    answers = answer;
    const reply = await tried();
    broken(reply, 'issuer', 'oidcAway');
    assert.match(reply.body.errorData[0].bounds.why, why);
  }
});

test('people whose provider does not take our secret are not told that they tried too often', async () => {
  answers = refuses('invalid_client', 401);
  const post = (path: string, body: unknown, ip = '127.0.0.1') =>
    api.call('POST', path, { body, headers: { host: 'console.test', 'x-forwarded-for': ip } });
  for (let n = 0; n < oidcLimits.triesFreeOfAddress + 2; n++) {
    const { url, flowKey } = ok(await post('/user/oidc/start', { origin }, `203.0.113.${n}`)).body;
    const state = new URL(url).searchParams.get('state');
    broken(await post('/user/oidc/finish', { flowKey, code: 'any', state }, '198.51.100.7'), '', 'oidcGone');
  }
  answers = refuses('invalid_grant');
  const { url, flowKey } = ok(await post('/user/oidc/start', { origin })).body;
  const state = new URL(url).searchParams.get('state');
  is(await post('/user/oidc/finish', { flowKey, code: 'any', state }, '198.51.100.7'), 'credentialFailed');
});
