/** Domains made after others, at another site and under other names, and one address of origins put for another. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { compile } from '#server/compile/compile.ts';
import { load } from '#server/compile/load.ts';
import { broken, by, is, mark, multiple, ok } from './expect.ts';
import { a, api, b, me, op } from './operators.ts';

let serial = 0;
const site = (more: object = {}) =>
  op.make('/client/site', { siteName: `site-${++serial}`, productID: a.productID, userID: a.user.id, ...more });
const name = () => `d${++serial}.copies.test`;
const origins = [
  { address: '192.0.2.1', port: 8080, weight: 7, protocol: 'https', hash: 'urlHash', maxFails: 9 },
  { address: 'backup.origin.test', backup: true, enabled: false },
];
const cors = {
  allowOrigin: 'https://shop.test',
  allowMethods: ['GET'],
  allowHeaders: [],
  exposeHeaders: [],
  allowCredentials: false,
  maxAge: 60,
};
/** What somebody set of a domain, in every way there is. */
async function dressed(siteID: number) {
  const domainName = name();
  const id = await me.make(`/user/site/${siteID}/domains`, {
    domains: [{ domainName, upstreams: origins, balance: 'ipHash', originHost: 'inner.test', tags: ['shop'] }],
  });
  const base = `/user/site/${siteID}`;
  ok(
    await me.put(`${base}/domain/${id}/scheme`, {
      scheme: 'https',
      portMap: { enabled: false, http: null, https: null },
      tlsOption: 'TLSv1.3',
    }),
  );
  const hsts = { enabled: true, maxAge: 600, includeSubDomains: true, preload: false };
  ok(await me.patch(`${base}/domain/setting/hsts`, { domainIDs: [id], hsts }));
  ok(await me.patch(`${base}/domain/setting/forceSSL`, { domainIDs: [id], forceSSL: true }));
  ok(await me.put(`${base}/domain/${id}/originTLS`, { verify: 'off', ca: '', sni: 'inner.test' }));
  ok(await me.put(`${base}/domain/${id}/customHeaders`, { request: [{ name: 'x-shop', value: '1' }], response: [] }));
  const moduleID = await me.make(`${base}/module/cors`, { modules: [{ name: `cors-${++serial}`, ...cors }] });
  ok(await me.put(`${base}/domains/module/cors`, { domainIDs: [id], corsID: moduleID }));
  return { id, domainName, moduleID };
}
const document = async (id: number) => compile('domain', (await load(api.database.pool, 'domain', [id])).get(id)!).document;
/** Of a domain's document what does not name it, or its site. */
async function served(id: number) {
  const { id: _id, site: _site, host: _host, rev: _rev, ...rest } = (await document(id)) as unknown as Record<string, unknown>;
  return rest;
}
/** What the audit's line says of each domain that was made. */
async function settingsToldOf(since: Awaited<ReturnType<typeof mark>>) {
  const lines = await since.audits();
  assert.equal(lines.length, 1);
  const { changes } = lines[0]!;
  return {
    settings: (id: number) =>
      changes
        .filter(one => one.id === id && one.table.endsWith('.domain'))
        .map(one => one.table.split('.')[0]!)
        .sort(),
    of: (id: number, table: string) => changes.filter(one => one.id === id && one.table === table).map(one => one.after),
  };
}
const readDomain = (siteID: number, id: number) => me.read(`/user/site/${siteID}/domain/${id}`);

test('a name made after another has all that the other has, and is served as it is', async () => {
  const siteID = await site();
  const { id, moduleID } = await dressed(siteID);
  const names = [name(), name()];
  const since = await mark(api);
  const { body } = ok(await me.post(`/user/site/${siteID}/domains/createFrom`, { fromDomainID: id, domains: names }));
  assert.equal(body.ids.length, 2);
  const copied = await settingsToldOf(since);
  for (const made of body.ids as number[]) {
    assert.deepEqual(copied.settings(made), ['customHeaders', 'originTLS']);
    assert.deepEqual(copied.of(made, 'domain').at(-1), { moduleIDs: { cors: moduleID } });
    const { data } = await me.read(
      `/user/history?resource=${encodeURIComponent('/site/{siteID}/domain/{domainID}/originTLS')}&id=${made}`,
    );
    assert.deepEqual([data.length, data[0].kind], [1, 'added']);
  }
  for (const [i, made] of (body.ids as number[]).entries()) {
    assert.deepEqual(await served(made), await served(id));
    const shown = await readDomain(siteID, made);
    assert.deepEqual([shown.domainName, shown.status, shown.tags, shown.moduleIDs], [names[i], 1, ['shop'], { cors: moduleID }]);
    assert.deepEqual(shown.customHeaders, { request: [{ name: 'x-shop', value: '1' }], response: [] });
    const { data } = await me.read(`/user/site/${siteID}/domain/${made}/upstreams`);
    assert.deepEqual(
      data.map((one: Record<string, unknown>) => [one['address'], one['port'], one['weight'], one['backup'], one['enabled']]),
      [
        ['192.0.2.1', 8080, 7, false, true],
        ['backup.origin.test', 80, 1, true, false],
      ],
    );
  }
  // one that is live already is told of, and the rest is made
  const more = name();
  multiple(await me.post(`/user/site/${siteID}/domains/createFrom`, { fromDomainID: id, domains: [names[0], more] }), [
    'duplicateDomains',
    [names[0]!],
  ]);
  assert.equal((await me.read(`/user/site/${siteID}/domains?keywords=${more}`)).total, 1);
  broken(await me.post(`/user/site/${siteID}/domains/createFrom`, { fromDomainID: id, domains: ['no name'] }), 'domains.0');
  broken(
    await me.post(`/user/site/${siteID}/domains/createFrom`, { fromDomainID: id, domains: ['com'] }),
    'domains.0',
    'wrongFormat',
  );
  // of another site of one's own, and of nobody's
  const other = await dressed(await site());
  for (const fromDomainID of [other.id, 999_999_999])
    broken(
      await me.post(`/user/site/${siteID}/domains/createFrom`, { fromDomainID, domains: [name()] }),
      'fromDomainID',
      'unknown',
      404,
    );
});

