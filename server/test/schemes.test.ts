/** By which schemes a domain is served and where its origins that follow are asked: kept, refused, and what nodes are told. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { compile } from '#server/compile/compile.ts';
import { load } from '#server/compile/load.ts';
import { readSetting, writeSetting } from '#server/system/settings.ts';
import { broken, by, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let me: ReturnType<typeof by>;
let base: string;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  me = by(api, a.user);
  base = `/user/site/${a.siteID}`;
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const usual = { scheme: 'any', portMap: { enabled: true, http: null, https: 443 } };
const mapped = (http: number | null, https: number | null) => ({ enabled: true, http, https });
const make = (domainName: string, upstreams: object[]) => me.make(`${base}/domains`, { domains: [{ domainName, upstreams }] });
async function told(id: number) {
  return compile('domain', (await load(api.database.pool, 'domain', [id])).get(id)!).document;
}

test('a new domain is served by both schemes, and its origin that follows is asked at 443 over TLS', async () => {
  const id = await make('new.test', [
    { address: '192.0.2.1', protocol: 'follow' },
    { address: '192.0.2.2', port: 8080 },
  ]);
  const { scheme, portMap, tlsOption } = await me.read(`${base}/domain/${id}`);
  assert.deepEqual({ scheme, portMap, tlsOption }, { ...usual, tlsOption: 'any' });
  const document = await told(id);
  assert.deepEqual(
    document.upstreams.map(one => [one.protocol, one.port, one.httpsPort]),
    [
      ['follow', 80, 443],
      ['http', 8080, undefined],
    ],
  );
  assert.deepEqual([document.onlyScheme, document.onlyTLS13], [undefined, undefined]);
});

test('what is set stands and goes to the nodes; the TLS option is kept where nothing is said of it', async () => {
  const id = await make('set.test', [{ address: '192.0.2.1', protocol: 'follow' }]);
  const path = `${base}/domain/${id}/scheme`;
  ok(await me.put(path, { scheme: 'https', portMap: mapped(8080, 8443), tlsOption: 'TLSv1.3' }));
  ok(await me.put(path, { scheme: 'https', portMap: mapped(8081, 8443) }));
  const { scheme, portMap, tlsOption } = await me.read(`${base}/domain/${id}`);
  assert.deepEqual({ scheme, portMap, tlsOption }, { scheme: 'https', portMap: mapped(8081, 8443), tlsOption: 'TLSv1.3' });
  const { onlyScheme, onlyTLS13, upstreams } = await told(id);
  assert.deepEqual([onlyScheme, onlyTLS13, upstreams[0]!.port, upstreams[0]!.httpsPort], ['https', true, 8081, 8443]);
  broken(await me.put(path, { ...usual, scheme: 'ftp' }), 'scheme', 'invalidChoice');
  broken(await me.put(path, { ...usual, portMap: mapped(0, 443) }), 'portMap.http', 'tooSmall');
  broken(await me.put(path, { ...usual, tlsOption: 'SSLv3' }), 'tlsOption', 'invalidChoice');
});

test('who follows needs the port map, and two ports: said of the map, of a new origin, and of one that is changed', async () => {
  const id = await make('follows.test', [{ address: '192.0.2.1', protocol: 'follow' }]);
  const [path, upstreams] = [`${base}/domain/${id}/scheme`, `${base}/domain/${id}/upstreams`];
  broken(await me.put(path, { ...usual, portMap: { ...usual.portMap, enabled: false } }), 'portMap', 'portMapRequired');
  broken(await me.put(path, { ...usual, portMap: mapped(443, 443) }), 'portMap', 'portMapSame');
  broken(await me.put(path, { ...usual, portMap: mapped(null, null) }), 'portMap', 'portMapSame');
  // by one scheme alone there is nothing to tell apart
  ok(await me.put(path, { scheme: 'http', portMap: mapped(null, null) }));
  broken(await me.put(path, { scheme: 'any', portMap: mapped(null, null) }), 'portMap', 'portMapSame');
  ok(await me.put(path, usual));

  broken(
    await me.post(`${base}/domains`, {
      domains: [{ domainName: 'twice.test', upstreams: [{ address: '192.0.2.1', port: 443, protocol: 'follow' }] }],
    }),
    'domains.0.upstreams.0.protocol',
    'portMapSame',
  );
  const bad = { address: '192.0.2.9', port: 443, protocol: 'follow' };
  broken(await me.post(upstreams, { upstreams: [bad] }), 'upstreams.0.protocol', 'portMapSame');
  const other = (await me.post(upstreams, { upstreams: [{ ...bad, protocol: 'https' }] })).body.ids[0] as number;
  broken(await me.put(upstreams, { upstreams: [{ id: other, protocol: 'follow' }] }), 'upstreams.0.protocol', 'portMapSame');

  // without anybody who follows the map may go; then nobody may begin to
  const first = (await me.read(upstreams)).data[0].id as number;
  ok(await me.put(upstreams, { upstreams: [{ id: first, protocol: 'http' }] }));
  ok(await me.put(path, { ...usual, portMap: { ...usual.portMap, enabled: false } }));
  broken(await me.put(upstreams, { upstreams: [{ id: first, protocol: 'follow' }] }), 'upstreams.0.protocol', 'portMapRequired');
});

test('the port of the map is judged as an origin’s own', async () => {
  const id = await make('judged.test', [{ address: '192.0.2.7', protocol: 'follow' }]);
  const own = await readSetting(api.database.db, null, 'ownAddresses');
  await writeSetting(api.database.db, null, 'ownAddresses', [...own, '192.0.2.7:5432']);
  broken(await me.put(`${base}/domain/${id}/scheme`, { ...usual, portMap: mapped(null, 5432) }), 'portMap.address', 'addressOwn');
  ok(await me.put(`${base}/domain/${id}/scheme`, { ...usual, portMap: mapped(null, 5433) }));
});

test('what stands from before these rules keeps nobody from the rest, and is asked as before', async () => {
  const id = await make('before.test', [{ address: '192.0.2.1' }]);
  const { db } = api.database;
  const own = mapped(null, null);
  await sql`update upstream set protocol = 'follow', port = 8443 where "domainID" = ${id}`.execute(db);
  await sql`update domain set "portMap" = ${JSON.stringify(own)}::jsonb where id = ${id}`.execute(db);
  ok(await me.put(`${base}/domain/${id}/scheme`, { scheme: 'any', portMap: own, tlsOption: 'TLSv1.3' }));
  const [upstream] = (await told(id)).upstreams;
  assert.deepEqual([upstream!.port, upstream!.httpsPort], [8443, undefined]);
  broken(await me.put(`${base}/domain/${id}/scheme`, { scheme: 'any', portMap: mapped(8443, null) }), 'portMap', 'portMapSame');
});
