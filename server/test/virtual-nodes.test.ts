/** Virtual nodes: what they are made of, where they may stand, and what is answered with them by a real name server. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { Steering } from '#server/resolution/steer.ts';
import { poll } from '#server/store/engine-process.ts';
import { row } from '#server/store/db.ts';
import { NameServer } from '#system/name-server.ts';
import { broken, by, is, multiple, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let names: NameServer;
let a: Tenant;
let b: Tenant;
let steering: Steering;
const zone = 'cdn.example.net';
let groupID: number;
let zoneID: number;
let made = 0;
const client = () => by(api, a.client);

before(async () => {
  names = await NameServer.start();
  api = await Api.start({ knot: names.service });
  [a, b] = await Promise.all([api.tenant('a'), api.tenant('b')]);
  ({ groupID, zoneID } = a);
  await sql`delete from "lineNode" where "groupID" = any(${[a.groupID, b.groupID]})`.execute(api.database.db);
  steering = new Steering(api.database.url, api.services, { steadySeconds: 0.2 });
  steering.start();
  ok(await client().post('/client/setting/dns', { driver: 'knot' }));
  ok(await client().post('/client/setting/dns/cname', { domainName: zone, nameServers: [`ns.${zone} 192.0.2.53`] }));
});
after(async () => {
  await steering?.stop();
  await api?.stop();
  await names?.stop();
  assert.deepEqual(api.failures, []);
});

async function node(addresses: string[], more: { zoneID?: number; type?: string } = {}): Promise<number> {
  const found = await row<{ id: number }>(
    api.database.db,
    sql`insert into node ("clientID", "zoneID", name, type, status, addresses, "lastBeat", "publicKey")
      select z."clientID", z.id, ${`n${++made}`}, ${more.type ?? 'edge'}, 'normal', ${addresses}, now(), ${`key ${made}`} from zone z where z.id = ${more.zoneID ?? zoneID} returning id`,
  );
  return found!.id;
}
const become = (id: number, status: string) => sql`update node set status = ${status} where id = ${id}`.execute(api.database.db);
const virtual = (more: object = {}) => client().make('/client/virtualNode', { zoneID, name: `v${++made}`, ...more });
const ofNodes = (id: number, nodeIDs: number[], ipVersions = ['ipv4', 'ipv6']) =>
  client().post(`/client/virtualNode/${id}/record/node`, { nodeIDs, ipVersions });
const elsewhere = (id: number, target: string) => client().post(`/client/virtualNode/${id}/record/cname`, { target });
const line = (kind: 'nodes' | 'virtualNodes', l = 1) => `/client/group/${groupID}/line/${l}/${kind}`;
const group = () => `g${groupID}.l.${zone}`;

async function answers(wanted: string[], ...args: string[]): Promise<void> {
  let last: string[] = [];
  const isSo = await poll(async () => String((last = await names.dig(...args))) === String(wanted), 15_000, 50);
  assert.ok(isSo, `${args.join(' ')} answers ${last.join(', ')} instead of ${wanted.join(', ')}`);
}
/** Nobody stands on any line of the group. */
async function cleared(): Promise<void> {
  for (const table of ['lineNode', 'lineVirtualNode'])
    await sql`delete from ${sql.table(table)} where "groupID" = ${groupID}`.execute(api.database.db);
  ok(await client().patch('/client/group', { id: groupID, lines: [] }));
}

