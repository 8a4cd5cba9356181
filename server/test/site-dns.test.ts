/** DNS accounts of a site over HTTP: what each provider asks for, where it may lie, what is told of it, and what its provider says. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { askDNS, takeAwayDue } from '#server/domain/acme/records.ts';
import { AutoSSL } from '#server/work/auto-ssl.ts';
import { row, rows } from '#server/store/db.ts';
import { writeSetting } from '#server/system/settings.ts';
import { type Knot, startKnot } from '../../system/knot.ts';
import { type Fake, keyID, secret, startFake } from './dns-fakes.ts';
import { broken, by, is, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let knot: Knot;
let route53: Fake;
before(async () => {
  [api, knot, route53] = await Promise.all([Api.start(), startKnot({ zones: ['held.test'] }), startFake('route53')]);
  a = await api.tenant('a');
  api.services.dns = { resolvers: [knot.address], apis: { route53: route53.base } };
  await allow(['127.0.0.0/8', '192.0.2.0/24']);
});
after(async () => {
  route53?.stop();
  await knot?.stop();
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

/** What the installation's environment says. */
const allow = (ranges: string[]) => writeSetting(api.database.db, null, 'originEnvironment', ranges);
const user = () => by(api, a.user);
const path = () => `/user/site/${a.siteID}/setting/dns`;
const own = (more: object = {}) => ({
  provider: 'rfc2136',
  server: knot.address,
  keyName: knot.key.name,
  algorithm: 'hmacSHA256',
  credentials: knot.key.secret,
  ...more,
});
async function made(account: object): Promise<number> {
  const reply = await user().post(path(), account);
  ok(reply);
  return reply.body.ids[0];
}
const domains = async (...names: string[]): Promise<number[]> => {
  const reply = await user().post(`/user/site/${a.siteID}/domains`, {
    domains: names.map(domainName => ({ domainName, upstreams: [{ address: '192.0.2.1' }] })),
  });
  ok(reply);
  return reply.body.ids;
};

test('each provider is asked for what it needs, and for nothing else', async () => {
  broken(await user().post(path(), own({ server: '' })), 'server', 'required');
  broken(await user().post(path(), own({ keyName: undefined })), 'keyName', 'required');
  broken(await user().post(path(), own({ credentials: undefined })), 'credentials', 'required');
  broken(await user().post(path(), own({ credentials: 'not base64!' })), 'credentials', 'wrongFormat');
  broken(await user().post(path(), own({ server: 'ns.test:99999' })), 'server', 'wrongFormat');
  broken(await user().post(path(), { provider: 'route53', credentials: secret }), 'keyName', 'required');
  broken(await user().post(path(), { provider: 'cloudflare' }), 'credentials', 'required');
  // what it has no use for is as if nobody had said it
  const id = await made({ ...own(), provider: 'cloudflare', credentials: 'token', memo: 'mine' });
  const [told] = (await user().read(path())).data;
  assert.deepEqual(
    [told.id, told.provider, told.server, told.keyName, told.memo, told.credentialsIsSet],
    [id, 'cloudflare', '', '', 'mine', true],
  );
  ok(await user().del(path(), { ids: [id] }));
});

test('a name server lies where origins may', async () => {
  await allow([]);
  broken(await user().post(path(), own()), 'server', 'addressNotAllowed');
  broken(await user().post(path(), own({ server: '169.254.169.254' })), 'server', 'addressNotAllowed');
  await allow(['127.0.0.0/8', '192.0.2.0/24']);
});

test('credentials stand sealed in their row and nowhere else; another provider wants others; a removed account has none', async () => {
  const id = await made(own());
  const stored = await row<{ credentials: string }>(api.database.db, sql`select credentials from "siteDNS" where id = ${id}`);
  assert.match(stored!.credentials, /^bw1\./);
  broken(await user().put(path(), { id, provider: 'aliyun', keyName: 'id' }), 'credentials', 'required');
  broken(await user().put(path(), { id, credentials: null }), 'credentials', 'required');
  broken(await user().put(path(), { id, server: '' }), 'server', 'required');
  ok(await user().put(path(), { id, memo: 'changed' }));
  ok(await user().put(path(), { id, provider: 'aliyun', keyName: 'id', credentials: 'other-secret' }));
  const [told] = (await user().read(path())).data;
  assert.deepEqual([told.provider, told.server, told.keyName, told.memo, told.version], ['aliyun', '', 'id', 'changed', 3]);
  for (const word of [knot.key.secret, 'other-secret']) {
    const written = await row<{ n: number }>(
      api.database.db,
      sql`select (select count(*) from audit x where to_jsonb(x)::text like ${`%${word}%`})
        + (select count(*) from "siteDNS" x where to_jsonb(x)::text like ${`%${word}%`}) as n`,
    );
    assert.equal(written!.n, 0);
  }
  ok(await user().del(path(), { ids: [id] }));
  const gone = await row<{ credentials: string | null }>(
    api.database.db,
    sql`select credentials from "siteDNS" where id = ${id}`,
  );
  assert.equal(gone!.credentials, null);
});

