/** Signing in by an operator's OpenID provider: a real one on loopback. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { setAuthenticator } from '#server/account/factors.ts';
import { codeAt, newSecret, stepAt } from '#server/account/totp.ts';
import { row, rows } from '#server/store/db.ts';
import { broken, by, is, ok } from './expect.ts';
import { Api, password, type Person, type Tenant } from './harness.ts';
import { startMailing } from './mailing.ts';
import { type OIDC, signInThere, startOIDC } from './oidc-provider.ts';
import { textOf } from './smtp.ts';

const origin = 'http://console.test';
let api: Api;
let oidc: OIDC;
let a: Tenant;
let b: Tenant;
before(async () => {
  api = await Api.start();
  // the installation's own host is its owner's: the first operator
  [a, b] = [await api.tenant('a'), await api.tenant('b')];
  oidc = await startOIDC(['user', 'client'].flatMap(area => [`${origin}/${area}/oidc`, `https://b.test/${area}/oidc`]));
  await sql`insert into brand ("clientID", hostname) values (${b.client.id}, 'b.test')`.execute(api.database.db);
  for (const tenant of [a, b]) ok(await put(tenant, {}));
});
after(async () => {
  await oidc?.stop();
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const settings = '/client/setting/system/oidc';
const put = (of: Tenant, more: object) => {
  const { issuer, client, secret } = oidc;
  const whole = {
    enable: true,
    issuer,
    client,
    secret,
    label: 'House',
    forOperator: true,
    forCustomers: true,
    byEmail: false,
    password,
  };
  return by(api, of.client).put(settings, { ...whole, ...more });
};
let people = 0;
const customer = (of = a) => api.account('user', `oidc-${++people}@test.test`, { parentClient: of.client.id });

interface Flow {
  url: string;
  flowKey: string;
}
const post = (path: string, body: unknown, token?: string, host = 'console.test') =>
  api.call('POST', path, { body, headers: { host }, ...(token ? { token } : {}) });
const start = async (area = 'user', from = origin): Promise<Flow> => ok(await post(`/${area}/oidc/start`, { origin: from })).body;
const backOf = ({ flowKey }: Flow, at: URL) => {
  const { code, state, iss } = Object.fromEntries(at.searchParams);
  return { flowKey, code, state, iss };
};
async function come(login: string, area = 'user', from = origin) {
  const flow = await start(area, from);
  return backOf(flow, await signInThere(flow.url, login));
}
const finish = (body: unknown, area = 'user') => post(`/${area}/oidc/finish`, body);
async function link(who: Person, login: string) {
  const flow = ok(await post(`/${who.area}/account/identity/start`, { password, origin }, who.token)).body as Flow;
  return post(`/${who.area}/account/identity`, backOf(flow, await signInThere(flow.url, login)), who.token);
}
const reasons = async () =>
  (
    await rows<{ reason: string }>(api.database.db, sql`select reason from audit where url like '%/oidc/finish' order by id desc`)
  ).map(({ reason }) => reason);

describe('the provider of an operator', () => {
  test('is set by the root account, its secret kept sealed and told to no other issuer', async () => {
    const read = await by(api, a.client).read(settings);
    assert.deepEqual([read.secretIsSet, read.secret, read.enable], [true, undefined, true]);
    assert.deepEqual(read.callbacks, [`${origin}/client/oidc`, `${origin}/user/oidc`]);
    const stored = await rows<{ secret: string }>(api.database.db, sql`select secret from oidc`);
    assert.ok(stored.every(({ secret }) => secret.startsWith('bw1.')));
    const audit = await rows<{ text: string }>(api.database.db, sql`select body::text || changes::text as text from audit`);
    assert.ok(!audit.some(({ text }) => text?.includes(oidc.secret)));
    const sub = await api.account('client', 'oidc-sub@test.test', { rootID: a.client.id, keys: ['oidc.view', 'oidc.edit'] });
    ok(await by(api, sub).get(settings));
    is(
      await by(api, sub).put(settings, { ...read, secretIsSet: undefined, version: undefined, callbacks: undefined, password }),
      'permissionDenied',
    );
    const { secret: _, ...others } = { secret: '', issuer: 'https://elsewhere.example', client: 'x' };
    broken(await put(a, { ...others, secret: undefined }), 'secret', 'required');
    for (const issuer of ['http://elsewhere.example', 'https://a.example?x=1', 'https://u:p@a.example', 'ftp://a.example'])
      broken(await put(a, { issuer }), 'issuer');
    broken(await put(a, { issuer: '' }), 'issuer', 'required');
  });

  test('is not chosen by who acts in the root’s name: it would let them in for longer', async () => {
    const admin = await api.account('admin', 'oidc-admin@test.test');
    const { accessToken: token } = ok(await post('/admin/proxy', { id: a.client.id }, admin.token)).body;
    const { enable, issuer, client, label, forOperator, forCustomers } = ok(await by(api, { token }).get(settings)).body;
    is(
      await by(api, { token }).put(settings, {
        enable,
        issuer,
        client,
        label,
        forOperator,
        forCustomers,
        byEmail: true,
        password,
      }),
      'permissionDenied',
    );
  });

  test('is set with the root’s own password, and with a code where its sign-in takes one', async () => {
    broken(await put(a, { password: undefined }), 'password', 'required');
    broken(await put(a, { password: 'another than that' }), 'password', 'wrongPassword');
    const { id } = a.client;
    const app = newSecret();
    await setAuthenticator(api.database.db, api.services, id, app, 0);
    await sql`update account set "twoFactor" = 1 where id = ${id}`.execute(api.database.db);
    broken(await put(a, { label: 'Mine' }), 'code', 'factorByApp');
    broken(await put(a, { label: 'Mine', code: '000000' }), 'code', 'wrongCode');
    assert.equal((await by(api, a.client).read(settings)).label, 'House');
    ok(await put(a, { label: 'Mine', code: codeAt(app, stepAt(Date.now())) }));
    await sql`update account set "twoFactor" = 2 where id = ${id}`.execute(api.database.db);
    ok(await put(a, {}));
    const audit = await rows<{ text: string }>(
      api.database.db,
      sql`select body::text || changes::text as text from audit where url like '%/system/oidc'`,
    );
    assert.ok(audit.length > 0 && audit.every(({ text }) => !text?.includes(password)));
  });

  test('that does not know the client, or by another secret, is told to the operator as such, and as no fault of who signs in', async () => {
    const who = await customer();
    ok(await link(who, 'secret-changes'));
    ok(await put(a, { secret: 'another than the provider knows' }));
    const tried = await by(api, a.client).post(`${settings}/test`, {});
    broken(tried, 'secret', 'oidcClient');
    assert.match(tried.body.errorData[0].bounds.why, /invalid_client/);
    broken(await finish(await come('secret-changes')), '', 'oidcGone');
    assert.equal((await reasons())[0], 'providerRefusesClient');
    ok(await put(a, { client: 'nobody' }));
    broken(await by(api, a.client).post(`${settings}/test`, {}), 'secret', 'oidcClient');
    ok(await put(a, {}));
    ok(await finish(await come('secret-changes')));
  });

  test('is tried by its discovery document; one that is away, or no provider, or where nobody may ask, is told in words', async () => {
    const tried = () => by(api, a.client).post(`${settings}/test`, {});
    assert.match(ok(await tried()).body.endpoint, /\/auth$/);
    ok(await put(a, { issuer: 'http://127.0.0.1:9' }));
    broken(await tried(), 'issuer', 'oidcAway');
    broken(await post('/user/oidc/start', { origin }), '', 'oidcGone');
    ok(await put(a, { issuer: `http://127.0.0.1:${new URL(oidc.issuer).port}/elsewhere` }));
    broken(await tried(), 'issuer', 'oidcAway');
    // an address inside the house that no policy lets anybody go to
    ok(await put(a, { issuer: 'https://169.254.169.254' }));
    broken(await tried(), 'issuer', 'oidcAway');
    ok(await put(a, {}));
  });

  test('is offered at the operator’s hosts and to whom it is meant for', async () => {
    const label = async (area: string, host: string) =>
      ok(await api.call('GET', `/${area}/oidc/button`, { headers: { host } })).body.label;
    assert.deepEqual(
      [await label('user', 'console.test'), await label('client', 'b.test'), await label('user', 'x.test')],
      ['House', 'House', ''],
    );
    ok(await put(b, { forCustomers: false, label: '' }));
    assert.deepEqual([await label('user', 'b.test'), await label('client', 'b.test')], ['', new URL(oidc.issuer).host]);
    broken(await post('/user/oidc/start', { origin: 'https://b.test' }), 'origin', 'oidcHost');
    ok(await put(b, { enable: false }));
    assert.equal(await label('client', 'b.test'), '');
    ok(await put(b, {}));
  });

  test('sends people back to a page of ours alone', async () => {
    const flow = await start();
    assert.equal(new URL(flow.url).searchParams.get('redirect_uri'), `${origin}/user/oidc`);
    assert.equal(new URL(flow.url).searchParams.get('code_challenge_method'), 'S256');
    for (const from of [
      'https://evil.test',
      'http://console.test.evil.test',
      'http://console.test@evil.test',
      `${origin}/x`,
      'x',
      'https://console.test',
    ])
      broken(await post('/user/oidc/start', { origin: from }), 'origin', 'oidcHost');
  });
});

describe('a provider that is not as it should be', () => {
  test('names somebody as no database takes it, or alike without case by another letter: refused, no error of ours', async () => {
    is(await finish(await come('nul\0@house.test')), 'credentialFailed');
    const who = await api.account('user', 'kate@house.test', { parentClient: a.client.id });
    ok(await put(a, { byEmail: true }));
    // U+212A, a letter of its own in a mailbox, is `k` in lower case
    is(await finish(await come('\u212aate@house.test')), 'credentialFailed');
    const tokens = ok(await finish(await come('KATE@house.test'))).body;
    assert.equal((await by(api, { token: tokens.accessToken }).read('/user/account/self')).email, who.email);
    ok(await put(a, {}));
  });

  test('that is away tells no stranger where it lies', async () => {
    ok(await put(a, { issuer: 'https://169.254.169.254' }));
    const refused = await post('/user/oidc/start', { origin });
    broken(refused, '', 'oidcGone');
    assert.ok(!refused.text.includes('169.254'));
    ok(await put(a, {}));
  });

  test('that is down is not asked for each stranger who presses the button', async () => {
    let asked = 0;
    const down = createServer((_request, answer) => {
      asked++;
      answer.writeHead(503).end();
    });
    await new Promise<void>(done => down.listen(0, '127.0.0.1', done));
    ok(await put(a, { issuer: `http://127.0.0.1:${(down.address() as AddressInfo).port}` }));
    for (let n = 0; n < 5; n++) broken(await post('/user/oidc/start', { origin }), '', 'oidcGone');
    assert.equal(asked, 1);
    await new Promise(done => down.close(done));
    ok(await put(a, {}));
  });
});

describe('links', () => {
  test('are mailed of to their person, made and taken away', async () => {
    const mailing = await startMailing(api);
    try {
      await mailing.serve(a);
      const who = await customer();
      ok(await link(who, 'mia@house.test'));
      assert.match(textOf(await mailing.smtp.next(who.email)), /mia@house\.test/);
      const [{ id }] = (await by(api, who).read('/user/account/identities')).identities;
      ok(await by(api, who).del('/user/account/identity', { identityID: id, password }));
      assert.match(textOf(await mailing.smtp.next(who.email)), /mia@house\.test/);
    } finally {
      await mailing.stop();
    }
  });

  test('of an account that is gone keep nobody from a new one', async () => {
    const [gone, fresh] = [await customer(), await customer()];
    ok(await link(gone, 'ida@house.test'));
    ok(await by(api, a.client).del('/client/account', { ids: [gone.id] }));
    is(await finish(await come('ida@house.test')), 'credentialFailed');
    ok(await link(fresh, 'ida@house.test'));
    ok(await finish(await come('ida@house.test')));
  });

  test('that are taken away by whoever manages the account take along what they opened, and what waits for one', async () => {
    const who = await customer();
    ok(await link(who, 'joe@house.test'));
    const { accessToken: token } = ok(await finish(await come('joe@house.test'))).body;
    const flow = ok(await post('/user/account/identity/start', { password, origin }, token)).body as Flow;
    const back = backOf(flow, await signInThere(flow.url, 'joe2@house.test'));
    ok(await by(api, a.client).put('/client/account', { id: who.id, twoFactor: 2 }));
    is(await by(api, { token }).get('/user/account/self'), 'invalidToken');
    const { accessToken: again } = await api.sessions.open(api.database.db, who.id);
    is(await post('/user/account/identity', back, again), 'tokenExpired');
  });

  test('say when they were used, also where a code is asked for after', async () => {
    const who = await customer();
    ok(await link(who, 'ivy@house.test'));
    await sql`update account set "twoFactor" = 1 where id = ${who.id}`.execute(api.database.db);
    assert.equal(ok(await finish(await come('ivy@house.test'))).body.login2FAType, 1);
    const [shown] = (await by(api, who).read('/user/account/identities')).identities;
    assert.ok(shown.lastUsedAt);
  });
});

describe('signing in by it', () => {
  test('opens the account whose person made the link, and no other', async () => {
    const [who, other] = [await customer(), await customer()];
    is(await finish(await come('ann@house.test')), 'credentialFailed');
    assert.equal((await reasons())[0], 'unknownIdentity');
    ok(await link(who, 'ann@house.test'));
    const tokens = ok(await finish(await come('ann@house.test'))).body;
    assert.equal((await by(api, { token: tokens.accessToken }).read('/user/account/self')).email, who.email);
    assert.equal((await reasons())[0], 'signedIn byProvider');
    const [shown] = (await by(api, who).read('/user/account/identities')).identities;
    assert.deepEqual([shown.issuer, shown.name, !!shown.lastUsedAt], [oidc.issuer, 'ann@house.test', true]);
    is(await link(other, 'ann@house.test'), 'duplicated');
    broken(await by(api, other).del('/user/account/identity', { identityID: shown.id, password }), 'identityID', undefined, 404);
    is(await by(api, who).del('/user/account/identity', { identityID: shown.id, password: 'wrong password' }), 'parameter');
    ok(await by(api, who).del('/user/account/identity', { identityID: shown.id, password }));
    is(await finish(await come('ann@house.test')), 'credentialFailed');
    is(await by(api, { token: tokens.accessToken }).get('/user/account/self'), 'invalidToken');
  });

  test('a link needs the password and the person who began it', async () => {
    const [who, other] = [await customer(), await customer()];
    is(await post('/user/account/identity/start', { password: 'wrong password', origin }, who.token), 'parameter');
    const flow = ok(await post('/user/account/identity/start', { password, origin }, who.token)).body as Flow;
    const back = backOf(flow, await signInThere(flow.url, 'bob@house.test'));
    is(await post('/user/account/identity', back, other.token), 'tokenExpired');
    // what began as a link is no sign-in, and the other way round
    is(await finish(back), 'tokenExpired');
    is(await post('/user/account/identity', await come('bob@house.test'), who.token), 'tokenExpired');
    ok(await post('/user/account/identity', back, who.token));
    const { accessToken: token } = ok(await by(api, a.client).post('/client/proxy', { id: who.id })).body;
    is(await by(api, { token }).get('/user/account/identities'), 'permissionDenied');
    is(await post('/user/account/identity/start', { password, origin }, token), 'permissionDenied');
  });

  test('wrong state, wrong nonce, a replayed code, a flow of another area: refused', async () => {
    const who = await customer();
    ok(await link(who, 'eve@house.test'));
    is(await finish({ ...(await come('eve@house.test')), state: 'another' }), 'credentialFailed');
    assert.equal((await reasons())[0], 'wrongIdentity');
    is(await finish({ ...(await come('eve@house.test')), iss: 'https://evil.test' }), 'credentialFailed');
    const flow = await start();
    const bent = new URL(flow.url);
    bent.searchParams.set('nonce', 'another');
    is(await finish(backOf(flow, await signInThere(bent.href, 'eve@house.test'))), 'credentialFailed');
    // another verifier: whoever caught the code has not the key of the page
    const [mine, theirs] = [await start(), await come('eve@house.test')];
    is(await finish({ ...theirs, flowKey: mine.flowKey }), 'credentialFailed');
    const back = await come('eve@house.test');
    ok(await finish(back));
    is(await finish(back), 'tokenExpired');
    const again = await start();
    is(
      await finish({ ...back, flowKey: again.flowKey, state: new URL(again.url).searchParams.get('state') }),
      'credentialFailed',
    );
    is(await finish(await come('eve@house.test'), 'client'), 'tokenExpired');
  });

  test('an e-mail opens an account that is there, if the operator lets it and the provider has verified it', async () => {
    const who = await customer();
    is(await finish(await come(who.email)), 'credentialFailed');
    ok(await put(a, { byEmail: true }));
    const tokens = ok(await finish(await come(who.email.toUpperCase()))).body;
    assert.equal((await by(api, { token: tokens.accessToken }).read('/user/account/self')).email, who.email);
    oidc.isVerified = false;
    is(await finish(await come(who.email)), 'credentialFailed');
    oidc.isVerified = true;
    // no account is made, none of another area or of another operator is opened
    is(await finish(await come('stranger@house.test')), 'credentialFailed');
    is(await finish(await come(who.email, 'client'), 'client'), 'credentialFailed');
    is(await finish(await come((await customer(b)).email)), 'credentialFailed');
    const count = await row<{ n: number }>(
      api.database.db,
      sql`select count(*)::int as n from account where email = 'stranger@house.test'`,
    );
    assert.equal(count!.n, 0);
    ok(await put(a, {}));
  });

  test('one operator’s provider says nothing about another’s people', async () => {
    const [ours, theirs] = [await customer(), await customer(b)];
    ok(await link(ours, 'kim@house.test'));
    // the same person of the same provider, at another operator's host
    is(await finish(await come('kim@house.test', 'user', 'https://b.test')), 'credentialFailed');
    ok(await link(theirs, 'kim@house.test'));
    const tokens = ok(await finish(await come('kim@house.test', 'user', 'https://b.test'))).body;
    assert.equal((await by(api, { token: tokens.accessToken }).read('/user/account/self')).email, theirs.email);
  });

  test('asks for the code that is asked for after the password; who is stopped, or somewhere else, is told so', async () => {
    const who = await customer();
    ok(await link(who, 'lee@house.test'));
    await sql`update account set "twoFactor" = 1 where id = ${who.id}`.execute(api.database.db);
    const asked = ok(await finish(await come('lee@house.test'))).body;
    assert.deepEqual([asked.login2FAType, asked.email, asked.accessToken], [1, who.email, undefined]);
    await sql`update account set "twoFactor" = 2, status = 'lock' where id = ${who.id}`.execute(api.database.db);
    is(await finish(await come('lee@house.test')), 'accountNotEnabled');
    assert.equal((await reasons())[0], 'lock');
  });

  test('goes with the second factor that whoever manages the account takes away', async () => {
    const who = await customer();
    ok(await link(who, 'max@house.test'));
    ok(await by(api, a.client).put('/client/account', { id: who.id, twoFactor: 2 }));
    is(await finish(await come('max@house.test')), 'credentialFailed');
  });

  test('a provider that goes away while somebody is there: a sentence, no error of ours', async () => {
    const who = await customer();
    ok(await link(who, 'sam@house.test'));
    const back = await come('sam@house.test');
    await oidc.stop();
    broken(await finish(back), '', 'oidcGone');
  });
});