test('names made after one whose certificate makes itself have theirs made too, as far as the product has room', async () => {
  const siteID = await site();
  ok(await op.put('/client/site/limitations', { ids: [siteID], autoSSLLimit: 2 }));
  const { id } = await dressed(siteID);
  ok(await me.patch(`/user/site/${siteID}/domain/setting/autoSSL`, { domainIDs: [id], enabled: true }));
  const [one, other, wild] = [name(), name(), `*.${name()}`];
  const reply = await me.post(`/user/site/${siteID}/domains/createFrom`, { fromDomainID: id, domains: [wild, one, other] });
  multiple(reply, ['autoSSLExceeded', [other]]);
  const { data } = await me.read(`/user/site/${siteID}/domains`);
  const auto = new Map(data.map((row: { domainName: string; autoSSL: boolean }) => [row.domainName, row.autoSSL]));
  // a wildcard's takes an account of a DNS provider, which the site has none of
  assert.deepEqual([auto.get(wild), auto.get(one), auto.get(other)], [false, true, undefined]);
});

test('their certificates are asked for where the other’s is, and nowhere else once that is set up no longer', async () => {
  const siteID = await site();
  const { id } = await dressed(siteID);
  const zeroSSL = (body: object) => op.put('/client/setting/system/zeroSSL', body);
  const ask = (provider: string) =>
    me.patch(`/user/site/${siteID}/domain/setting/autoSSL`, { domainIDs: [id], enabled: true, provider });
  const make = () => me.post(`/user/site/${siteID}/domains/createFrom`, { fromDomainID: id, domains: [name()] });
  const providerOf = async (domainID: number) =>
    (await op.read('/client/autoCertificates?pageSize=500')).data.find((one: { domainID: number }) => one.domainID === domainID)
      .provider;
  ok(await zeroSSL({ eabKID: 'kid-1', eabHmacKey: 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W' }));
  // another than the usual one
  ok(await ask('letsEncrypt'));
  assert.equal(await providerOf(ok(await make()).body.ids[0]), 'letsEncrypt');
  ok(await ask('zeroSSL'));
  assert.equal(await providerOf(ok(await make()).body.ids[0]), 'zeroSSL');
  ok(await zeroSSL({ eabKID: '', eabHmacKey: null }));
  broken(await make(), 'fromDomainID', 'zeroSSLUnset');
});

test('names copied to another site lie there with their origins and settings, switched off until they are off here', async () => {
  const [from, to] = [await site(), await site()];
  const [one, two] = [await dressed(from), await dressed(from)];
  const since = await mark(api);
  const { body } = ok(await me.post(`/user/site/${from}/domains/copyToSite`, { ids: [one.id, two.id], siteID: to }));
  const [copy, second] = body.ids as number[];
  const copied = await settingsToldOf(since);
  for (const id of [copy!, second!]) assert.deepEqual(copied.settings(id), ['customHeaders', 'originTLS']);
  assert.deepEqual(copied.of(second!, 'originTLS.domain'), [{ verify: 'off', ca: '', sni: 'inner.test' }]);
  const shown = await readDomain(to, copy!);
  assert.deepEqual([shown.domainName, shown.status, shown.tags, shown.moduleIDs], [one.domainName, 0, ['shop'], {}]);
  const status = (siteID: number, domainID: number, on: 0 | 1) =>
    me.patch(`/user/site/${siteID}/domain/setting/status`, { domainIDs: [domainID], status: on });
  is(await status(to, copy!, 1), 'duplicateDomains');
  ok(await status(from, one.id, 0));
  ok(await status(to, copy!, 1));
  const [was, is_] = [await served(one.id), await served(copy!)];
  const without = (doc: Record<string, unknown>) => ({ ...doc, modules: undefined, enabled: undefined });
  assert.deepEqual(without(is_), without(was));
  // a second time, and one more than fits
  multiple(await me.post(`/user/site/${from}/domains/copyToSite`, { ids: [one.id, two.id], siteID: to }), [
    'duplicated',
    [one.domainName, two.domainName],
  ]);
  const small = await site();
  ok(await op.put('/client/site/limitations', { ids: [small], domainLimit: 1 }));
  multiple(await me.post(`/user/site/${from}/domains/copyToSite`, { ids: [one.id, two.id], siteID: small }), [
    'domainsExceeded',
    [two.domainName],
  ]);
  assert.equal((await me.read(`/user/site/${small}/domains`)).total, 1);
});

test('what cannot be copied is found out while another call of the operator holds its room', async () => {
  const { db } = api.database;
  await sql`insert into "licenseOrder" ("clientID", kind, name, "domainLimit") values (${a.client.id}, 'order', 'bounded', 10000)`.execute(
    db,
  );
  const [from, to] = [await site(), await site()];
  const one = await dressed(from);
  const copy = () => me.post(`/user/site/${from}/domains/copyToSite`, { ids: [one.id], siteID: to });
  ok(await copy());
  await db.transaction().execute(async trx => {
    await sql`select pg_advisory_xact_lock(hashtextextended('license', ${a.client.id}))`.execute(trx);
    is(await copy(), 'duplicated');
  });
  await sql`delete from "licenseOrder" where name = 'bounded'`.execute(db);
});

test('nothing is copied to itself, to others’ sites or from them', async () => {
  const siteID = await site();
  const { id } = await dressed(siteID);
  const copy = (body: object, whose = me) => whose.post(`/user/site/${siteID}/domains/copyToSite`, body);
  broken(await copy({ ids: [id], siteID }), 'siteID', 'invalidChoice');
  broken(await copy({ ids: [id], siteID: b.siteID }), 'siteID', 'unknown', 404);
  broken(await copy({ ids: [999_999_999], siteID: await site() }), 'ids', 'unknown', 404);
  broken(await by(api, b.client).post(`/client/site/${b.siteID}/domains/copyToSite`, { ids: [id], siteID: b.siteID }), 'siteID');
});

test('one address of origins is put for another in all of the chosen domains, as one change of each', async () => {
  const siteID = await site();
  const [one, two] = [await dressed(siteID), await dressed(siteID)];
  const bare = await me.make(`/user/site/${siteID}/domains`, {
    domains: [{ domainName: name(), upstreams: [{ address: '192.0.2.77' }] }],
  });
  const version = (await readDomain(siteID, one.id)).version;
  const put = (body: object) => me.put(`/user/site/${siteID}/domains/modifyUpstreamIPs`, body);
  const domainIDs = [one.id, two.id, bare];
  const since = await mark(api);
  const { body } = ok(await put({ domainIDs, from: '192.0.2.1', to: '192.0.2.105' }));
  assert.equal(body.changed, 2);
  const told = (await since.outbox()).map((line: { kind: string; entityID: number }) => `${line.kind} ${line.entityID}`);
  assert.deepEqual(told.sort(), [`domain ${one.id}`, `domain ${two.id}`].sort());
  assert.deepEqual(
    (await document(one.id)).upstreams.map(up => [up.address, up.port]),
    [['192.0.2.105', 8080]],
  );
  assert.equal((await readDomain(siteID, one.id)).version, version + 1);
  ok(await put({ domainIDs: [one.id], from: 'backup.origin.test', to: '2001:DB8::5' }));
  // an address in another spelling is the same one
  ok(await put({ domainIDs: [one.id], from: '2001:0db8:0:0::5', to: 'other.origin.test' }));
  broken(await put({ domainIDs: [two.id], from: '2001:db8::5', to: '2001:DB8:0::5' }), 'to', 'invalidChoice');
  // nothing lies there any more
  broken(await put({ domainIDs, from: '192.0.2.1', to: '192.0.2.106' }), 'from', 'unknown');
  broken(await put({ domainIDs, from: '192.0.2.105', to: '192.0.2.105' }), 'to', 'invalidChoice');
  broken(await put({ domainIDs: [one.id], from: '192.0.2.105', to: '198.51.100.5' }), 'to');
  broken(await put({ domainIDs, from: 'no address', to: '192.0.2.106' }), 'from');
  // where another origin lies already
  ok(await me.post(`/user/site/${siteID}/domain/${two.id}/upstreams`, { upstreams: [{ address: '192.0.2.109', port: 8080 }] }));
  multiple(await put({ domainIDs: [one.id, two.id], from: '192.0.2.105', to: '192.0.2.109' }), ['duplicated', [two.domainName]]);
  assert.equal((await document(one.id)).upstreams[0]!.address, '192.0.2.109');
  // forced to its backups a site's origins stay as they are
  ok(await op.patch('/client/site/forceBackup', { ids: [siteID], enabled: true }));
  broken(await put({ domainIDs: [one.id], from: '192.0.2.109', to: '192.0.2.110' }), 'domainIDs', 'backupMode');
});
