/** What is set of nodes and asked of them, by the calls alone: per-item answers, limits of the licence, states with their reason. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createUser } from '@nats-io/nkeys';
import { sql } from 'kysely';
import { answersOf, chosenOf } from '#server/resolution/choose.ts';
import { wantedGroups } from '#server/resolution/wanted.ts';
import { row } from '#server/store/db.ts';
import { broken, by, is, multiple, ok } from './expect.ts';
import { nodeGate } from './guards/world.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let op: ReturnType<typeof by>;
const told: number[] = [];
let isBusThere = true;
before(async () => {
  const nodes = { ...(await nodeGate(() => api)), reaches: () => isBusThere, notify: async (id: number) => void told.push(id) };
  // no other part of it is asked here
  api = await Api.start({ nodes: nodes as never });
  a = await api.tenant('a');
  op = by(api, a.client);
});
after(() => api.stop());

let made = 0;
async function node(zoneID: number | null, values: Record<string, unknown> = {}): Promise<{ id: number; name: string }> {
  const name = `n${++made}`;
  const all = {
    clientID: a.client.id,
    zoneID,
    name,
    status: 'normal',
    addresses: sql`array['198.18.${sql.raw(`${made >> 8}.${made & 255}`)}']`,
    ...values,
  };
  const found = await row<{ id: number }>(
    api.database.db,
    sql`insert into node (${sql.join(Object.keys(all).map(one => sql.ref(one)))}) values (${sql.join(Object.values(all))}) returning id`,
  );
  return { id: found!.id, name };
}
const zone = () => op.make('/client/zone', { name: `zone-${++made}` });
// oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect
const read = async (id: number): Promise<any> => (await op.read(`/client/nodes?ids=${id}`)).data[0];

test('memo, windows and log times are set of many nodes at once, each by itself', async () => {
  const zoneID = await zone();
  const [one, two] = [await node(zoneID), await node(null)];
  const ids = [one.id, two.id];
  ok(await op.put('/client/nodes/memo', { ids, memo: 'rack 7' }));
  ok(await op.put('/client/nodes/geneva', { ids, geneva: { version: 'v2', window: 1 } }));
  ok(await op.put('/client/nodes/log/rotate/time', { ids, logRotateTime: 3600 }));
  const { memo, geneva, logRotateTime } = await read(one.id);
  assert.deepEqual([memo, geneva, logRotateTime], ['rack 7', { version: 'v2', window: 1 }, 3600]);
  multiple(await op.put('/client/nodes/memo', { ids: [one.id, 999_999], memo: '' }), ['parameter', ['999999']]);
  assert.equal((await read(one.id)).memo, '');
  ok(await op.put('/client/nodes/log/rotate/time', { ids, logRotateTime: 0 }));
  broken(await op.put('/client/nodes/log/rotate/time', { ids, logRotateTime: 59 }), 'logRotateTime', 'tooSmall');
  broken(await op.put('/client/nodes/geneva', { ids, geneva: { version: 'v3', window: 1 } }), 'geneva.version');
  broken(await op.put('/client/nodes/geneva', { ids, geneva: { version: 'v1', window: 0 } }), 'geneva.window');
  const waiting = await row<{ n: number }>(
    api.database.db,
    sql`select count(*)::int as n from outbox where kind = 'node' and "entityID" = ${one.id}`,
  );
  assert.ok(waiting!.n > 0, 'its document is made anew');
});

test('five hundred nodes are one call', async () => {
  const zoneID = await zone();
  const ids: number[] = [];
  for (let i = 0; i < 500; i++) ids.push((await node(zoneID)).id);
  ok(await op.put('/client/nodes/geneva', { ids, geneva: { version: 'v1', window: 10 } }));
  multiple(await op.put('/client/nodes/memo', { ids: [...ids, 999_998], memo: 'all' }), ['parameter', ['999998']]);
  const { n } = (await row<{ n: number }>(
    api.database.db,
    sql`select count(*)::int as n from node where "zoneID" = ${zoneID} and geneva->>'window' = '10' and memo = 'all'`,
  ))!;
  assert.equal(n, 500);
});

test('layer 4: what the licence does not allow is 101023; a node that sites need for it stays: 202005', async () => {
  const zoneID = await zone();
  const groupID = await op.make('/client/group', { zoneID, name: `group-${++made}` });
  const [used, free] = [await node(zoneID), await node(zoneID)];
  ok(await op.put('/client/nodes/portType', { ids: [used.id, free.id], portType: '7+4' }));
  assert.equal((await read(used.id)).portType, '7+4');
  ok(await op.post(`/client/group/${groupID}/line/1/nodes`, { ids: [used.id] }));
  const productID = await op.make('/client/product', { name: `product-${++made}`, groupID });
  await sql`update product set "portType" = '7+4' where id = ${productID}`.execute(api.database.db);
  await sql`insert into site ("clientID", "userID", "siteName", "productID") select "clientID", "userID", 'four', ${productID} from site where id = ${a.siteID}`.execute(
    api.database.db,
  );
  await sql`insert into port ("siteID", port, scheme) select id, 25565, 'tcp' from site where "siteName" = 'four'`.execute(
    api.database.db,
  );
  is(await op.put('/client/nodes/portType', { ids: [used.id], portType: '7' }), 'portType4InUse');
  multiple(await op.put('/client/nodes/portType', { ids: [used.id, free.id], portType: '7' }), ['portType4InUse', [used.name]]);
  assert.deepEqual([(await read(used.id)).portType, (await read(free.id)).portType], ['7+4', '7']);
  // so does one that answers there through a virtual node alone
  ok(await op.put('/client/nodes/portType', { ids: [free.id], portType: '7+4' }));
  const virtual = await op.make('/client/virtualNode', { zoneID, name: `virtual-${++made}` });
  ok(await op.post(`/client/virtualNode/${virtual}/record/node`, { nodeIDs: [free.id], ipVersions: ['ipv4'] }));
  ok(await op.post(`/client/group/${groupID}/line/1/virtualNodes`, { ids: [virtual] }));
  is(await op.put('/client/nodes/portType', { ids: [free.id], portType: '7' }), 'portType4InUse');
  ok(await op.del(`/client/group/${groupID}/line/1/virtualNodes`, { ids: [virtual] }));
  ok(await op.put('/client/nodes/portType', { ids: [free.id], portType: '7' }));
  await sql`insert into "licenseOrder" ("clientID", kind, "portType") values (${a.client.id}, 'order', '7')`.execute(
    api.database.db,
  );
  is(await op.put('/client/nodes/portType', { ids: [free.id], portType: '7+4' }), 'illegalPortType');
  await sql`delete from "licenseOrder"`.execute(api.database.db);
});

test('nodes move to another zone and are told so; one in a group stays: 202003, one without a zone is refused with a sentence', async () => {
  const [from, to] = [await zone(), await zone()];
  const [held, free, waiting] = [await node(from), await node(from), await node(null)];
  const groupID = await op.make('/client/group', { zoneID: from, name: `group-${++made}` });
  ok(await op.post(`/client/group/${groupID}/line/1/nodes`, { ids: [held.id] }));
  told.length = 0;
  multiple(
    await op.post('/client/node/moveToZone', { nodeIDs: [held.id, free.id, waiting.id], zoneID: to }),
    ['nodeInGroup', [held.name]],
    ['parameter', [waiting.name]],
  );
  assert.deepEqual([(await read(held.id)).zoneID, (await read(free.id)).zoneID], [from, to]);
  assert.deepEqual(told, [free.id]);
  is(await op.post('/client/node/moveToZone', { nodeIDs: [held.id], zoneID: to }), 'nodeInGroup');
  broken(await op.post('/client/node/moveToZone', { nodeIDs: [free.id], zoneID: 999_999 }), 'zoneID', 'unknown', 404);
  const other = await api.tenant('b');
  broken(await op.post('/client/node/moveToZone', { nodeIDs: [free.id], zoneID: other.zoneID }), 'zoneID', 'unknown', 404);
});

test('an address leads to one node: what is another’s, or its sub-node’s, is refused', async () => {
  const zoneID = await zone();
  const [one, two, elsewhere] = [await node(zoneID), await node(zoneID), await node(await zone())];
  const add = (to: { id: number }, address: string) => op.post(`/client/node/${to.id}/subs`, { subs: [{ address }] });
  for (const address of ['10.1.2.3', '9.9.9.9', '2620:fe::9']) ok(await add(one, address));
  for (const address of ['10.1.2.3', '9.9.9.9', '2620:00fe::9', (await read(one.id)).addresses[0]])
    is(await add(two, address), 'duplicated');
  is(await add(elsewhere, '9.9.9.9'), 'duplicated');
  ok(await add(elsewhere, '10.1.2.3'));
  const other = await api.tenant('subs');
  const theirs = by(api, other.client);
  const [{ id }] = (
    await sql<{
      id: number;
    }>`insert into node ("clientID", "zoneID", name) values (${other.client.id}, ${other.zoneID}, 'x') returning id`.execute(
      api.database.db,
    )
  ).rows as [{ id: number }];
  // of another operator nothing is said
  ok(await theirs.post(`/client/node/${id}/subs`, { subs: [{ address: '9.9.9.9' }] }));
  ok(await op.del('/client/node', { ids: [one.id] }));
  ok(await add(two, '9.9.9.9'));
});

test('sub-nodes are further addresses, each once, in one form', async () => {
  const { id } = await node(await zone());
  const path = `/client/node/${id}/subs`;
  const { ids } = ok(
    await op.post(path, { subs: [{ address: '203.0.113.7' }, { address: '2001:DB8:0::1', listen: true, memo: 'six' }] }),
  ).body;
  const { data } = await op.read(`${path}?sortBy=address&orderBy=asc`);
  assert.deepEqual(
    data.map((sub: { UID: string; address: string; listen: boolean }) => [sub.UID, sub.address, sub.listen]),
    [
      [`${id}-${ids[1]}`, '2001:db8::1', true],
      [`${id}-${ids[0]}`, '203.0.113.7', false],
    ],
  );
  assert.deepEqual(
    (await read(id)).subs.map((sub: { UID: string }) => sub.UID),
    ids.map((one: number) => `${id}-${one}`),
  );
  is(await op.post(path, { subs: [{ address: '203.0.113.7' }] }), 'duplicated');
  is(await op.post(path, { subs: [{ address: (await read(id)).addresses[0] }] }), 'duplicated');
  multiple(await op.post(path, { subs: [{ address: '203.0.113.8' }, { address: '2001:db8:0:0::1' }] }), [
    'duplicated',
    ['2001:db8:0:0::1'],
  ]);
  for (const address of ['0.0.0.0', '224.0.0.1', 'fe80::1', 'edge.test', '203.0.113.0/24'])
    broken(await op.post(path, { subs: [{ address }] }), 'subs.0.address');
  ok(await op.del(path, { ids: [ids[0]] }));
  assert.equal((await op.read(path)).total, 2);
  ok(await op.post(path, { subs: [{ address: '203.0.113.7' }] }));
  is(await by(api, (await api.tenant('c')).client).get(path), 'parameter', 404);
});

test('a line answers with main nodes that are well; paused nodes and backups only where none is', async () => {
  const zoneID = await zone();
  const groupID = await op.make('/client/group', { zoneID, name: `group-${++made}` });
  const heard = { lastBeat: sql`clock_timestamp()` };
  const [main, paused] = [await node(zoneID, heard), await node(zoneID, heard)];
  ok(await op.post(`/client/group/${groupID}/line/1/nodes`, { ids: [main.id, paused.id] }));
  ok(await op.patch('/client/node/status', { ids: [paused.id], status: 'paused' }));
  ok(await op.post(`/client/node/${paused.id}/subs`, { subs: [{ address: '203.0.113.99' }] }));
  const lineOf = async () => (await wantedGroups(api.database.db)).find(one => one.groupID === groupID)!.lines[0]!;
  const answers = async () => chosenOf(await lineOf(), undefined).members.map(one => one.UID);
  const become = (id: number, status: string, beat = '{}') =>
    sql`update node set status = ${status}, beat = ${beat}::jsonb, "lastBeat" = clock_timestamp() where id = ${id}`.execute(
      api.database.db,
    );
  const [mainUID, pausedUID] = [`n-${main.id}`, `n-${paused.id}`];
  assert.deepEqual(await answers(), [mainUID]);
  const backups = async () => [(await read(main.id)).backup, (await read(paused.id)).backup];
  assert.deepEqual(await backups(), [false, true]);
  ok(await op.patch(`/client/group/${groupID}/line/1/nodes`, { ids: [main.id], backup: true }));
  assert.deepEqual(await backups(), [true, true]);
  ok(await op.patch(`/client/group/${groupID}/line/1/nodes`, { ids: [main.id], backup: false }));
  const { lines } = answersOf([await lineOf()], []);
  await become(main.id, 'offline');
  await become(paused.id, 'paused');
  assert.deepEqual(await answers(), [pausedUID]);
  const { lines: now, changes } = answersOf([await lineOf()], lines);
  assert.deepEqual(now[0]!.a, [(await read(paused.id)).addresses[0], '203.0.113.99'].sort(), 'with its sub-node');
  assert.deepEqual(
    changes.map(({ UID, reason }) => [UID, reason]),
    [
      [mainUID, 'silent'],
      [pausedUID, 'mainsAway'],
    ],
  );
  await become(main.id, 'normal');
  assert.deepEqual(
    answersOf([await lineOf()], now).changes.map(({ UID, reason }) => [UID, reason]),
    [
      [pausedUID, 'paused'],
      [mainUID, 'well'],
    ],
  );
  await become(main.id, 'offline');
  await become(paused.id, 'paused', '{"problem": "the disk is full"}');
  assert.deepEqual(await answers(), [mainUID], 'one that is paused and not well takes nobody’s place');
  await become(paused.id, 'paused');
  await sql`update node set "lastBeat" = now() - interval '1 minute' where id = ${paused.id}`.execute(api.database.db);
  assert.deepEqual(await answers(), [mainUID], 'nor does one that is paused and silent');
  assert.deepEqual(
    (await lineOf()).members.map(({ UID, trouble }) => [UID, trouble]),
    [
      [mainUID, 'silent'],
      [pausedUID, 'silent'],
    ],
  );
  await become(main.id, 'normal');
  await become(paused.id, 'paused');
  ok(await op.patch('/client/node', { id: paused.id, forceBackup: true }));
  assert.deepEqual(await answers(), [mainUID, pausedUID]);
  await become(paused.id, 'paused', '{"problem": "the disk is full"}');
  assert.deepEqual(await answers(), [mainUID]);
});

test('a node says since when it is in its state and why, as far as anybody knows', async () => {
  const zoneID = await zone();
  const { id } = await node(zoneID, { status: 'unknown' });
  const state = async () => {
    const { status, statusSince, statusReason } = await read(id);
    return { status, statusSince, reason: statusReason?.reason, detail: statusReason?.detail };
  };
  assert.deepEqual(await state(), { status: 'unknown', statusSince: null, reason: 'noWord', detail: '' });
  const become = (status: string, beat: object = {}) =>
    sql`update node set status = ${status}, beat = ${JSON.stringify(beat)}::jsonb, "busProblem" = 'it flooded the bus' where id = ${id}`.execute(
      api.database.db,
    );
  await become('normal');
  const { statusSince } = await state();
  assert.ok(Date.parse(statusSince) > Date.now() - 60_000);
  assert.equal((await state()).reason, undefined);
  await become('normal');
  assert.equal((await state()).statusSince, statusSince, 'nothing changed');
  const reasons: [string, object, string, string][] = [
    ['error', { problem: 'the disk is full' }, 'problem', 'the disk is full'],
    ['error', { problem: 'the disk is full', clockMs: -3_600_000 }, 'clock', '-3600'],
    ['error', {}, 'behind', ''],
    ['offline', {}, 'silent', ''],
    ['reconnect', {}, 'reconnecting', ''],
    ['natsError', {}, 'cutOff', 'it flooded the bus'],
    ['paused', {}, 'byOperator', ''],
  ];
  for (const [status, beat, reason, detail] of reasons) {
    await become(status, beat);
    const now = await state();
    assert.deepEqual([now.status, now.reason, now.detail], [status, reason, detail]);
  }
  assert.notEqual((await state()).statusSince, statusSince);
});

test('what a node says of its machine is told as lines, and nothing of it breaks them', async () => {
  const machine = {
    cores: 4,
    cpuPercent: 12.5,
    load: [1, 2, 3],
    requests: 7,
    cpu: 'x\nstatus=normal',
    surprise: 1,
    memoryBytes: 8e9,
  };
  const { id } = await node(await zone(), {
    status: 'error',
    lastBeat: sql`clock_timestamp()`,
    beat: sql`${JSON.stringify({ machine, clockMs: -250 })}::jsonb`,
  });
  const reply = ok(await op.get(`/client/node/${id}/node-info`));
  const lines = reply.text.trimEnd().split('\n');
  assert.deepEqual(lines.slice(0, -1), [
    'status=error',
    'cpuPercent=12.5',
    'cores=4',
    'load1=1',
    'load5=2',
    'load15=3',
    'memoryBytes=8000000000',
    'requests=7',
  ]);
  assert.match(lines.at(-1)!, /^at=\d{4}-/);
  const system = ok(await op.get(`/client/node/${id}/system`)).body;
  assert.deepEqual([system.cores, system.clockMs, system.kernel], [4, -250, null]);
  is(await op.get(`/client/node/${(await node(null)).id}/node-info`), 'nodeCommunication');
  is(await op.get('/client/node/999999/system'), 'parameter', 404);
  is(await by(api, (await api.tenant('d')).client).get(`/client/node/${id}/node-info`), 'parameter', 404);
});

test('health: how the control plane is, and how many nodes of mine are in which state', async () => {
  const b = await api.tenant('e');
  const them = by(api, b.client);
  const before = ok(await them.get('/client/health')).body;
  assert.match(before.version, /^\d+\.\d+\.\d+/);
  const count = (body: { nodes: { status: string; count: number }[] }, status: string) =>
    body.nodes.find(one => one.status === status)?.count ?? 0;
  await sql`insert into node ("clientID", "zoneID", name, status) values (${b.client.id}, ${b.zoneID}, 'x', 'offline'), (${b.client.id}, null, 'y', 'normal')`.execute(
    api.database.db,
  );
  const now = ok(await them.get('/client/health')).body;
  assert.deepEqual(
    [count(now, 'offline'), count(now, 'uninitialized')],
    [count(before, 'offline') + 1, count(before, 'uninitialized') + 1],
  );
});

test('a licence bounds nodes: no join line and no machine beyond it, two at once neither; a lost answer is given again', async () => {
  const b = await api.tenant('f');
  const them = by(api, b.client);
  const count = async () =>
    (await row<{ n: number }>(
      api.database.db,
      sql`select count(*)::int as n from node where "clientID" = ${b.client.id} and "deletedAt" is null`,
    ))!.n;
  const limit = (nodes: number) =>
    sql`insert into "licenseOrder" ("clientID", kind, "nodeLimit") values (${b.client.id}, 'order', ${nodes})
      on conflict ("clientID") do update set "nodeLimit" = excluded."nodeLimit"`.execute(api.database.db);
  const n = await count();
  await limit(n + 1);
  const token = async () => ok(await them.post('/client/nodes/joinToken', {})).body.token as string;
  const tokens = [await token(), await token()];
  const join = (text: string, publicKey: string) =>
    api.call('POST', '/node/join', { body: { token: text, publicKey, name: 'm', addresses: [], version: '1' } });
  const keys = tokens.map(() => createUser().getPublicKey());
  const answers = await Promise.all(tokens.map((text, i) => join(text, keys[i]!)));
  assert.deepEqual(answers.map(one => one.status).sort(), [200, 409]);
  const won = answers.findIndex(one => one.status === 200);
  is(answers[1 - won]!, 'nodesExceeded');
  assert.equal(await count(), n + 1);
  ok(await join(tokens[won]!, keys[won]!));
  is(await them.post('/client/nodes/joinToken', {}), 'nodesExceeded');
  await limit(0);
  ok(await join(tokens[1 - won]!, keys[1 - won]!));
  assert.equal(await count(), n + 2);
});

test('without the bus no command is begun: 101007; with it of a node that is away 202001', async () => {
  const zoneID = await zone();
  const [here, away] = [await node(zoneID), await node(zoneID, { status: 'offline' })];
  isBusThere = false;
  for (const path of ['/client/node/reboot', '/client/node/reset', '/client/nodes/log/rotate'])
    is(await op.post(path, { ids: [here.id] }), 'proxyConnectionFailed');
  for (const path of ['/client/node/currentCache', '/client/node/cache'])
    is(await op.del(path, { ids: [here.id] }), 'proxyConnectionFailed');
  isBusThere = true;
  is(await op.post('/client/node/reboot', { ids: [away.id] }), 'nodeCommunication');
  ok(await op.post('/client/node/reboot', { ids: [here.id] }));
});