test('a virtual node has a name of its own in its zone, and records: addresses of edges of that zone, or one name elsewhere', async () => {
  const id = await virtual({ name: 'taipei' });
  is(await client().post('/client/virtualNode', { zoneID, name: 'Taipei' }), 'duplicated');
  broken(await client().post('/client/virtualNode', { zoneID, name: 'default' }), 'name', 'nameForbidden');
  broken(await client().post('/client/virtualNode', { zoneID: b.zoneID, name: 'x' }), 'zoneID', 'unknown', 404);
  const one = await node(['192.0.2.1', '2001:db8::1', '192.168.1.1']);
  ok(await ofNodes(id, [one]));
  is(await ofNodes(id, [one]), 'duplicated');
  is(await ofNodes(id, [await node(['192.0.2.8'], { type: 'relay' })]), 'invalidGroupNode');
  broken(await ofNodes(id, [await node(['192.0.2.8'], { zoneID: b.zoneID })]), 'nodeIDs', 'unknown', 404);
  const { data } = await client().read(`/client/virtualNode/${id}/records`);
  assert.deepEqual(
    data.map((record: { type: string; values: string[]; nodeID: number }) => [record.type, record.values, record.nodeID]),
    [
      ['A', ['192.0.2.1', '192.168.1.1'], one],
      ['AAAA', ['2001:db8::1'], one],
    ],
  );
  // a name that leads on has nothing beside it, and leads to none of ours
  broken(await elsewhere(id, 'other.example.com'), 'target', 'cnameBesideOthers');
  const away = await virtual();
  for (const target of [zone, `g1.l.${zone}`]) broken(await elsewhere(away, target), 'target', 'cnameLoop');
  broken(await elsewhere(away, '192.0.2.1'), 'target');
  broken(await elsewhere(away, 'Upper.example.com'), 'target', 'lowerCase');
  ok(await elsewhere(away, 'other.example.com'));
  broken(await ofNodes(away, [one]), 'nodeIDs', 'cnameBesideOthers');
  broken(await elsewhere(away, 'second.example.com'), 'target', 'cnameBesideOthers');
  const found = await client().read(`/client/virtualNodes?zoneID=${zoneID}&sortBy=name&orderBy=asc`);
  assert.deepEqual(
    found.data.map((row: { kind: string; recordCount: number }) => [row.kind, row.recordCount]),
    [
      ['node', 2],
      ['cname', 1],
    ],
  );
  // nobody else's
  is(await by(api, b.client).get(`/client/virtualNode/${id}/records`), 'parameter', 404);
  is(await by(api, b.client).put('/client/virtualNode', { id, name: 'mine' }), 'parameter', 404);
});

test('what is in use stays: a node of a virtual one (202004), a virtual one of a line (206001), a group that sells layer 4 (204001)', async () => {
  const one = await node(['192.0.2.3']);
  const id = await virtual();
  ok(await ofNodes(id, [one], ['ipv4']));
  is(await client().del('/client/node', { ids: [one] }), 'nodeInVirtualNode');
  is(await client().patch('/client/node', { id: one, type: 'relay' }), 'nodeInVirtualNode');
  ok(await client().post(line('virtualNodes'), { ids: [id] }));
  const free = await virtual();
  multiple(await client().del('/client/virtualNode', { ids: [id, free] }), ['virtualNodeInUse', [`v${made - 1}`]]);
  is(await client().del('/client/zone', { ids: [zoneID] }), 'zoneHasNodes');
  const without = await client().make('/client/zone', { name: 'without-nodes' });
  await client().make('/client/virtualNode', { zoneID: without, name: 'elsewhere' });
  const refused = await client().del('/client/zone', { ids: [without] });
  is(refused, 'zoneHasNodes');
  assert.match(refused.text, /"zoneVirtualNodes".*"elsewhere"/);
  ok(await client().del(line('virtualNodes'), { ids: [id] }));
  ok(await client().del('/client/virtualNode', { ids: [id] }));
  // its records went with it
  ok(await client().del('/client/node', { ids: [one] }));
  const layered = await client().make('/client/group', { zoneID, name: 'layered' });
  const product = await client().make('/client/product', { groupID: layered, name: 'layered' });
  await sql`update product set "portType" = '7+4' where id = ${product}`.execute(api.database.db);
  is(await client().del('/client/group', { ids: [layered] }), 'layer4GroupInUse');
});

