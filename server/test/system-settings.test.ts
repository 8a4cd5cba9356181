/** The console's own address, and from which networks an operator's people may come: over HTTP. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { consoleURL } from '#server/kit/console-url.ts';
import { rows } from '#server/store/db.ts';
import { readSetting, writeSetting } from '#server/system/settings.ts';
import { Api, password, type Tenant } from './harness.ts';
import { TxtServer } from './txt-server.ts';

let api: Api;
let dns: TxtServer;
let owner: Tenant;
let other: Tenant;
before(async () => {
  dns = await TxtServer.start();
  api = await Api.start({ dns: { resolvers: [dns.address], apis: {} } });
  [owner, other] = [await api.tenant('owner'), await api.tenant('other')];
  dns.provesTo(api.services, other.client.id);
});
after(async () => {
  dns?.stop();
  await api?.stop();
});

const base = '/client/setting/system';
const problems = (reply: { body: { errorData?: { path: string; rule: string }[] } }) =>
  (reply.body.errorData ?? []).map(one => `${one.path} ${one.rule}`);
const from = (ip: string) => ({ headers: { 'x-forwarded-for': ip } });

test('mails name the operator’s own address, and its hostname shows its branding', async () => {
  const put = (tenant: Tenant, outgoingURL: string) =>
    api.call('PUT', `${base}/outgoingURL`, { token: tenant.client.token, body: { outgoingURL, ownPassword: password } });
  const { db } = api.database;
  assert.equal(await consoleURL(db, api.services, other.client.id), 'http://console.test');
  assert.equal((await put(other, 'https://cdn.other.test:8444/')).status, 200);
  assert.equal(await consoleURL(db, api.services, other.client.id), 'https://cdn.other.test:8444');
  assert.equal(await consoleURL(db, api.services, owner.client.id), 'http://console.test');
  assert.equal((await put(owner, 'http://cdn.other.test')).body.code, 101025);
  assert.deepEqual(problems(await put(other, 'https://console.test')), ['outgoingURL hostOfInstallation']);
  assert.equal((await put(owner, 'https://console.test')).status, 200);
  for (const bad of ['cdn.other.test', 'https://a.test/x', 'https://a.test?x', 'https://u@a.test', 'javascript:alert(1)'])
    assert.deepEqual(problems(await put(other, bad)), ['outgoingURL wrongFormat'], bad);
  const boundary = 'b';
  const raw = Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="title"\r\n\r\nOther\r\n--${boundary}--\r\n`);
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
  assert.equal((await api.call('POST', '/client/setting/logo', { token: other.client.token, raw, headers })).status, 200);
  const title = async (host: string) => (await api.call('GET', '/user/logo', { headers: { host } })).body.title;
  assert.equal(await title('cdn.other.test'), 'Other');
  assert.equal(await title('elsewhere.test'), 'Breakwater');
  // a hostname is one operator's, whichever of both names it first
  const named = (tenant: Tenant, hostname: string) =>
    api.call('POST', '/client/setting/logo', {
      token: tenant.client.token,
      headers,
      raw: Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="hostname"\r\n\r\n${hostname}\r\n--${boundary}\r\nContent-Disposition: form-data; name="title"\r\n\r\nTaken\r\n--${boundary}--\r\n`,
      ),
    });
  assert.equal((await named(owner, 'cdn.other.test')).body.code, 101025);
  assert.equal((await named(owner, 'brand.owner.test')).status, 200);
  assert.equal((await put(other, 'https://brand.owner.test')).body.code, 101025);
  assert.equal((await put(other, '')).status, 200);
  assert.equal(await title('cdn.other.test'), 'Breakwater');
});

test('people and tokens of an operator come in from its networks alone, at once; its customers from everywhere', async () => {
  const put = (cidrs: string[], ip: string) =>
    api.call('PUT', `${base}/restrictGroupCIDRs`, { token: other.client.token, body: { cidrs }, ...from(ip) });
  const self = (ip: string, token = other.client.token, area = 'client') =>
    api.call('GET', `/${area}/account/self`, { token, ...from(ip) });
  const made = await api.call('POST', '/client/apiToken', {
    token: other.client.token,
    body: { name: 't', permissionKeys: ['zones.view'], siteIDs: null, networks: [], expiredAt: null },
  });
  assert.equal(made.status, 200, made.text);
  const zones = (ip: string) => api.call('GET', '/client/zones', { token: made.body.token, ...from(ip) });
  assert.equal((await zones('198.51.100.9')).status, 200);
  // nobody locks themselves out
  assert.deepEqual(problems(await put(['192.0.2.0/24'], '198.51.100.9')), ['cidrs ownAddressOut']);
  assert.equal((await self('198.51.100.9')).status, 200);
  assert.deepEqual(problems(await put([' 10.0.0.0/8'], '192.0.2.7')), ['cidrs ownAddressOut']);
  for (const bad of [['nonsense'], ['10.0.0.0/33']]) assert.equal((await put(bad, '192.0.2.7')).status, 400);
  assert.equal((await put(['192.0.2.0/24', '2001:db8::/32'], '192.0.2.7')).status, 200);
  assert.equal((await self('192.0.2.8')).status, 200);
  assert.equal((await self('2001:db8::1')).status, 200);
  const refused = await self('198.51.100.9');
  assert.deepEqual([refused.status, refused.body.code, problems(refused)], [403, 101018, [' networkRefused']]);
  assert.equal((await zones('198.51.100.9')).body.code, 101018);
  assert.equal((await zones('192.0.2.9')).status, 200);
  const signIn = (ip: string) =>
    api.call('POST', '/client/verify', { body: { email: other.client.email, password }, ...from(ip) });
  assert.equal((await signIn('198.51.100.9')).body.code, 101018);
  assert.equal((await signIn('192.0.2.7')).status, 200);
  // a wrong password tells nothing of it
  const wrong = await api.call('POST', '/client/verify', {
    body: { email: other.client.email, password: 'wrong' },
    ...from('198.51.100.9'),
  });
  assert.equal(wrong.body.code, 101012);
  assert.equal((await self('198.51.100.9', other.user.token, 'user')).status, 200);
  assert.equal((await self('198.51.100.9', owner.client.token)).status, 200);
  assert.equal((await put([], '192.0.2.7')).status, 200);
  assert.equal((await self('198.51.100.9')).status, 200);
});

test('who acts for others, and who renews a session, comes from the networks of whoever really acts', async () => {
  const admin = await api.account('admin', 'vendor@test.test');
  const put = (cidrs: string[], ip: string, token = other.client.token) =>
    api.call('PUT', `${base}/restrictGroupCIDRs`, { token, body: { cidrs }, ...from(ip) });
  const self = async (area: string, token: string, ip: string) =>
    (await api.call('GET', `/${area}/account/self`, { token, ...from(ip) })).status;
  const proxy = async (area: string, token: string, id: number, ip: string) =>
    (await api.call('POST', `/${area}/proxy`, { token, body: { id }, ...from(ip) })).body as Pair;
  interface Pair {
    accessToken: string;
    refreshToken: string;
  }
  const renewed = ({ accessToken, refreshToken }: Pair, area: string, ip: string) =>
    api.call('PATCH', `/${area}`, { body: { accessToken, refreshToken }, ...from(ip) });
  const [inside, outside] = ['192.0.2.7', '198.51.100.9'];
  const own = await api.call('POST', '/client/verify', { body: { email: other.client.email, password }, ...from(inside) });
  const program = await api.call('POST', '/client/apiToken', {
    token: other.client.token,
    body: { name: 'renews', permissionKeys: ['zones.view'], siteIDs: null, networks: [], expiredAt: null },
  });
  assert.equal((await put(['192.0.2.0/24'], inside)).status, 200);

  const customer = await proxy('client', other.client.token, other.user.id, inside);
  assert.equal(await self('user', customer.accessToken, inside), 200);
  assert.equal(await self('user', customer.accessToken, outside), 403);
  assert.equal((await renewed(customer, 'user', outside)).body.code, 101018);
  assert.equal((await renewed(customer, 'user', inside)).status, 200);

  assert.equal((await renewed(own.body, 'client', outside)).body.code, 101018);
  assert.equal((await renewed(own.body, 'client', inside)).status, 200);
  const pair = { accessToken: program.body.token, refreshToken: program.body.refreshToken };
  assert.equal((await renewed(pair, 'client', outside)).body.code, 101018);
  assert.equal((await renewed(pair, 'client', inside)).status, 200);

  // the vendor gets in to help, from where it is, and through to the customers
  const helper = await proxy('admin', admin.token, other.client.id, outside);
  assert.equal(await self('client', helper.accessToken, outside), 200);
  const further = await proxy('client', helper.accessToken, other.user.id, outside);
  assert.equal(await self('user', further.accessToken, outside), 200);
  assert.equal((await put([], outside, helper.accessToken)).status, 200);
  assert.equal(await self('client', other.client.token, outside), 200);
});

test('a sub-account with the key lets more networks in, and never fewer: it cannot lock its root out', async () => {
  const { client } = await api.tenant('narrow');
  const clerk = await api.account('client', 'narrow-clerk@test.test', {
    rootID: client.id,
    keys: ['restrictGroupCIDRs.view', 'restrictGroupCIDRs.edit'],
  });
  const put = async (cidrs: string[], token = clerk.token) => {
    const reply = await api.call('PUT', `${base}/restrictGroupCIDRs`, { token, body: { cidrs }, ...from('192.0.2.7') });
    return reply.status === 200 ? [] : problems(reply);
  };
  assert.deepEqual(await put(['192.0.2.0/24']), ['cidrs rootNarrows']);
  assert.deepEqual(await put(['192.0.2.0/24', '198.51.100.0/24', '2001:db8::/48'], client.token), []);
  for (const less of [
    ['192.0.2.0/24'],
    ['192.0.2.0/25', '198.51.100.0/24', '2001:db8::/48'],
    ['192.0.2.7', '198.51.100.0/24', '2001:db8::/48'],
    ['0.0.0.0/0', '2001:db8::/49'],
    // an IPv6 network lets no IPv4 address in
    ['192.0.2.0/24', '::/0'],
  ])
    assert.deepEqual(await put(less), ['cidrs rootNarrows'], less.join());
  assert.deepEqual(await put(['192.0.0.0/16', '198.51.100.0/24', '2001:db8::/32', '203.0.113.9']), []);
  assert.deepEqual(await put(['192.0.2.0/24'], client.token), []);
  assert.deepEqual(await put([]), []);
});

test('whoever holds the machine lets in who is locked out, and it stands in the audit', async () => {
  const { db } = api.database;
  await writeSetting(db, other.client.id, 'restrictGroupCIDRs', ['192.0.2.0/24']);
  await writeSetting(db, other.client.id, 'accountVerify', true);
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, [fileURLToPath(new URL('../../bin/account.ts', import.meta.url)), ...args], {
      env: { ...process.env, DATABASE_URL: api.database.url },
    });
  await assert.rejects(run('networks', 'nobody@test.test', '--clear'), /There is no client/);
  await assert.rejects(run('networks', other.client.email), /breakwater account/);
  await run('networks', other.client.email, '--clear');
  await run('verification', other.client.email, '--off');
  assert.deepEqual(await readSetting(db, other.client.id, 'restrictGroupCIDRs'), []);
  assert.equal(await readSetting(db, other.client.id, 'accountVerify'), false);
  const lines = await rows<{ url: string }>(
    db,
    sql`select url from audit where method = 'CLI' and "clientID" = ${other.client.id} order by id`,
  );
  assert.deepEqual(
    lines.map(line => line.url),
    [`account networks --clear ${other.client.email}`, `account verification --off ${other.client.email}`],
  );
});
