/** Where an operator's customers may have origins: the setting, and the judgement when an origin is saved. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import type { ZoneDocument } from '#contract/edge/document.ts';
import { compile } from '#server/compile/compile.ts';
import { load } from '#server/compile/load.ts';
import { rows } from '#server/store/db.ts';
import { ownAddresses, rememberInstallation } from '#server/system/installation.ts';
import { readSetting, writeSetting } from '#server/system/settings.ts';
import { broken, by, is, mark, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let b: Tenant;
const path = '/client/setting/system/originAllow';
const facts = {
  databaseUrl: 'postgres://u:p@127.0.0.1:54321/x',
  natsUrl: 'nats://198.51.100.9:4222',
  clickhouse: { url: 'http://[::1]:8123' },
  port: 8080,
  publicURL: 'http://127.0.0.1:8080',
  originAllow: [] as string[],
  ownPorts: [7001],
  demo: false,
};
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  b = await api.tenant('b');
  await rememberInstallation(api.database, facts);
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const save = (tenant: Tenant, name: string, ...upstreams: object[]) =>
  by(api, tenant.user).post(`/user/site/${tenant.siteID}/domains`, { domains: [{ domainName: name, upstreams }] });
const document = async (tenant: Tenant): Promise<ZoneDocument['origins']> => {
  const zone = (await load(api.database.pool as never, 'zone', [tenant.zoneID])).get(tenant.zoneID)!;
  return compile('zone', zone).document.origins;
};

describe('the setting', () => {
  test('opens private ranges for this operator’s customers, is audited, and goes to each of its zones', async () => {
    broken(await save(a, 'early.a.test', { address: '10.0.0.7' }), 'domains.0.upstreams.0.address', 'addressPrivate');
    const since = await mark(api);
    assert.deepEqual(await by(api, a.client).read(path), { ranges: [], environment: [], version: 0 });
    ok(await by(api, a.client).put(path, { ranges: ['10.0.0.0/24', 'fd00::/8'] }));
    assert.deepEqual((await by(api, a.client).read(path)).ranges, ['10.0.0.0/24', 'fd00::/8']);
    assert.deepEqual(
      (await since.outbox()).map(line => [line.kind, line.entityID]),
      [['zone', a.zoneID]],
    );
    const [audit] = await since.audits();
    assert.deepEqual(audit!.changes[0]!.after, { originAllow: ['10.0.0.0/24', 'fd00::/8'] });
    assert.deepEqual((await document(a))?.operator, ['10.0.0.0/24', 'fd00::/8']);
    assert.deepEqual((await document(b))?.operator, []);
    ok(await save(a, 'a.a.test', { address: '10.0.0.7' }, { address: 'fd00::7' }));
    broken(await save(a, 'far.a.test', { address: '10.0.1.7' }), 'domains.0.upstreams.0.address', 'addressPrivate');
    broken(await save(b, 'b.b.test', { address: '10.0.0.7' }), 'domains.0.upstreams.0.address', 'addressPrivate');
    // the same once more changes nothing, and wakes no node
    const again = await mark(api);
    ok(await by(api, a.client).put(path, { ranges: ['10.0.0.0/24', 'fd00::/8'] }));
    assert.deepEqual(await again.outbox(), []);
  });

  test('takes private blocks alone', async () => {
    const put = (...ranges: string[]) => by(api, a.client).put(path, { ranges });
    for (const range of [
      '127.0.0.0/8',
      '169.254.0.0/16',
      '0.0.0.0/0',
      '::/0',
      '224.0.0.0/4',
      '8.8.8.0/24',
      '10.0.0.0/7',
      'inside',
    ])
      broken(await put('10.0.0.0/24', range), 'ranges.1', 'privateRange');
    for (const range of ['100.100.100.200', 'fd00:ec2::/64'])
      broken(await put('10.0.0.0/24', range), 'ranges.1', 'metadataRange');
    broken(await put('10.0.0.0/24', '10.0.0.9/24'), 'ranges.1', 'duplicateValue');
    is(await by(api, a.user).put(path, { ranges: [] }), 'permissionDenied');
    const helper = await api.account('client', 'reader@a.test', { rootID: a.client.id, keys: ['originAllow.view'] });
    ok(await by(api, helper).get(path));
    is(await by(api, helper).put(path, { ranges: [] }), 'permissionDenied');
  });
});

describe('an origin is judged when it is saved', () => {
  const address = (i = 0) => `domains.0.upstreams.${i}.address`;
  test('by what its address is', async () => {
    for (const [one, rule] of [
      ['127.0.0.1', 'addressNotAllowed'],
      ['::1', 'addressNotAllowed'],
      ['::ffff:169.254.169.254', 'addressNotAllowed'],
      ['localhost', 'addressNotAllowed'],
      ['metadata.google.internal', 'addressNotAllowed'],
      ['192.168.1.1', 'addressPrivate'],
      ['198.51.100.9', 'addressOwn'],
      ['2130706433', 'wrongFormat'],
      ['0x7f000001', 'wrongFormat'],
      ['127.0.0.0x1', 'wrongFormat'],
    ] as const)
      broken(await save(b, 'no.b.test', { address: '8.8.8.8' }, { address: one }), address(1), rule);
    assert.deepEqual(await rows(api.database.db, sql`select 1 from domain where "domainName" = 'no.b.test'`), []);
  });

  test('also when one is added or moved; one that is not moved may be changed otherwise', async () => {
    ok(await save(b, 'move.b.test', { address: '8.8.8.8' }));
    const me = by(api, b.user);
    const [domain] = (await me.read(`/user/site/${b.siteID}/domains?keywords=move.b`)).data;
    const upstreams = `/user/site/${b.siteID}/domain/${domain.id}/upstreams`;
    broken(await me.post(upstreams, { upstreams: [{ address: '169.254.169.254' }] }), 'upstreams.0.address', 'addressNotAllowed');
    const [origin] = (await me.read(upstreams)).data;
    broken(
      await me.put(upstreams, { upstreams: [{ id: origin.id, address: '127.0.0.1' }] }),
      'upstreams.0.address',
      'addressNotAllowed',
    );
    ok(await me.put(upstreams, { upstreams: [{ id: origin.id, address: '8.8.4.4', port: 81 }] }));
    await sql`update upstream set address = '127.0.0.1' where id = ${origin.id}`.execute(api.database.db);
    ok(await me.put(upstreams, { upstreams: [{ id: origin.id, address: '127.0.0.1', weight: 3 }] }));
    broken(await me.put(upstreams, { upstreams: [{ id: origin.id, port: 82 }] }), 'upstreams.0.address', 'addressNotAllowed');
  });

  test('a node’s word about its addresses closes no origin, and breaks no change', async () => {
    await sql`insert into node ("clientID", "zoneID", name, addresses)
      values (${b.client.id}, ${b.zoneID}, 'n', '{8.8.1.1,eth0,not-an-address}')`.execute(api.database.db);
    ok(await save(b, 'node.b.test', { address: '8.8.1.1' }));
    ok(await save(b, 'other.b.test', { address: '9.9.9.9' }));
    broken(await save(b, 'still.b.test', { address: '198.51.100.9' }), address(), 'addressOwn');
    assert.ok(!(await document(b))?.own.includes('8.8.1.1'), 'nor on another node');
    const before = await readSetting(api.database.db, null, 'ownAddresses');
    await writeSetting(api.database.db, null, 'ownAddresses', ['eth0', ...before]);
    ok(await save(b, 'garbage.b.test', { address: '9.9.9.9' }));
    broken(await save(b, 'still.b.test', { address: '198.51.100.9' }), address(), 'addressOwn');
    await writeSetting(api.database.db, null, 'ownAddresses', before);
  });

  test('a node that joins says addresses and nothing else, a hundred at most', async () => {
    const join = (addresses: unknown) =>
      api.call('POST', '/node/join', {
        body: { token: 'none', name: 'n', publicKey: 'none', addresses, version: '1' } as Record<string, unknown>,
      });
    for (const bad of ['eth0', 'not-an-address', '', '1.2.3.4:80', '10.0.0.0/8', 'fe80::1%eth0', '[::1]', '0x7f.1'])
      broken(await join(['10.0.0.1', bad]), 'addresses.1', bad === '' ? 'required' : 'wrongFormat');
    is(await join(Array.from({ length: 101 }, (_, i) => `10.0.0.${i}`)), 'parameter');
    is(await join(['1.2.3.4', '2606:4700::1', '::ffff:1.2.3.4']), 'nodeCommunication');
  });

  test('the environment opens loopback, save where the installation listens; the demo its own zone alone', async () => {
    const since = await mark(api);
    await rememberInstallation(api.database, { ...facts, originAllow: ['127.0.0.0/8'] });
    assert.equal((await since.outbox()).filter(line => line.kind === 'zone').length, 2);
    ok(await save(b, 'loop.b.test', { address: '127.0.0.1', port: 9999 }));
    for (const port of [54321, 8080, 7001])
      broken(await save(b, 'own.b.test', { address: '127.0.0.1', port }), address(), 'addressOwn');
    await rememberInstallation(api.database, { ...facts, demo: true });
    await writeSetting(api.database.db, null, 'originDemo', { zoneID: a.zoneID, ranges: ['127.0.0.0/8'] });
    await rememberInstallation(api.database, { ...facts, demo: true });
    ok(await save(a, 'demo.a.test', { address: '127.0.0.1', port: 9999 }));
    broken(await save(b, 'demo.b.test', { address: '127.0.0.1', port: 9999 }), address(), 'addressNotAllowed');
    await rememberInstallation(api.database, facts);
    broken(await save(a, 'later.a.test', { address: '127.0.0.1', port: 9999 }), address(), 'addressNotAllowed');
  });

  test('names of our engines are looked up', async () => {
    const own = await ownAddresses({ ...facts, databaseUrl: 'postgres://u:p@localhost/x' });
    assert.ok(
      own.some(one => /^(127\.0\.0\.1|\[::1\]):5432$/.test(one)),
      own.join(),
    );
    assert.ok(own.includes('[::1]:8123') && own.includes('198.51.100.9') && own.includes('127.0.0.1:7001'));
  });
});