test('a virtual node stands on lines of its own zone, beside nodes; one that leads elsewhere alone in its role', async () => {
  await cleared();
  const [one, two] = [await node(['192.0.2.11']), await node(['192.0.2.12'])];
  const [ofOne, away] = [await virtual(), await virtual()];
  ok(await ofNodes(ofOne, [one], ['ipv4']));
  ok(await elsewhere(away, 'other.example.com'));
  const otherZone = await client().make('/client/zone', { name: `z${++made}` });
  const foreign = await virtual({ zoneID: otherZone });
  is(await client().post(line('virtualNodes'), { ids: [foreign] }), 'invalidGroupNode');
  ok(await client().post(line('virtualNodes'), { ids: [ofOne] }));
  ok(await client().post(line('nodes'), { ids: [two] }));
  broken(await client().post(line('virtualNodes'), { ids: [away] }), 'ids', 'cnameBesideOthers');
  ok(await client().patch(line('nodes'), { ids: [two], backup: true }));
  ok(await client().patch(line('virtualNodes'), { ids: [ofOne], backup: true }));
  ok(await client().post(line('virtualNodes'), { ids: [away] }));
  broken(await client().patch(line('virtualNodes'), { ids: [away], backup: true }), 'ids', 'cnameBesideOthers');
  broken(await client().patch(line('nodes'), { ids: [two], backup: false }), 'ids', 'cnameBesideOthers');
  // nor by a record that comes later
  const later = await virtual();
  await cleared();
  ok(await client().post(line('virtualNodes'), { ids: [later, ofOne] }));
  broken(await elsewhere(later, 'other.example.com'), 'target', 'cnameBesideOthers');
  const { data, total } = await client().read(`${line('virtualNodes')}?sortBy=name&orderBy=asc`);
  assert.equal(total, 2);
  assert.deepEqual(
    data.map((each: { UID: string; backup: boolean; kind: string }) => [each.UID, each.backup, each.kind]),
    [
      [`v-${ofOne}`, false, 'node'],
      [`v-${later}`, false, 'empty'],
    ],
  );
  const { data: groups } = await client().read(`/client/zone/${zoneID}/groups`);
  assert.equal(groups.find((each: { id: number }) => each.id === groupID).virtualNodeCount, 2);
});

test('a name elsewhere leads to no domain of a site here, whichever comes first', async () => {
  const user = by(api, a.user);
  const path = `/user/site/${a.siteID}/domains`;
  const add = (domainName: string) => user.post(path, { domains: [{ domainName, upstreams: [{ address: '192.0.2.1' }] }] });
  ok(await add('www.leads-back.test'));
  ok(await add('*.many.leads-back.test'));
  const id = await virtual();
  for (const target of ['www.leads-back.test', 'one.many.leads-back.test', 'two.one.many.leads-back.test'])
    broken(await elsewhere(id, target), 'target', 'cnameToSite');
  ok(await elsewhere(id, 'away.leads-back.test'));
  for (const [name, path] of [
    ['away.leads-back.test', 'domains.0.domainName'],
    ['*.leads-back.test', 'domains.0.domainName'],
  ] as const) {
    const reply = await add(name);
    assert.match(reply.text, /domainLedTo/);
    assert.ok(reply.text.includes(path), reply.text);
  }
  ok(await add('*.away.leads-back.test'));
  // of what another operator has nothing is told
  const b = await api.tenant('leads-b');
  ok(
    await by(api, b.user).post(`/user/site/${b.siteID}/domains`, {
      domains: [{ domainName: 'other.leads-b.test', upstreams: [{ address: '192.0.2.1' }] }],
    }),
  );
  ok(await elsewhere(await virtual(), 'other.leads-b.test'));
});

test('a line answers with the nodes of its virtual nodes, of the families that are chosen, and each as it is', async () => {
  await cleared();
  const [one, two, three] = [
    await node(['192.0.2.21', '2001:db8::21']),
    await node(['192.0.2.22', '2001:db8::22']),
    await node(['192.0.2.23']),
  ];
  const [four, six] = [await virtual(), await virtual()];
  ok(await ofNodes(four, [one, two], ['ipv4']));
  ok(await ofNodes(six, [two], ['ipv6']));
  ok(await client().post(line('virtualNodes'), { ids: [four, six] }));
  ok(await client().post(line('nodes'), { ids: [three] }));
  await answers(['192.0.2.21', '192.0.2.22', '192.0.2.23'], group(), 'A');
  await answers(['2001:db8::22'], group(), 'AAAA');
  await become(one, 'offline');
  await answers(['192.0.2.22', '192.0.2.23'], group(), 'A');
  const { data } = await client().read(`/client/group/${groupID}/answers`);
  assert.deepEqual(
    [data[0].UID, data[0].change, data[0].reason],
    [`v-${four}/n-${one}`, 'left', 'silent'],
    JSON.stringify(data.slice(0, 3)),
  );
  await become(one, 'normal');
  await answers(['192.0.2.21', '192.0.2.22', '192.0.2.23'], group(), 'A');
  ok(await client().del(line('nodes'), { ids: [three] }));
  const records = await client().read(`/client/virtualNode/${four}/records`);
  ok(await client().del(`/client/virtualNode/${four}/record`, { ids: [records.data[0].id] }));
  await answers(['192.0.2.22'], group(), 'A');
});

