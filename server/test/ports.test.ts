/** Ports of a site and of its zone: kept, refused, and what nodes are told. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import type { ErrorName } from '#contract/errors.ts';
import { compile } from '#server/compile/compile.ts';
import { load } from '#server/compile/load.ts';
import { broken, by, is, mark, multiple, ok } from './expect.ts';
import { Api, type Reply, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let me: ReturnType<typeof by>;
let operator: ReturnType<typeof by>;
let base: string;
let zone: string;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  me = by(api, a.user);
  operator = by(api, a.client);
  base = `/user/site/${a.siteID}`;
  zone = `/client/zone/${a.zoneID}/setting`;
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const product = (values: object) => operator.put('/client/product', { id: a.productID, ...values });
/** An error with the field it is about, and why. */
function about(reply: Reply, name: ErrorName, path: string, rule: string): void {
  is(reply, name);
  assert.deepEqual(
    reply.body.errorData.map((one: { path: string; rule: string }) => [one.path, one.rule]),
    [[path, rule]],
    reply.text,
  );
}
let number = 20_000;
/** A port that the zone has. */
async function inZone(scheme = 'https'): Promise<number> {
  ok(await operator.post(`${zone}/ports`, { ports: [{ port: ++number, scheme }] }));
  return number;
}
const open = (port: number, scheme = 'https', more: object = {}) =>
  me.make(`${base}/ports`, { ports: [{ port, scheme, ...more }] });
const told = async (id: number) => compile('port', (await load(api.database.pool, 'port', [id])).get(id)!).document;

test('a zone has ports within the bounds of §9, each once; its nodes are told those of layer 7', async () => {
  const wrong: [number, string][] = [
    [999, 'between'],
    [65_001, 'between'],
    [3306, 'portExcluded'],
    [61_100, 'portExcluded'],
    [0, 'tooSmall'],
  ];
  for (const [port, rule] of wrong)
    broken(await operator.post(`${zone}/ports`, { ports: [{ port, scheme: 'http' }] }), 'ports.0.port', rule);
  broken(await operator.post(`${zone}/ports`, { ports: [{ port: 2000, scheme: 'ftp' }] }), 'ports.0.scheme', 'invalidChoice');
  const reply = ok(
    await operator.post(`${zone}/ports`, {
      ports: [
        { port: 2096, scheme: 'https', memo: 'panels' },
        { port: 2095, scheme: 'http' },
      ],
    }),
  );
  multiple(
    await operator.post(`${zone}/ports`, {
      ports: [
        { port: 2096, scheme: 'http' },
        { port: 2097, scheme: 'http' },
      ],
    }),
    ['duplicated', ['2096']],
  );
  const { data, total } = await operator.read(`${zone}/ports`);
  assert.deepEqual(
    [total, data.map((one: Record<string, unknown>) => [one['port'], one['scheme'], one['memo']])],
    [
      3,
      [
        [2095, 'http', ''],
        [2096, 'https', 'panels'],
        [2097, 'http', ''],
      ],
    ],
  );
  ok(await operator.put(`${zone}/port`, { id: reply.body.ids[1], port: 2086, scheme: 'http' }));
  const { zoneID } = a;
  const document = compile('zone', (await load(api.database.pool, 'zone', [zoneID])).get(zoneID)!).document;
  assert.deepEqual(document.ports, [
    { port: 2086, scheme: 'http' },
    { port: 2096, scheme: 'https' },
    { port: 2097, scheme: 'http' },
  ]);
  const seen = await mark(api);
  ok(await operator.del(`${zone}/ports`, { ids: reply.body.ids }));
  assert.deepEqual(
    (await seen.outbox()).map(one => [one.kind, one.entityID]),
    [['zone', zoneID]],
  );
});

