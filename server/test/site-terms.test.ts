/** What sites are sold as, limits of their own, their backups, and what an operator does with many at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { compile } from '#server/compile/compile.ts';
import { load } from '#server/compile/load.ts';
import { broken, by, is, mark, multiple, ok } from './expect.ts';
import { a, api, b, me, op } from './operators.ts';

let serial = 0;
const product = (more: object = {}) => op.make('/client/product', { groupID: a.groupID, name: `product-${++serial}`, ...more });
const site = (more: object = {}) =>
  op.make('/client/site', { siteName: `site-${++serial}`, productID: a.productID, userID: a.user.id, ...more });
const name = () => `d${++serial}.terms.test`;
const origin = { address: '192.0.2.1' };
const domain = (siteID: number, upstreams: object[] = [origin]) =>
  me.make(`/user/site/${siteID}/domains`, { domains: [{ domainName: name(), upstreams }] });
const moreDomains = (siteID: number) =>
  me.post(`/user/site/${siteID}/domains`, { domains: [{ domainName: name(), upstreams: [origin] }] });

test('a limit of its own holds instead of its product’s; null is the product’s, 0 is none, and what is left out stays', async () => {
  const productID = await product({ domainLimit: 1 });
  const [one, other] = [await site({ productID }), await site({ productID })];
  ok(await op.put('/client/site/limitations', { ids: [one], domainLimit: 2, portLimit: 3 }));
  await domain(one);
  await domain(one);
  is(await moreDomains(one), 'domainsExceeded');
  await domain(other);
  is(await moreDomains(other), 'domainsExceeded');
  ok(await op.put('/client/site/limitations', { ids: [one], domainLimit: 0 }));
  ok(await moreDomains(one));
  const read = async () => {
    const { domainLimit, autoSSLLimit, portLimit } = await op.read(`/client/site/${one}`);
    return [domainLimit, autoSSLLimit, portLimit];
  };
  assert.deepEqual(await read(), [0, null, 3]);
  ok(await op.put('/client/site/product/refresh', { ids: [one] }));
  assert.deepEqual(await read(), [null, null, null]);
  // three that it has stay, beyond the one of its product
  is(await moreDomains(one), 'domainsExceeded');
  assert.equal((await me.read(`/user/site/${one}`)).domainCount, 3);
  broken(await op.put('/client/site/limitations', { ids: [one], domainLimit: -1 }), 'domainLimit');
  // it is the operator's to say
  assert.equal((await me.put('/client/site/limitations', { ids: [one], domainLimit: 9 })).status, 403);
});

test('certificates made by themselves, and ports, go by limits of the site’s own too', async () => {
  const id = await site({ productID: await product({ autoSSLLimit: 5, portLimit: 5 }) });
  ok(await op.put('/client/site/limitations', { ids: [id], autoSSLLimit: 1, portLimit: 1 }));
  const domains = [await domain(id), await domain(id)];
  const zone = `/client/zone/${a.zoneID}/setting`;
  ok(
    await op.post(`${zone}/ports`, {
      ports: [
        { port: 21_001, scheme: 'http' },
        { port: 21_002, scheme: 'http' },
      ],
    }),
  );
  ok(await me.post(`/user/site/${id}/ports`, { ports: [{ port: 21_001, scheme: 'http' }] }));
  is(await me.post(`/user/site/${id}/ports`, { ports: [{ port: 21_002, scheme: 'http' }] }), 'portsExceeded');
  const auto = (domainID: number) =>
    me.patch(`/user/site/${id}/domain/setting/autoSSL`, { domainIDs: [domainID], enabled: true });
  ok(await auto(domains[0]!));
  is(await auto(domains[1]!), 'autoSSLExceeded');
});

test('a site is sold as another product: its limits hold, its group serves it, and there must be room', async () => {
  const zoneID = await op.make('/client/zone', { name: `zone-${++serial}` });
  const groupID = await op.make('/client/group', { zoneID, name: `group-${++serial}` });
  const there = await product({ groupID, siteLimit: 1, domainLimit: 1 });
  const [one, other] = [await site(), await site()];
  const domainID = await domain(one);
  const since = await mark(api);
  const reply = await op.put('/client/site/product/change', { ids: [one, other], productID: there });
  multiple(reply, ['productSitesExceeded', [String((await op.read(`/client/site/${other}`)).siteName)]]);
  const moved = await op.read(`/client/site/${one}`);
  assert.deepEqual([moved.productID, moved.zoneID], [there, zoneID]);
  assert.equal((await op.read(`/client/site/${other}`)).productID, a.productID);
  const documents = (await since.outbox()).map((line: { kind: string; entityID: number }) => `${line.kind} ${line.entityID}`);
  assert.ok(documents.includes(`site ${one}`) && documents.includes(`domain ${domainID}`), documents.join());
  is(await moreDomains(one), 'domainsExceeded');
  // to itself: nothing
  ok(await op.put('/client/site/product/change', { ids: [one], productID: there }));
  // another operator's product, and another's site, look like unknown ones
  broken(await op.put('/client/site/product/change', { ids: [one], productID: b.productID }), 'productID', 'unknown', 404);
  broken(await op.put('/client/site/product/change', { ids: [b.siteID], productID: there }), 'ids', 'unknown', 404);
});

test('nor is a site moved to where its ports are not open', async () => {
  const id = await site();
  ok(await op.post(`/client/zone/${a.zoneID}/setting/ports`, { ports: [{ port: 21_500, scheme: 'https' }] }));
  ok(await me.post(`/user/site/${id}/ports`, { ports: [{ port: 21_500, scheme: 'https' }] }));
  const zoneID = await op.make('/client/zone', { name: `zone-${++serial}` });
  const there = await product({ groupID: await op.make('/client/group', { zoneID, name: `group-${++serial}` }) });
  const change = () => op.put('/client/site/product/change', { ids: [id], productID: there });
  is(await change(), 'inconsistentPorts');
  assert.equal((await op.read(`/client/site/${id}`)).productID, a.productID);
  ok(await op.post(`/client/zone/${zoneID}/setting/ports`, { ports: [{ port: 21_500, scheme: 'https' }] }));
  ok(await change());
});

test('what used up its traffic elsewhere is served again as another product', async () => {
  const small = await product({ trafficLimit: 1, trafficAction: 'limit' });
  const id = await site({ productID: small });
  await sql`update "trafficMonth" set bytes = 5, state = 'limited' where "productID" = ${small}`.execute(api.database.db);
  await sql`update site set status = 'limit' where id = ${id}`.execute(api.database.db);
  ok(await op.put('/client/site/product/change', { ids: [id], productID: await product() }));
  assert.equal((await op.read(`/client/site/${id}`)).status, 'normal');
});

test('forced to its backups a site is served from these alone, where there are any, and its origins stay as they are', async () => {
  const id = await site();
  const both = await domain(id, [origin, { address: '192.0.2.9', backup: true }]);
  const plain = await domain(id);
  const upstreams = async (domainID: number) =>
    compile('domain', (await load(api.database.pool, 'domain', [domainID])).get(domainID)!).document.upstreams.map(
      one => `${one.address}${one.backup ? ' backup' : ''}`,
    );
  assert.deepEqual(await upstreams(both), ['192.0.2.1', '192.0.2.9 backup']);
  const since = await mark(api);
  ok(await op.patch('/client/site/forceBackup', { ids: [id], enabled: true }));
  const told = (await since.outbox()).map((line: { kind: string; entityID: number }) => `${line.kind} ${line.entityID}`);
  for (const one of [both, plain]) assert.ok(told.includes(`domain ${one}`), told.join());
  assert.deepEqual([await upstreams(both), await upstreams(plain)], [['192.0.2.9'], ['192.0.2.1']]);
  const path = `/user/site/${id}/domain/${both}/upstreams`;
  const [first] = (await me.read(path)).data;
  broken(await me.post(path, { upstreams: [{ address: '192.0.2.7' }] }), 'upstreams', 'backupMode');
  broken(await me.put(path, { upstreams: [{ id: first.id, weight: 7 }] }), 'upstreams', 'backupMode');
  broken(await me.del(path, { ids: [first.id] }), 'ids', 'backupMode');
  // again: nothing is told
  const again = await mark(api);
  ok(await op.patch('/client/site/forceBackup', { ids: [id], enabled: true }));
  assert.deepEqual(await again.outbox(), []);
  ok(await op.patch('/client/site/forceBackup', { ids: [id], enabled: false }));
  ok(await me.put(path, { upstreams: [{ id: first.id, weight: 7 }] }));
  assert.deepEqual(await upstreams(both), ['192.0.2.1', '192.0.2.9 backup']);
});

test('tags of many at once, each as it was seen; those in use are offered', async () => {
  const [one, other] = [await site({ tags: ['red'] }), await site()];
  const version = async (id: number) => (await op.read(`/client/site/${id}`)).version as number;
  const seen = [await version(one), await version(other)];
  ok(await op.patch('/client/site', { id: other, siteName: `site-${++serial}` }));
  const reply = await op.put('/client/site/tags', { ids: [one, other], tags: ['gold'], versions: seen });
  assert.equal(reply.body.code, 101009, reply.text);
  assert.deepEqual([(await op.read(`/client/site/${one}`)).tags, (await op.read(`/client/site/${other}`)).tags], [['gold'], []]);
  broken(await op.put('/client/site/tags', { ids: [one, other], tags: [], versions: [1] }), 'versions', 'wrongFormat');
  ok(await op.put('/client/site/tags', { ids: [one, other], tags: ['blue', 'gold'] }));
  const used = (await op.read('/client/site/tags')) as string[];
  assert.ok(used.includes('blue') && used.includes('gold') && !used.includes('red'));
  assert.deepEqual(await by(api, b.client).read('/client/site/tags'), []);
});
