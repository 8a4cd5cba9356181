/** Hostnames of an operator's console and branding: its own are those whose zone holds its record, whatever a name server may say besides. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { Keys } from '#server/kit/crypto.ts';
import { registry } from '#server/kit/metrics.ts';
import { proofOf } from '#server/kit/name-proof.ts';
import { Sealing } from '#server/kit/sealed.ts';
import { row } from '#server/store/db.ts';
import { poll } from '#server/store/engine-process.ts';
import { broken, by, ok } from './expect.ts';
import { Api, password, type Reply, type Tenant } from './harness.ts';
import { TxtServer } from './txt-server.ts';

let api: Api;
let dns: TxtServer;
let owner: Tenant;
let one: Tenant;
let other: Tenant;
before(async () => {
  dns = await TxtServer.start();
  api = await Api.start({ dns: { resolvers: [dns.address], apis: {} } });
  [owner, one, other] = [await api.tenant('owner'), await api.tenant('one'), await api.tenant('other')];
});
after(async () => {
  dns?.stop();
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const boundary = 'of-a-test';
const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
const brand = (tenant: Tenant, fields: Record<string, string>, method = 'POST') =>
  api.call(method, '/client/setting/logo', {
    token: tenant.client.token,
    headers,
    raw: Buffer.from(
      Object.entries(fields)
        .map(([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
        .join('') + `--${boundary}--\r\n`,
    ),
  });
const address = (tenant: Tenant, outgoingURL: string) =>
  by(api, tenant.client).put('/client/setting/system/outgoingURL', { outgoingURL, ownPassword: password });
const proof = (tenant: Tenant, hostname: string) =>
  by(api, tenant.client).get(`/client/setting/logo/proof?hostname=${encodeURIComponent(hostname)}`);
const state = async (tenant: Tenant, hostname: string) => ok(await proof(tenant, hostname)).body.state as string;
const title = async (host: string) => (await api.call('GET', '/user/logo', { headers: { host } })).body.title as string;
function wanted(reply: Reply, path: 'hostname' | 'outgoingURL' = 'hostname'): { record: string; value: string } {
  broken(reply, path, 'nameUnproven');
  return reply.body.errorData[0].bounds;
}

test('an operator shows a hostname once its zone holds the record; the owner of the installation at once', async () => {
  const { record, value } = wanted(await brand(one, { hostname: 'cdn.one.test', title: 'One' }));
  assert.equal(record, '_breakwater.cdn.one.test');
  assert.match(value, /^breakwater-verification=[0-9a-f]{32}$/);
  assert.equal(await title('cdn.one.test'), 'Breakwater');
  assert.deepEqual(ok(await proof(one, 'cdn.one.test')).body, { state: 'missing', record, value });
  // another's record is none
  const theirs = wanted(await brand(other, { hostname: 'cdn.one.test' }));
  assert.notEqual(theirs.value, value);
  dns.records.set(record, [theirs.value]);
  wanted(await brand(one, { hostname: 'cdn.one.test' }));
  assert.equal(await state(one, 'cdn.one.test'), 'other');
  // nor is one's own of another name
  const below = wanted(await brand(one, { hostname: 'below.cdn.one.test' }));
  dns.records.set(record, [below.value]);
  wanted(await brand(one, { hostname: 'cdn.one.test' }));
  dns.records.set(record, ['v=spf1 -all', value]);
  assert.equal(await state(one, 'cdn.one.test'), 'proven');
  ok(await brand(one, { hostname: 'cdn.one.test', title: 'One' }));
  assert.equal(await title('cdn.one.test'), 'One');
  // only who has shown it hears that it is taken
  wanted(await brand(other, { hostname: 'cdn.one.test' }));
  dns.records.set(record, [theirs.value]);
  assert.equal((await brand(other, { hostname: 'cdn.one.test' })).body.code, 101025);
  dns.asked.length = 0;
  ok(await brand(owner, { hostname: 'cdn.owner.test', title: 'Owner' }));
  ok(await address(owner, 'https://panel.owner.test'));
  assert.equal(await state(owner, 'whatever.test'), 'free');
  assert.deepEqual(dns.asked, []);
});

test('what shows an operator already is asked for by neither way once more, and after it was given up it is', async () => {
  const { record, value } = wanted(await address(one, 'https://panel.one.test:8443'), 'outgoingURL');
  assert.equal(record, '_breakwater.panel.one.test');
  const ask = '/client/setting/system/outgoingURL/proof?outgoingURL=';
  assert.equal((await by(api, one.client).read(`${ask}https://panel.one.test`)).state, 'missing');
  dns.records.set(record, [value]);
  ok(await address(one, 'https://panel.one.test:8443'));
  dns.records.delete(record);
  dns.asked.length = 0;
  ok(await address(one, 'https://panel.one.test'));
  assert.equal((await by(api, one.client).read(`${ask}https://panel.one.test:1`)).state, 'free');
  const made = ok(await brand(one, { hostname: 'panel.one.test', title: 'Panel' }));
  const [id] = made.body.ids as number[];
  ok(await brand(one, { id: String(id), hostname: 'panel.one.test', title: 'Again' }, 'PUT'));
  ok(await address(one, ''));
  ok(await brand(one, { id: String(id), title: 'And again' }, 'PUT'));
  assert.deepEqual(dns.asked, []);
  wanted(await brand(one, { id: String(id), hostname: 'elsewhere.one.test' }, 'PUT'));
  ok(await by(api, one.client).del('/client/setting/logos', { ids: [id] }));
  wanted(await brand(one, { hostname: 'panel.one.test' }));
  // as an earlier release took it, and as a backup of then has it
  await sql`insert into brand ("clientID", hostname, title) values (${other.client.id}, 'before.other.test', 'Before')`.execute(
    api.database.db,
  );
  assert.equal(await title('before.other.test'), 'Before');
  assert.equal(await state(other, 'before.other.test'), 'free');
});

test('a hostname that was given up while it was being taken once more asks for its record', async () => {
  const host = 'meanwhile.one.test';
  const { record, value } = wanted(await brand(one, { hostname: host }));
  dns.records.set(record, [value]);
  const [id] = ok(await brand(one, { hostname: host })).body.ids as number[];
  dns.records.delete(record);
  const { db } = api.database;
  const waits = async () => !!(await row(db, sql`select 1 from pg_locks where locktype = 'advisory' and not granted`));
  const taking = await db.transaction().execute(async trx => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`brand host ${host}`}, 0))`.execute(trx);
    const asked = address(one, `https://${host}`);
    assert.ok(await poll(waits, 20_000), 'it was free when it was looked at first');
    await sql`update brand set "deletedAt" = now() where id = ${id}`.execute(trx);
    return { asked };
  });
  wanted(await taking.asked, 'outgoingURL');
});

test('a site of that name shows nothing: not an own customer’s, nor the customer’s record', async () => {
  ok(
    await by(api, one.user).post(`/user/site/${one.siteID}/domains`, {
      domains: [{ domainName: 'site.one.test', upstreams: [{ address: '192.0.2.1' }] }],
    }),
  );
  const { record } = wanted(await brand(one, { hostname: 'site.one.test' }));
  dns.records.set(record, [proofOf(api.services, one.user.id, 'site.one.test').value]);
  wanted(await brand(one, { hostname: 'site.one.test' }));
  dns.records.set(record, [proofOf(api.services, one.client.id, 'site.one.test').value]);
  ok(await brand(one, { hostname: 'site.one.test', title: 'Site' }));
});

test('whatever a name server says, only the record shows it', async () => {
  const value = (name: string) => proofOf(api.services, one.client.id, name).value;
  const given = (name: string, said: Parameters<TxtServer['records']['set']>[1]) => dns.records.set(`_breakwater.${name}`, said);
  given('servfail.test', 'servfail');
  given('refused.test', 'refused');
  given('silent.test', 'silent');
  given('empty.test', []);
  given('upper.test', [value('upper.test').toUpperCase()]);
  given('more.test', [`${value('more.test')} `, `x${value('more.test')}`]);
  dns.records.set('*.wild.test', ['v=spf1 -all']);
  dns.records.set('*.all.test', [value('a.all.test')]);
  const expected = {
    'servfail.test': 'unanswered',
    'refused.test': 'unanswered',
    'silent.test': 'unanswered',
    'none.test': 'missing',
    'empty.test': 'missing',
    'upper.test': 'other',
    'more.test': 'other',
    'x.wild.test': 'other',
    // one wildcard with a name's word shows that name alone
    'a.all.test': 'proven',
    'b.all.test': 'other',
  };
  for (const [name, said] of Object.entries(expected)) {
    assert.equal(await state(one, name), said, name);
    const reply = await brand(one, { hostname: name });
    if (said === 'proven') ok(reply);
    else wanted(reply);
  }
  // several strings are one text
  const parts = value('parts.test');
  given('parts.test', [[parts.slice(0, 20), '', parts.slice(20)]]);
  assert.equal(await state(one, 'parts.test'), 'proven');
  // names in other scripts are asked for in the form that DNS has, whatever was typed
  given('xn--bcher-kva.test', [value('xn--bcher-kva.test')]);
  broken(await proof(one, 'bücher.test'), 'hostname', 'wrongFormat');
  broken(await proof(one, 'CDN.test'), 'hostname', 'wrongFormat');
  ok(await address(one, 'https://XN--BCHER-KVA.test'));
  // longer than a name of DNS with the label in front of it
  const long = `${'a'.repeat(60)}.`.repeat(4) + 'test';
  assert.equal(await state(one, long), 'missing');
  wanted(await brand(one, { hostname: long }));
  for (const bad of ['', ' ', 'a b.test', 'a.test/x']) assert.equal((await proof(one, bad)).status, 400, bad);
});

test('of one operator four zones are asked at a time, another’s meanwhile', async () => {
  dns.records.set('*.dark.test', 'silent');
  const slow = Array.from({ length: 6 }, (_, n) => state(one, `n${n}.dark.test`));
  const waiting = async () => /^breakwater_queue_waiting\{queue="hostProofs"\} 2$/m.test(await registry.metrics());
  assert.ok(await poll(waiting, 20_000));
  assert.equal(await state(other, 'bright.test'), 'missing');
  assert.deepEqual(await Promise.all(slow), Array(6).fill('unanswered'));
});

test('hosts of the installation are nobody else’s, whatever a zone says; a sub-account is given its operator’s word', async () => {
  dns.otherwise = name => [proofOf(api.services, one.client.id, name.replace('_breakwater.', '')).value];
  for (const host of ['console.test', 'localhost', '192.0.2.1', '[2001:db8::1]']) {
    broken(await proof(one, host), 'hostname', 'hostOfInstallation');
    broken(await brand(one, { hostname: host }), 'hostname', 'hostOfInstallation');
  }
  dns.otherwise = () => undefined;
  const keys = ['logos.view', 'logos.edit'];
  const clerk = await api.account('client', 'clerk@test.test', { rootID: one.client.id, parentID: one.client.id, keys });
  const asked = ok(await by(api, clerk).get('/client/setting/logo/proof?hostname=clerk.test')).body;
  assert.deepEqual(asked.value, proofOf(api.services, one.client.id, 'clerk.test').value);
});

test('a record that was set under an earlier key of the installation counts on', async () => {
  const [before, now] = [new Keys(Buffer.alloc(32, 1)), new Keys(Buffer.alloc(32, 2))];
  const earlier = proofOf({ sealing: new Sealing([before]) }, one.client.id, 'kept.test');
  dns.records.set(earlier.record, [earlier.value]);
  const { sealing } = api.services;
  try {
    api.services.sealing = new Sealing([now, before]);
    assert.equal(await state(one, 'kept.test'), 'proven');
    api.services.sealing = new Sealing([now]);
    assert.equal(await state(one, 'kept.test'), 'other');
  } finally {
    api.services.sealing = sealing;
  }
});