test('what an account holds is asked of its provider: by updates, by an API, with wrong credentials, and of one that is not there', async () => {
  const asked = async (dnsID: number) => user().get(`${path()}/domains?dnsID=${dnsID}`);
  await domains('held.test', '*.held.test', 'x.deep.one.test', 'free.test');
  const zones = async (dnsID: number) => {
    const reply = await asked(dnsID);
    ok(reply);
    return Object.fromEntries(reply.body.map((one: { domainName: string; zone: string }) => [one.domainName, one.zone]));
  };
  const byUpdate = await made(own());
  const held = { 'held.test': 'held.test', '*.held.test': 'held.test', 'x.deep.one.test': '', 'free.test': '' };
  assert.deepEqual(await zones(byUpdate), held);
  const byAPI = await made({ provider: 'route53', keyName: keyID, credentials: secret });
  assert.deepEqual(await zones(byAPI), {
    'held.test': '',
    '*.held.test': '',
    'x.deep.one.test': 'deep.one.test',
    'free.test': '',
  });
  // a zone that is there twice holds up no other; who wants a certificate of its names hears why
  const told = ['free.test', 'free.test', 'held.test'].map(
    (name, i) => `<HostedZone><Id>/hostedzone/Z${i}</Id><Name>${name}.</Name></HostedZone>`,
  );
  const twice = {
    body: `<ListHostedZonesResponse><HostedZones>${told.join('')}</HostedZones><IsTruncated>false</IsTruncated></ListHostedZonesResponse>`,
  };
  route53.next.push(twice);
  assert.deepEqual(await zones(byAPI), { ...held, 'free.test': '' });
  route53.next.push(twice);
  const whys = (await asked(byAPI)).body.map((one: { domainName: string; why: string }) => [one.domainName, one.why] as const);
  for (const [name, why] of whys) assert.match(why, name === 'free.test' ? /has the zone free\.test twice/ : /^$/, name);
  route53.next.push(twice);
  const placed = await askDNS(api.services, a.siteID, { domainID: 1, host: 'free.test', phase: 'place', looks: 0, skip: 0 });
  assert.match(JSON.stringify(placed), /free\.test twice/);

  ok(await user().put(path(), { id: byAPI, credentials: 'wrong' }));
  const refused = await asked(byAPI);
  is(refused, 'invalidDNSSetting');
  assert.match(refused.body.errorData[0].message ?? refused.body.errorData[0].bounds.why, /signature/);
  await knot.stop();
  is(await asked(byUpdate), 'dnsExecution');
  ok(await user().del(path(), { ids: [byUpdate, byAPI] }));
  assert.equal((await asked(byUpdate)).status, 404);
});

test('wildcards may have certificates made once there is an account; what failed comes again when one was mended', async () => {
  const [id] = await domains('*.wild.test');
  const ask = () => user().patch(`/user/site/${a.siteID}/domain/setting/autoSSL`, { domainIDs: [id!], enabled: true });
  broken(await ask(), 'domainIDs', 'autoSSLWildcard');
  const dnsID = await made({ provider: 'cloudflare', credentials: 'token' });
  ok(await ask());
  const { data } = await by(api, a.client).read('/client/autoCertificates?pageSize=500');
  const certificate = data.find((one: { domainID: number }) => one.domainID === id);
  assert.deepEqual([certificate.way, certificate.state], ['dns', 'pending']);

  const autoSSL = new AutoSSL(api.database.url);
  const tasks = async () => (await rows(api.database.db, sql`select id from task where kind = 'autoSSL'`)).length;
  const failed = (seconds: number) =>
    sql`update "autoCertificate" set state = 'fail', "nextAt" = now() + interval '1 day', "updatedAt" = now() - ${seconds} * interval '1 second'
      where id = ${certificate.id}`.execute(api.database.db);
  await failed(30);
  ok(await user().put(path(), { id: dnsID, credentials: 'another-token' }));
  await autoSSL.look();
  assert.equal(await tasks(), 0, 'an authority bears few tries');
  await failed(120);
  ok(await user().put(path(), { id: dnsID, credentials: 'a-third-token' }));
  await autoSSL.look();
  assert.equal(await tasks(), 1);
  await autoSSL.stop();
});

test('what was left with a provider is taken away, also with an account that was removed; one that is down is asked again later', async () => {
  const { db } = api.database;
  const name = '_acme-challenge.one.test';
  const [domainID] = await domains('one.test');
  const dnsID = await made({ provider: 'route53', keyName: keyID, credentials: secret });
  const left = (value: string, place: { dnsID: number } | undefined) =>
    sql`insert into "acmeRecord" ("domainID", name, value, "dnsID", zone, "zoneID", target, "removeAt")
      values (${domainID}, ${name}, ${value}, ${place?.dnsID ?? null}, 'one.test', 'Z1', ${name}, now())`.execute(db);
  for (const value of ['ours', 'theirs'])
    route53.records.push({ id: value, zone: 'one.test', name, type: 'TXT', ttl: 60, value });
  await left('ours', { dnsID });
  await left('never put', undefined);
  ok(await user().del(path(), { ids: [dnsID] }));
  const account = () =>
    row<{ credentials: string | null }>(db, sql`select credentials from "siteDNS" where id = ${dnsID}`).then(
      one => one!.credentials,
    );
  assert.notEqual(await account(), null, 'it is still needed');

  route53.always = { status: 503, body: '' };
  assert.equal((await takeAwayDue(db, api.services)).gone, 1);
  assert.equal((await takeAwayDue(db, api.services)).gone, 0, 'not at once again');
  // each time after twice as long
  const wait = () =>
    row<{ seconds: number }>(
      db,
      sql`select extract(epoch from "removeAt" - now())::float8 as seconds from "acmeRecord" where "domainID" = ${domainID}`,
    ).then(one => Math.round(one!.seconds / 60));
  assert.equal(await wait(), 1);
  await sql`update "acmeRecord" set "removeAt" = now()`.execute(db);
  await takeAwayDue(db, api.services);
  assert.equal(await wait(), 2);
  assert.deepEqual(route53.records.length, 2);
  route53.always = undefined;
  await sql`update "acmeRecord" set "removeAt" = now()`.execute(db);
  assert.equal((await takeAwayDue(db, api.services)).gone, 1);
  assert.deepEqual(
    route53.records.map(one => one.value),
    ['theirs'],
  );
  assert.equal(await account(), null);
});
