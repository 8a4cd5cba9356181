/** Names lead to nodes that are well: rows, the one who steers, a real name server, and dig(1). */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { CnameWatch } from '#server/resolution/check-cname.ts';
import { Steering } from '#server/resolution/steer.ts';
import { poll } from '#server/store/engine-process.ts';
import { row, rows } from '#server/store/db.ts';
import { startKnot } from '#system/knot.ts';
import { NameServer } from '#system/name-server.ts';
import { broken, by, is, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let names: NameServer;
let a: Tenant;
let b: Tenant;
let steering: Steering;
const zone = 'cdn.example.net';
let cnameID: number;
let key: string;
let groupID: number;
let zoneID: number;
let lineID: number;

before(async () => {
  names = await NameServer.start();
  api = await Api.start({ knot: names.service });
  [a, b] = await Promise.all([api.tenant('a'), api.tenant('b')]);
  const found = await row<{ key: string; groupID: number; zoneID: number }>(
    api.database.db,
    sql`select s."cnameKey" as key, g.id as "groupID", g."zoneID" from site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID" where s.id = ${a.siteID}`,
  );
  ({ key, groupID, zoneID } = found!);
  await sql`delete from "lineNode" where "groupID" = ${groupID}`.execute(api.database.db);
  steering = new Steering(api.database.url, api.services, { steadySeconds: 0.2 });
  steering.start();
});
after(async () => {
  await steering?.stop();
  await api?.stop();
  await names?.stop();
  assert.deepEqual(api.failures, []);
});

const client = () => by(api, a.client);
let made = 0;
async function node(addresses: string[], more: { status?: string; type?: string } = {}): Promise<number> {
  const found = await row<{ id: number }>(
    api.database.db,
    sql`insert into node ("clientID", "zoneID", name, type, status, addresses, "lastBeat", "publicKey")
      select z."clientID", z.id, ${`n${++made}`}, ${more.type ?? 'edge'}, ${more.status ?? 'normal'}, ${addresses}, now(), ${`key ${made}`} from zone z where z.id = ${zoneID} returning id`,
  );
  return found!.id;
}
const become = (id: number, status: string) =>
  sql`update node set status = ${status}, "lastBeat" = now() + interval '1 hour' where id = ${id}`.execute(api.database.db);
const assign = async (ids: number[], line = 1) => ok(await client().post(`/client/group/${groupID}/line/${line}/nodes`, { ids }));

/** Until dig says so. */
async function answers(wanted: string[], ...args: string[]): Promise<void> {
  let last: string[] = [];
  const isSo = await poll(async () => String((last = await names.dig(...args))) === String(wanted), 15_000, 50);
  assert.ok(isSo, `${args.join(' ')} answers ${last.join(', ')} instead of ${wanted.join(', ')}`);
}
/** Until whoever steers has looked at what is now: a change of another group, which it finds in the same look, is seen. */
async function looked(): Promise<void> {
  const other = { clientID: b.client.id, zoneID: b.zoneID, groupID: b.groupID };
  const address = `203.0.113.${++made}`;
  const { id } = (await row<{ id: number }>(
    api.database.db,
    sql`insert into node ("clientID", "zoneID", name, type, status, addresses, "lastBeat", "publicKey")
      values (${other.clientID}, ${other.zoneID}, ${address}, 'edge', 'normal', ${[address]}, now(), ${address}) returning id`,
  ))!;
  await sql`delete from "lineNode" where "groupID" = ${other.groupID}`.execute(api.database.db);
  ok(await by(api, b.client).post(`/client/group/${other.groupID}/line/1/nodes`, { ids: [id] }));
  const stored = sql`select 1 from "groupAnswer" where "groupID" = ${other.groupID} and lines::text like ${`%"${address}"%`}`;
  assert.ok(await poll(async () => (await row(api.database.db, stored)) !== undefined, 15_000, 50));
}
const target = () => `${key}.${zone}`;
const group = () => `g${groupID}.l.${zone}`;
const reasons = async (): Promise<string[]> =>
  (await client().read(`/client/group/${groupID}/answers?pageSize=50`)).data.map(
    (one: { change: string; UID: string; reason: string }) => `${one.UID} ${one.change} ${one.reason}`,
  );

test('an operator without a name server has no dnsType, and one that is chosen is said', async () => {
  const self = () => client().read('/client/account/self');
  assert.equal((await self()).dnsType, null);
  broken(await client().post('/client/setting/dns', { driver: 'bind' }), 'driver', 'invalidChoice');
  is(await client().post('/client/setting/dns/cname', { domainName: zone }), 'invalidDNSSetting');
  ok(await client().post('/client/setting/dns', { driver: 'knot' }));
  is(await client().post('/client/setting/dns', { driver: 'knot' }), 'duplicated');
  assert.equal((await self()).dnsType, 'knot');
});

test('a CNAME zone is a name of one’s own: no public suffix, none that another operator has, above or below it', async () => {
  const post = (domainName: string, more: object = {}) => client().post('/client/setting/dns/cname', { domainName, ...more });
  broken(await post('co.uk'), 'domainName', 'zoneOfEverybody');
  broken(await post('CDN.example.net'), 'domainName', 'lowerCase');
  broken(await post('*.example.net'), 'domainName', 'wrongFormat');
  broken(await post('a"b.example.net'), 'domainName', 'wrongFormat');
  broken(await post(zone, { nameServers: [`ns.${zone}`] }), 'nameServers.0', 'glueMissing');
  broken(await post(zone, { nameServers: ['ns1.example.org', 'ns1.example.org 192.0.2.53'] }), 'nameServers.1', 'duplicateValue');
  broken(await post(zone, { nameServers: ['ns1.example.org 192.0.2.53 192.0.2.53'] }), 'nameServers.0', 'duplicateIP');
  const reply = await post(zone, { nameServers: [`ns.${zone} 192.0.2.53`] });
  ok(reply);
  cnameID = reply.body.ids[0];
  const other = by(api, b.client);
  ok(await other.post('/client/setting/dns', { driver: 'knot' }));
  for (const name of [zone, 'example.net', `deep.${zone}`])
    broken(await other.post('/client/setting/dns/cname', { domainName: name }), 'domainName', 'zoneOfAnother', 409);
  is(await other.put('/client/setting/dns/cname', { id: cnameID, disabled: true }), 'parameter', 404);
});

test('the chain: a site’s name leads to its group, that to its nodes, over UDP and TCP', async () => {
  const [one, two] = [await node(['192.0.2.1', '2001:db8::1']), await node(['192.0.2.2'])];
  await assign([one, two]);
  // no visitor may reach a relay: no call takes it, and a row of one that was something else once does not count
  const relay = await node(['192.0.2.9'], { type: 'relay' });
  is(await client().post(`/client/group/${groupID}/line/1/nodes`, { ids: [relay] }), 'invalidGroupNode');
  await sql`insert into "lineNode" ("groupID", "lineID", "nodeID") values (${groupID}, 1, ${relay})`.execute(api.database.db);
  for (const way of ['+notcp', '+tcp']) {
    await answers([`${group()}.`], way, '+subnet=198.51.100.7/24', target(), 'CNAME');
    await answers(['192.0.2.1', '192.0.2.2'], way, group(), 'A');
    await answers(['2001:db8::1'], way, group(), 'AAAA');
    await answers(['192.0.2.1', '192.0.2.2'], way, '+subnet=198.51.100.7/24', group(), 'A');
  }
  await answers([`ns.${zone}.`], zone, 'NS');
  await answers(['192.0.2.53'], `ns.${zone}`, 'A');
  await answers(['status: NXDOMAIN'], `nobody.${zone}`, 'A');
  const said = await client().read('/client/setting/dns/cnames');
  assert.deepEqual([said.data[0].unprocessed, said.data[0].error, said.data[0].isOffered], [0, '', true]);
  const tried = await client().post('/client/setting/dns/test', { id: said.data[0].dnsSettingID });
  ok(tried);
  assert.deepEqual(tried.body.zones, [{ cnameID, domainName: zone, isThere: true }]);
});

test('a node that is paused, silent or in trouble leaves, the last one stays, and who is well again comes back; each with its reason', async () => {
  const [one, two] = (
    await rows<{ id: number }>(
      api.database.db,
      sql`select id from node where "zoneID" = ${zoneID} and type = 'edge' and addresses <> '{}' and addresses[1] like '192.0.2.%' order by id`,
    )
  ).map(n => n.id) as [number, number];
  await become(one, 'offline');
  await answers(['192.0.2.2'], group(), 'A');
  await sql`update node set "lastBeat" = now() - interval '1 hour' where id = ${two}`.execute(api.database.db);
  await become(two, 'error');
  // the second begins when what the first found has been answered
  for (let n = 0; n < 2; n++) await looked();
  await answers(['192.0.2.2'], group(), 'A');
  await become(one, 'normal');
  await answers(['192.0.2.1'], group(), 'A');
  await become(two, 'normal');
  await answers(['192.0.2.1', '192.0.2.2'], group(), 'A');
  ok(await client().patch('/client/node/status', { ids: [two], status: 'paused' }));
  await answers(['192.0.2.1'], group(), 'A');
  ok(await client().patch('/client/node/status', { ids: [two], status: 'normal' }));
  await become(two, 'normal');
  await answers(['192.0.2.1', '192.0.2.2'], group(), 'A');
  await sql`update node set status = 'error', beat = '{"twin": true}', "lastBeat" = now() + interval '1 minute' where id = ${two}`.execute(
    api.database.db,
  );
  await answers(['192.0.2.1', '192.0.2.2'], group(), 'A'); // a copy of its disk takes no visitors from it
  await become(two, 'normal');
  const log = await reasons();
  for (const said of [
    `n-${one} left silent`,
    `n-${two} left problem`,
    // the other was in trouble: no time to see whether it stays well
    `n-${one} came lastOne`,
    `n-${two} left paused`,
    `n-${two} came well`,
    `n-${two} came assigned`,
  ])
    assert.ok(log.includes(said), `${said} is not among ${log.join(', ')}`);
});

test('a backup answers only while no main node does', async () => {
  const backup = await node(['192.0.2.8']);
  await assign([backup]);
  // it has been well for long enough, so that it comes as a backup does, and not for want of anybody else
  await answers(['192.0.2.1', '192.0.2.2', '192.0.2.8'], group(), 'A');
  ok(await client().patch(`/client/group/${groupID}/line/1/nodes`, { ids: [backup], backup: true }));
  await answers(['192.0.2.1', '192.0.2.2'], group(), 'A');
  await sql`update node set status = 'offline' where "zoneID" = ${zoneID} and addresses[1] in ('192.0.2.1', '192.0.2.2')`.execute(
    api.database.db,
  );
  await answers(['192.0.2.8'], group(), 'A');
  await sql`update node set status = 'normal' where "zoneID" = ${zoneID} and addresses[1] = '192.0.2.2'`.execute(api.database.db);
  await answers(['192.0.2.2'], group(), 'A');
  const log = await reasons();
  // it left for the mains twice: when it became a backup, and when one of them came back
  const left = log.filter(one => one === `n-${backup} left mainsBack`).length;
  assert.ok(log.includes(`n-${backup} came mainsAway`) && left === 2, log.join(', '));
  await sql`update node set status = 'normal' where "zoneID" = ${zoneID}`.execute(api.database.db);
  await answers(['192.0.2.1', '192.0.2.2'], group(), 'A');
});

test('a line of networks answers its visitors with its own nodes, and everybody else as before; a preview says so', async () => {
  ok(
    await client().patch('/client/group', {
      id: groupID,
      lines: [{ name: 'office', cidrs: ['198.51.100.0/24', '2001:db8:5::/48'], asns: [] }],
    }),
  );
  const { data } = await client().read(`/client/zone/${zoneID}/groups`);
  lineID = data.find((one: { id: number }) => one.id === groupID).lines[0].id;
  const own = await node(['192.0.2.20']);
  await assign([own], lineID);
  const inside = '+subnet=198.51.100.7/24';
  for (const way of ['+notcp', '+tcp']) await answers(['192.0.2.20'], way, inside, group(), 'A');
  await answers(['192.0.2.20'], '+subnet=2001:db8:5:1::/64', group(), 'A');
  await answers(['192.0.2.1', '192.0.2.2'], '+subnet=203.0.113.0/24', group(), 'A');
  await answers(['192.0.2.1', '192.0.2.2'], group(), 'A');
  const shown = await client().read(`/client/group/${groupID}/answer?visitor=198.51.100.7`);
  const answer = { a: ['192.0.2.20'], aaaa: ['2001:db8::1'], cname: null };
  assert.deepEqual([shown.lineName, shown.network, shown.answer], ['office', '198.51.100.0/24', answer]);
  assert.deepEqual(shown.zones, [{ cnameID, name: group(), isApplied: true, lines: 'all', answer }]);
  const other = await client().read(`/client/group/${groupID}/answer?visitor=203.0.113.9`);
  assert.deepEqual(other.answer.a, ['192.0.2.1', '192.0.2.2']);
  // its only node is in trouble, and everybody's are well
  await become(own, 'offline');
  await answers(['192.0.2.1', '192.0.2.2'], inside, group(), 'A');
  await become(own, 'normal');
  await answers(['192.0.2.20'], inside, group(), 'A');
});

test('a line holds as many nodes as an answer has room for', async () => {
  const many = await Promise.all(Array.from({ length: 51 }, (_, i) => node([`192.0.2.${100 + i}`])));
  is(await client().post(`/client/group/${groupID}/line/${lineID}/nodes`, { ids: many }), 'groupNodesExceeded');
  await sql`update node set "deletedAt" = now() where id = any(${many})`.execute(api.database.db);
});

test('nobody changes names without the key, and nobody reads a whole zone', async () => {
  const { Rfc2136 } = await import('#server/domain/dns/rfc2136.ts');
  const { AddressPolicy } = await import('#contract/rules/address-policy.ts');
  const dns = await import('#server/domain/dns/message.ts');
  const policy = new AddressPolicy({ operator: [], environment: ['127.0.0.0/8'], own: [] });
  const other = { ...names.service.key, secret: Buffer.alloc(32) };
  const change = new Rfc2136(`127.0.0.1:${names.port}`, other, { policy }).change(zone, [
    { name: target(), type: dns.types.CNAME, class: dns.classes.ANY, ttl: 0, data: Buffer.alloc(0) },
  ]);
  await assert.rejects(change, /does not take the key/);
  await answers([`${group()}.`], target(), 'CNAME');
  const [said] = await names.dig('+tcp', zone, 'AXFR');
  assert.match(said!, /^(Transfer failed|status: (NOTAUTH|REFUSED))$/);
  // it is there, and has a zone that it could have told
  await answers([`ns.${zone}.`], '+tcp', zone, 'NS');
});

test('what was changed by hand, or lost, is mended; what others have there is left alone', async () => {
  const { KnotDriver } = await import('#server/resolution/knot.ts');
  const driver = new KnotDriver(names.service);
  const held = { id: cnameID, name: zone, nameServers: [] };
  await driver.applyNames(held, [
    { label: key, groupID: 999_999 },
    { label: 'strange', groupID },
  ]);
  await answers([`g999999.l.${zone}.`], target(), 'CNAME');
  const { Rfc2136 } = await import('#server/domain/dns/rfc2136.ts');
  const { AddressPolicy } = await import('#contract/rules/address-policy.ts');
  const dns = await import('#server/domain/dns/message.ts');
  const policy = new AddressPolicy({ operator: [], environment: ['127.0.0.0/8'], own: [] });
  await new Rfc2136(`127.0.0.1:${names.port}`, names.service.key, { policy }).change(zone, [
    { name: `mine.${zone}`, type: dns.types.TXT, class: dns.classes.IN, ttl: 60, data: dns.textData('foreign') },
  ]);
  ok(await client().post('/client/setting/dns/recovery', {}));
  await answers([`${group()}.`], target(), 'CNAME');
  await answers(['status: NXDOMAIN'], `strange.${zone}`, 'CNAME');
  await answers(['"foreign"'], `mine.${zone}`, 'TXT');
});

test('a name server that is killed, that comes back with what it had or with nothing, has everything again; meanwhile changes wait and are counted', async () => {
  const own = await node(['192.0.2.30']);
  await names.kill();
  await assign([own]);
  const waiting = () => client().read('/client/setting/dns/unprocessed');
  assert.ok(
    await poll(
      async () => {
        const { size, errors } = await waiting();
        return size > 0 && errors.length === 1;
      },
      15_000,
      100,
    ),
  );
  await names.up();
  await answers(['192.0.2.1', '192.0.2.2', '192.0.2.30'], group(), 'A');
  await answers([`${group()}.`], target(), 'CNAME');
  assert.ok(
    await poll(
      async () => {
        const { size, errors } = await waiting();
        return size === 0 && errors.length === 0;
      },
      15_000,
      100,
    ),
  );
  // its folder is lost: nothing is waiting, and yet everything is gone
  await names.kill();
  const { rmSync } = await import('node:fs');
  rmSync(join(names.dir, 'db'), { recursive: true });
  writeFileSync(join(names.dir, 'lines/zones.conf'), 'zone:\n  - domain: "\n');
  await names.up();
  assert.match(readFileSync(join(names.dir, 'lines/zones.conf.unread'), 'utf8'), /domain/);
  await answers(['192.0.2.1', '192.0.2.2', '192.0.2.30'], group(), 'A');
  await answers(['192.0.2.20'], '+subnet=198.51.100.7/24', group(), 'A');
  await answers([`${group()}.`], target(), 'CNAME');
});

test('a customer is told what its domain is to lead to, and whether it does: by its chain, or by addresses where it has none', async () => {
  const user = by(api, a.user);
  const path = `/user/site/${a.siteID}/domains`;
  const names = ['www.leads.test', 'other.leads.test', 'none.leads.test', 'leads.test'];
  const reply = await user.post(path, {
    domains: names.map(domainName => ({ domainName, upstreams: [{ address: '192.0.2.1' }] })),
  });
  ok(reply);
  const ids: number[] = reply.body.ids;
  const world = await startKnot({
    zones: ['leads.test', zone],
    lines: [],
  });
  api.services.dns = { resolvers: [world.address], apis: {} };
  const { Rfc2136 } = await import('#server/domain/dns/rfc2136.ts');
  const { AddressPolicy } = await import('#contract/rules/address-policy.ts');
  const dns = await import('#server/domain/dns/message.ts');
  const policy = new AddressPolicy({ operator: [], environment: ['127.0.0.0/8'], own: [] });
  const secret = Buffer.from(world.key.secret, 'base64');
  const updates = new Rfc2136(world.address, { ...world.key, secret }, { policy });
  const record = (name: string, type: number, data: Buffer) => ({ name, type, class: dns.classes.IN, ttl: 1, data });
  const drop = (name: string, type: number) => ({ name, type, class: dns.classes.ANY, ttl: 0, data: Buffer.alloc(0) });
  await updates.change('leads.test', [
    record('www.leads.test', dns.types.CNAME, dns.nameBytes('step.leads.test')),
    record('step.leads.test', dns.types.CNAME, dns.nameBytes(target())),
    record('other.leads.test', dns.types.CNAME, dns.nameBytes('elsewhere.leads.test')),
    record('none.leads.test', dns.types.TXT, dns.textData('no address')),
    drop('leads.test', dns.types.A),
    record('leads.test', dns.types.A, dns.addressData('192.0.2.1')),
  ]);
  const checked = await user.post(`${path}/checkCNAME`, { ids });
  ok(checked);
  const said = new Map<string, { cname: string; status: string; seen: string[] }>(
    checked.body.map((one: { domainName: string }) => [one.domainName, one]),
  );
  assert.deepEqual(
    names.map(name => said.get(name)!.status),
    ['active', 'wrong', 'unset', 'active'],
  );
  assert.deepEqual(
    [...said.values()].map(one => one.cname),
    names.map(() => target()),
  );
  assert.deepEqual(said.get('www.leads.test')!.seen, ['step.leads.test', target()]);
  assert.deepEqual((await user.read(`/user/site/${a.siteID}/domain/${ids[0]}`)).zoneServers, ['ns.leads.test']);
  const found = await user.read(`${path}?cnameStatuses=wrong`);
  assert.deepEqual(
    found.data.map((one: { domainName: string }) => one.domainName),
    ['other.leads.test'],
  );
  const listed = (await client().read('/client/setting/dns/cnames')).data[0];
  assert.equal(listed.domainCount, 1);
  broken(await client().del('/client/setting/dns/cname', { ids: [cnameID] }), 'ids', 'zoneInUse', 409);

  // by itself: what leads elsewhere now is found
  await updates.change('leads.test', [drop('step.leads.test', dns.types.CNAME)]);
  await sql`update "cnameSeen" set "checkedAt" = '-infinity' where "domainID" = any(${ids})`.execute(api.database.db);
  const watch = new CnameWatch(api.database.url, api.services);
  while ((await watch.turn()) > 0);
  await watch.stop();
  assert.deepEqual(
    (await user.read(`${path}?cnameStatuses=wrong&sortBy=domainName&orderBy=asc`)).data.map(
      (one: { domainName: string }) => one.domainName,
    ),
    ['other.leads.test', 'www.leads.test'],
  );
  // a resolver that is away changes nothing
  await world.stop();
  const away = await user.post(`${path}/checkCNAME`, { ids: [ids[3]] });
  ok(away);
  assert.equal(away.body[0].status, 'unknown');
  assert.equal((await user.read(`/user/site/${a.siteID}/domain/${ids[3]}`)).cnameStatus, 'active');
  // it may lead here: until that is known the zone stays
  broken(await client().del('/client/setting/dns/cname', { ids: [cnameID] }), 'ids', 'zoneUnsure', 409);
});

test('a site that goes takes its name along, and a zone that is removed is no longer answered for', async () => {
  const [setting] = (await client().read('/client/setting/dns')).data;
  broken(await client().del('/client/setting/dns', { ids: [setting.id] }), 'ids', 'dnsInUse', 409);
  await sql`update site set "deletedAt" = now() where id = ${a.siteID}`.execute(api.database.db);
  await answers(['status: NXDOMAIN'], target(), 'CNAME');
  ok(await client().del('/client/setting/dns/cname', { ids: [cnameID] }));
  await answers(['status: REFUSED'], group(), 'A');
});