test('a site opens what its zone has, by the scheme that the zone has it for; whoever has it is asked first', async () => {
  const port = await inZone('https');
  about(
    await me.post(`${base}/ports`, { ports: [{ port: 29_999, scheme: 'http' }] }),
    'inconsistentPorts',
    'ports.0.port',
    'portNotOpen',
  );
  about(
    await me.post(`${base}/ports`, { ports: [{ port, scheme: 'http' }] }),
    'inconsistentPorts',
    'ports.0.port',
    'portNotOpen',
  );
  broken(await me.post(`${base}/ports`, { ports: [{ port: 443, scheme: 'https' }] }), 'ports.0.port', 'between');
  broken(
    await me.post(`${base}/ports`, { ports: [{ port, scheme: 'https', ips: ['10.0.0.300'] }] }),
    'ports.0.ips.0',
    'wrongFormat',
  );
  assert.ok(
    (await me.read(`${base}/zonePorts`)).some(
      (one: object) => JSON.stringify(one) === JSON.stringify({ name: `https:${port}`, port, scheme: 'https' }),
    ),
  );
  const seen = await mark(api);
  const id = await open(port, 'https', { ips: ['192.0.2.0/24'], memo: 'm' });
  assert.deepEqual(
    (await seen.outbox()).map(one => [one.kind, one.entityID, one.siteID]),
    [['port', id, a.siteID]],
  );
  is(await me.post(`${base}/ports`, { ports: [{ port, scheme: 'https' }] }), 'duplicated');
  const found = (await me.read(`${base}/ports`)).data.find((one: { id: number }) => one.id === id);
  const { scheme, portMap, ips, memo, upstreamCount } = found;
  assert.deepEqual(
    { scheme, portMap, ips, memo, upstreamCount },
    { scheme: 'https', portMap: { enabled: true, http: null, https: 443 }, ips: ['192.0.2.0/24'], memo: 'm', upstreamCount: 0 },
  );
  assert.deepEqual(
    { ...(await told(id)), v: 0, rev: 0, owner: 0 },
    { v: 0, rev: 0, id, site: a.siteID, owner: 0, port, scheme: 'https', ips: ['192.0.2.0/24'], upstreams: [] },
  );

  // the zone goes on having it
  const row = (await operator.read(`${zone}/ports`)).data.find((one: { port: number }) => one.port === port);
  about(await operator.put(`${zone}/port`, { id: row.id, port: 29_998 }), 'inconsistentPorts', 'port', 'portOpened');
  about(await operator.put(`${zone}/port`, { id: row.id, scheme: 'http' }), 'inconsistentPorts', 'scheme', 'portOpened');
  about(await operator.del(`${zone}/ports`, { ids: [row.id] }), 'inconsistentPorts', 'ids', 'portOpened');
  ok(await operator.put(`${zone}/port`, { id: row.id, memo: 'kept', scheme: 'https', port }));
  ok(await me.del(`${base}/ports`, { ids: [id] }));
  ok(await operator.del(`${zone}/ports`, { ids: [row.id] }));
});

test('a port is changed to another that the zone has, and to none other', async () => {
  const [first, second] = [await inZone('http'), await inZone('https')];
  const id = await open(first, 'http');
  about(await me.put(`${base}/port/${id}`, { port: second }), 'inconsistentPorts', 'port', 'portNotOpen');
  about(await me.put(`${base}/port/${id}`, { scheme: 'https' }), 'inconsistentPorts', 'port', 'portNotOpen');
  ok(await me.put(`${base}/port/${id}`, { port: second, scheme: 'https', ips: ['::1'], memo: 'moved' }));
  const { port, scheme, ips } = await told(id);
  assert.deepEqual([port, scheme, ips], [second, 'https', ['::1']]);
  // what the zone no longer has keeps nobody from the rest
  await sql`update "zonePort" set "deletedAt" = now() where port = ${second}`.execute(api.database.db);
  ok(await me.put(`${base}/port/${id}`, { port: second, scheme: 'https', memo: 'still' }));
});

test('origins of a port are a domain’s over again: reached by its scheme, judged, and none at all is fine', async () => {
  const id = await open(await inZone('https'));
  const path = `${base}/port/${id}/upstreams`;
  const follows = { address: '192.0.2.1', port: 8080, protocol: 'follow' };
  const first = ok(await me.post(path, { upstreams: [follows, { address: 'origin.test', weight: 3, backup: true }] })).body
    .ids[0];
  assert.deepEqual(
    (await told(id)).upstreams.map(one => [one.address, one.protocol, one.port, one.weight, one.backup]),
    [
      ['192.0.2.1', 'https', 443, 1, false],
      ['origin.test', 'http', 80, 3, true],
    ],
  );
  assert.equal((await me.read(`${path}?keyword=RIGIN`)).total, 1);
  broken(await me.post(path, { upstreams: [{ address: '169.254.169.254' }] }), 'upstreams.0.address', 'addressNotAllowed');
  is(await me.post(path, { upstreams: [follows] }), 'duplicated');
  broken(
    await me.put(`${base}/port/${id}`, { portMap: { enabled: false, http: null, https: null } }),
    'portMap',
    'portMapRequired',
  );
  ok(await me.put(`${base}/port/${id}`, { portMap: { enabled: true, http: null, https: null } }));
  assert.equal((await told(id)).upstreams[0]!.port, 8080, 'at its own');

  const [, other] = (await me.read(path)).data;
  ok(await me.put(path, { upstreams: [{ id: other.id, enabled: false }] }));
  is(await me.put(path, { upstreams: [{ id: first, enabled: false }] }), 'noUpstreamEnabled');
  is(await me.del(path, { ids: [first] }), 'noUpstreamEnabled');
  ok(await me.del(path, { ids: [first, other.id] }));
  assert.deepEqual((await told(id)).upstreams, [], 'then those of the domain are asked');
  // one that is part of it: the version is the port's
  const version = (await me.read(`${base}/ports?ids=${id}`)).data[0].version;
  assert.ok(version >= 4, String(version));
});

