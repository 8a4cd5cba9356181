/** What going to an OpenID provider leaves behind: of strangers nothing. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { oidcLimits as limits } from '#contract/limits.ts';
import { signInFlow } from '#server/account/oidc-flows.ts';
import { row, rows } from '#server/store/db.ts';
import { by, is, ok } from './expect.ts';
import { Api, password, type Tenant } from './harness.ts';
import { type OIDC, signInThere, startOIDC } from './oidc-provider.ts';

const origin = 'http://console.test';
let api: Api;
let oidc: OIDC;
let a: Tenant;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  oidc = await startOIDC([`${origin}/user/oidc`]);
  const { issuer, client, secret } = oidc;
  const setting = { enable: true, issuer, client, secret, label: '', forOperator: false, forCustomers: true, byEmail: false };
  ok(await by(api, a.client).put('/client/setting/system/oidc', { ...setting, password }));
});
after(async () => {
  await oidc?.stop();
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

interface Flow {
  url: string;
  flowKey: string;
}
let people = 0;
const post = (path: string, body: unknown, token?: string) =>
  api.call('POST', path, { body, headers: { host: 'console.test' }, ...(token ? { token } : {}) });
const stateOf = ({ url }: Flow) => new URL(url).searchParams.get('state');
const finish = (body: unknown) => post('/user/oidc/finish', body);
async function there(flow: Flow, login: string) {
  const { code, state, iss } = Object.fromEntries((await signInThere(flow.url, login)).searchParams);
  return { flowKey: flow.flowKey, code, state, iss };
}

test('strangers who press the button a thousand times, and come back with nothing, leave no row', async () => {
  const count = async () => (await row<{ n: number }>(api.database.db, sql`select count(*)::int as n from "oidcFlow"`))!.n;
  const who = await api.account('user', `flow-${++people}@test.test`, { parentClient: a.client.id });
  const linking = ok(await post('/user/account/identity/start', { password, origin }, who.token)).body as Flow;
  ok(await post('/user/account/identity', await there(linking, 'zoe@house.test'), who.token));
  const before = await count();
  const from = (ip: number) => ({ host: 'console.test', 'x-forwarded-for': `10.${ip >> 4}.${ip & 15}.1` });
  let last: Flow | undefined;
  for (let n = 0; n < 1000; n++)
    last = ok(await api.call('POST', '/user/oidc/start', { body: { origin }, headers: from(n) })).body as Flow;
  for (let n = 0; n < 5; n++)
    is(await finish({ flowKey: last!.flowKey, code: 'none', state: stateOf(last!) }), 'credentialFailed');
  assert.equal(await count(), before);
  // of two that come at once by one way one is let in, and that is known from then on
  const back = await there(last!, 'zoe@house.test');
  const both = await Promise.all([finish(back), finish(back)]);
  assert.deepEqual(both.map(({ status }) => status).filter(status => status === 200).length, 1);
  assert.equal(await count(), before + 1);
  is(await finish(back), 'tokenExpired');
});

test('links that somebody begins and never ends give way to the newest', async () => {
  const who = await api.account('user', `flow-${++people}@test.test`, { parentClient: a.client.id });
  const begin = async () => ok(await post('/user/account/identity/start', { password, origin }, who.token)).body as Flow;
  const first = await begin();
  for (let n = 0; n < limits.linksMax; n++) await begin();
  const held = await rows(api.database.db, sql`select 1 from "oidcFlow" where "accountID" = ${who.id}`);
  assert.equal(held.length, limits.linksMax);
  is(await post('/user/account/identity', await there(first, 'first@house.test'), who.token), 'tokenExpired');
});

test('one that is too late, of a clock far ahead, or of which a letter was changed is none', async () => {
  const of = { clientID: a.client.id, origin };
  const begun = (at: number) => ({ code: 'x', state: 'y', flowKey: signInFlow(api.services.sealing, 'user', of, at) });
  is(await finish(begun(Date.now() - limits.minutes * 60_000)), 'tokenExpired');
  // by a machine whose clock is ahead, within what is allowed for and beyond
  is(await finish(begun(Date.now() + 50_000)), 'credentialFailed');
  is(await finish(begun(Date.now() + 90_000)), 'tokenExpired');
  // somebody else's operator, another page to come back to
  const bytes = Buffer.from(signInFlow(api.services.sealing, 'user', of), 'base64url');
  bytes[bytes.indexOf('console.test')] = 'k'.charCodeAt(0);
  is(await finish({ ...begun(0), flowKey: bytes.toString('base64url') }), 'tokenExpired');
  for (const flowKey of ['', 'x', '%', 'A'.repeat(51), 'A'.repeat(2048)])
    assert.ok([400, 401].includes((await finish({ ...begun(0), flowKey })).status), flowKey);
});