test('a name elsewhere is the backup of nodes: it is answered while none of them is well, over UDP and TCP', async () => {
  await cleared();
  const one = await node(['192.0.2.31', '2001:db8::31']);
  const away = await virtual();
  ok(await elsewhere(away, 'other.example.com'));
  ok(await client().post(line('nodes'), { ids: [one] }));
  broken(await client().post(line('virtualNodes'), { ids: [away] }), 'ids', 'cnameBesideOthers');
  ok(await client().post(line('virtualNodes'), { ids: [away], backup: true }));
  await answers(['192.0.2.31'], group(), 'A');
  await become(one, 'offline');
  for (const way of ['+notcp', '+tcp']) await answers(['other.example.com.'], way, group(), 'A');
  await become(one, 'normal');
  await answers(['192.0.2.31'], group(), 'A');
  await answers(['2001:db8::31'], group(), 'AAAA');
});

test('a line with addresses of one family beside a name for everybody answers no name for the other family', async () => {
  await cleared();
  const away = await virtual();
  ok(await elsewhere(away, 'other.example.com'));
  ok(await client().post(line('virtualNodes'), { ids: [away] }));
  await answers(['other.example.com.'], group(), 'A');
  await answers(['other.example.com.'], '+tcp', group(), 'AAAA');
  ok(await client().patch('/client/group', { id: groupID, lines: [{ name: 'own', cidrs: ['198.51.100.0/24'], asns: [] }] }));
  const l = (await client().read('/client/dns/lines?kind=custom')).data.find((each: { name: string }) => each.name === 'own').id;
  ok(await client().post(line('nodes', l), { ids: [await node(['192.0.2.41'])] }));
  await answers(['192.0.2.41'], '+subnet=198.51.100.7/32', group(), 'A');
  await answers(['status: NOERROR'], '+subnet=198.51.100.7/32', group(), 'AAAA');
  await answers(['other.example.com.'], '+subnet=203.0.113.7/32', group(), 'AAAA');
  await answers(['other.example.com.'], group(), 'A');
  // and a preview says so: a resolver that tells of networks tells of 24 bits, any other asks for itself
  const preview = async (asked: string) => {
    const { lineName, judged, answer } = await client().read(`/client/group/${groupID}/answer?${asked}`);
    return [lineName, judged, answer.cname ?? answer.a.join()];
  };
  assert.deepEqual(await preview('visitor=198.51.100.7&resolver=203.0.113.53'), ['own', '198.51.100.0/24', '192.0.2.41']);
  assert.deepEqual(await preview('visitor=198.51.100.7&resolver=203.0.113.53&subnet=false'), [
    'default',
    '203.0.113.53',
    'other.example.com',
  ]);
  assert.deepEqual(await preview('visitor=203.0.113.7&resolver=198.51.100.53&subnet=false'), [
    'own',
    '198.51.100.53',
    '192.0.2.41',
  ]);
  // compared with what stands there, it is as it should be
  const version = async () =>
    (await row<{ n: number }>(api.database.db, sql`select applied as n from "cnameGroup" where "groupID" = ${groupID}`))?.n;
  const before = await version();
  ok(await client().post('/client/setting/dns/recovery', {}));
  const isCompared = sql`select 1 from cname where "domainName" = ${zone} and "comparedAt" is not null`;
  assert.ok(await poll(async () => (await row(api.database.db, isCompared)) !== undefined, 15_000, 50));
  assert.equal(await version(), before);
  await answers(['status: NOERROR'], '+subnet=198.51.100.7/32', group(), 'AAAA');
});