test('a product opens so many ports, and layer 4 or not', async () => {
  const { data } = await me.read(`${base}/ports?pageSize=100`);
  const [one, two] = [await inZone('http'), await inZone('http')];
  ok(await product({ portLimit: data.length + 1 }));
  multiple(
    await me.post(`${base}/ports`, {
      ports: [
        { port: one, scheme: 'http' },
        { port: two, scheme: 'http' },
      ],
    }),
    ['portsExceeded', [String(two)]],
  );
  is(await me.post(`${base}/ports`, { ports: [{ port: two, scheme: 'http' }] }), 'portsExceeded');
  ok(await product({ portLimit: 0 }));
  await open(two, 'http');

  about(
    await operator.post(`${zone}/ports`, { ports: [{ port: 30_001, scheme: 'tcp' }] }),
    'illegalPortType',
    'ports.0.scheme',
    'layer4Closed',
  );
  about(
    await me.post(`${base}/ports`, { ports: [{ port: 30_001, scheme: 'tcp' }] }),
    'illegalPortType',
    'ports.0.scheme',
    'layer4Closed',
  );
  await sql`update product set "portType" = '7+4' where id = ${a.productID}`.execute(api.database.db);
  const id = ok(await operator.post(`${zone}/ports`, { ports: [{ port: 30_001, scheme: 'tcp' }] })).body.ids[0];
  const port = await open(30_001, 'tcp');
  assert.equal((await load(api.database.pool, 'port', [port])).has(port), false, 'no document of layer 7');
  about(await operator.del(`${zone}/ports`, { ids: [id] }), 'portType4InUse', 'ids', 'portOpened');
  about(await operator.put(`${zone}/port`, { id, port: 30_002 }), 'portType4InUse', 'port', 'portOpened');
  await sql`update product set "portType" = '7' where id = ${a.productID}`.execute(api.database.db);
});

test('a site goes with its ports of layer 7, and stays while it has one of layer 4', async () => {
  const b = await api.tenant('b');
  const { zoneID } = b;
  const { db } = api.database;
  await sql`insert into "zonePort" ("zoneID", port, scheme) values (${zoneID}, 4000, 'tcp'), (${zoneID}, 4001, 'http')`.execute(
    db,
  );
  await sql`update product set "portType" = '7+4' where id = ${b.productID}`.execute(db);
  const them = by(api, b.user);
  const path = `/user/site/${b.siteID}/ports`;
  const layer4 = await them.make(path, { ports: [{ port: 4000, scheme: 'tcp' }] });
  await them.make(path, { ports: [{ port: 4001, scheme: 'http' }] });
  is(await by(api, b.client).del('/client/site', { ids: [b.siteID] }), 'siteHasLayer4Ports');
  ok(await them.del(path, { ids: [layer4] }));

  // nor does a product move where its sites' ports are not
  const other = await by(api, b.client).make('/client/zone', { name: 'elsewhere' });
  const groupID = await by(api, b.client).make('/client/group', { zoneID: other, name: 'there' });
  about(
    await by(api, b.client).put('/client/product', { id: b.productID, groupID }),
    'inconsistentPorts',
    'groupID',
    'portNotOpen',
  );
  await by(api, b.client).make(`/client/zone/${other}/setting/ports`, { ports: [{ port: 4001, scheme: 'http' }] });
  ok(await by(api, b.client).put('/client/product', { id: b.productID, groupID }));
  ok(await by(api, b.client).del('/client/site', { ids: [b.siteID] }));
});
