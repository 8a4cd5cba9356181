/** Zones, groups with their lines, and nodes: the odd rules, over HTTP. */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { after, before, describe, test } from 'node:test';
import { createUser } from '@nats-io/nkeys';
import { sql } from 'kysely';
import { renewalText } from '#server/bus/join-token.ts';
import { sha256 } from '#server/kit/crypto.ts';
import { row } from '#server/store/db.ts';
import { broken, by, is, mark, multiple, ok } from './expect.ts';
import { nodeGate } from './guards/world.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let op: ReturnType<typeof by>;
const told: number[] = [];
before(async () => {
  const never = () => Promise.reject(new Error('not asked'));
  api = await Api.start({
    nodes: { join: never, renew: never, isExpected: never, isOurs: never, notify: async id => void told.push(id) },
  });
  a = await api.tenant('a');
  op = by(api, a.client);
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

let serial = 0;
/** A node that has joined; in a zone, or waiting for one. */
async function node(zoneID: number | null, status = 'normal'): Promise<number> {
  const made = await row<{ id: number }>(
    api.database.db,
    sql`insert into node ("clientID", "zoneID", name, status, "publicKey") values (${a.client.id}, ${zoneID}, ${`node-${++serial}`}, ${status}, ${`U${serial}`}) returning id`,
  );
  return made!.id;
}
const nodeRow = async (id: number) =>
  (await row<{ zoneID: number | null; status: string; name: string }>(
    api.database.db,
    sql`select * from node where id = ${id}`,
  ))!;
const zone = (name = `zone-${++serial}`) => op.make('/client/zone', { name });

describe('zones', () => {
  test('a name is taken once per operator, whatever its case, until its zone is gone', async () => {
    const id = await zone('Taken');
    is(await op.post('/client/zone', { name: 'taken' }), 'zoneNameExists');
    const other = await zone();
    is(await op.put('/client/zone', { id: other, name: 'TAKEN' }), 'zoneNameExists');
    const b = await api.tenant('zones-b');
    assert.ok(await by(api, b.client).make('/client/zone', { name: 'Taken' }));
    ok(await op.del('/client/zone', { ids: [id] }));
    ok(await op.put('/client/zone', { id: other, name: 'taken' }));
  });

  test('names are letters, digits and hyphens, and not the word default', async () => {
    broken(await op.post('/client/zone', { name: 'a b' }), 'name', 'nameFormat');
    broken(await op.post('/client/zone', { name: 'Default' }), 'name', 'nameForbidden');
    broken(await op.post('/client/zone', { name: '' }), 'name', 'required');
    broken(await op.post('/client/zone', { name: 'x'.repeat(65) }), 'name', 'tooLong');
  });

  test('one with nodes or groups stays: 201001, 203001; the others of the call go', async () => {
    const [empty, withNode, withGroup] = [await zone('empty'), await zone('with-node'), await zone('with-group')];
    await node(withNode);
    await op.make('/client/group', { zoneID: withGroup, name: 'g' });
    is(await op.del('/client/zone', { ids: [withNode] }), 'zoneHasNodes');
    is(await op.del('/client/zone', { ids: [withGroup] }), 'groupActive');
    multiple(
      await op.del('/client/zone', { ids: [withNode, empty, withGroup, empty] }),
      ['zoneHasNodes', ['with-node']],
      ['groupActive', ['with-group']],
    );
    broken(await op.put('/client/zone', { id: empty, memo: 'x' }), 'id', 'unknown', 404);
    ok(await op.put('/client/zone', { id: withNode, memo: 'still here' }));
  });

  test('one that is gone already keeps no other from being deleted', async () => {
    const id = await zone();
    multiple(await op.del('/client/zone', { ids: [id, 77_777_777] }), ['parameter', ['77777777']]);
    broken(await op.put('/client/zone', { id, memo: 'here' }), 'id', 'unknown', 404);
  });

  test('counts nodes and sites; a change is put into the outbox with a new revision', async () => {
    const id = await zone();
    await node(id);
    await node(id, 'offline');
    const list = await op.read('/client/zones?pageSize=500');
    const found = list.data.find((one: { id: number }) => one.id === id);
    assert.deepEqual([found.nodeCount, found.normalCount, found.siteCount], [2, 1, 0]);
    const since = await mark(api);
    ok(await op.put('/client/zone', { id, memo: 'new' }));
    const [line] = await since.outbox();
    assert.deepEqual([line?.kind, line?.entityID], ['zone', id]);
    // the same again changes nothing
    ok(await op.put('/client/zone', { id, memo: 'new' }));
    assert.equal((await since.outbox()).length, 1);
  });

  test('a sub-account sees the zones it was given, and those it makes', async () => {
    const sub = await api.account('client', 'zones-sub@test.test', {
      rootID: a.client.id,
      keys: ['zones.view', 'zones.edit', 'groups.view', 'nodes.view', 'products.view'],
    });
    const its = by(api, sub);
    assert.equal((await its.read('/client/zones')).total, 0);
    const own = await its.make('/client/zone', { name: 'own-zone' });
    assert.deepEqual(
      (await its.read('/client/metaZones')).map((one: { id: number }) => one.id),
      [own],
    );
    await sql`insert into "zoneAccount" values (${a.zoneID}, ${sub.id})`.execute(api.database.db);
    assert.equal((await its.read('/client/zones')).total, 2);
    assert.equal((await its.read(`/client/zone/${a.zoneID}/groups`)).total, 1);
    assert.equal((await its.read('/client/products')).total, 1);
    // nodes that wait for a zone are the root's business
    await node(null);
    assert.equal((await its.read('/client/nodes/uninitialized')).total, 0);
    assert.ok((await op.read('/client/nodes/uninitialized')).total >= 1);
  });
});

describe('groups and their lines', () => {
  test('a name is taken once per zone', async () => {
    const [one, two] = [await zone(), await zone()];
    await op.make('/client/group', { zoneID: one, name: 'same' });
    is(await op.post('/client/group', { zoneID: one, name: 'SAME' }), 'duplicated');
    const id = await op.make('/client/group', { zoneID: two, name: 'same' });
    const other = await op.make('/client/group', { zoneID: two, name: 'other' });
    is(await op.patch('/client/group', { id: other, name: 'same' }), 'duplicated');
    ok(await op.patch('/client/group', { id, name: 'renamed', memo: 'm' }));
    assert.deepEqual(
      (await op.read(`/client/metaGroups?zoneID=${two}`)).map((one_: { name: string }) => one_.name),
      ['other', 'renamed'],
    );
    assert.equal((await op.read('/client/metaGroups?keyword=renam')).length, 1);
  });

  test('one that a product answers from stays: 203001; its lines go with it', async () => {
    const zoneID = await zone();
    const used = await op.make('/client/group', { zoneID, name: 'used' });
    const free = await op.make('/client/group', { zoneID, name: 'free' });
    await op.make('/client/product', { groupID: used, name: `product-${++serial}` });
    const nodeID = await node(zoneID);
    ok(await op.post(`/client/group/${free}/line/1/nodes`, { ids: [nodeID] }));
    ok(await op.patch('/client/group', { id: free, lines: [{ name: 'own', cidrs: ['198.51.100.0/24'], asns: [] }] }));
    const own = (await op.read('/client/dns/lines')).data.find((line: { name: string }) => line.name === 'own').id;
    ok(await op.post(`/client/group/${free}/line/${own}/nodes`, { ids: [nodeID] }));
    is(await op.del('/client/group', { ids: [used] }), 'groupActive');
    const since = await mark(api);
    multiple(await op.del('/client/group', { ids: [used, free] }), ['groupActive', ['used']]);
    // each row that went stands in the line of the audit
    const told = (await since.audits())[0]!.changes as { table: string; id: number; before?: object }[];
    const gone = told.map(({ table, id, before }) => (table === 'lineNode' ? before : [table, id]));
    const expected = [{ line: 1, nodes: [nodeID] }, { line: own, nodes: [nodeID] }, ['line', own], ['group', free]];
    assert.deepEqual(
      expected.filter(one => !gone.some(each => isDeepStrictEqual(each, one))),
      [],
    );
    ok(await op.del('/client/node', { ids: [nodeID] }));
  });

  test('a line answers with nodes of its own zone: 203005', async () => {
    const zoneID = await zone();
    const groupID = await op.make('/client/group', { zoneID, name: 'lines' });
    const [one, two, foreign] = [await node(zoneID), await node(zoneID), await node(a.zoneID)];
    const path = `/client/group/${groupID}/line/1/nodes`;
    is(await op.post(path, { ids: [one, foreign] }), 'invalidGroupNode');
    assert.equal((await op.read(path)).total, 0);
    ok(await op.post(path, { ids: [one, two] }));
    ok(await op.post(path, { ids: [one] }));
    const since = await mark(api);
    ok(await op.patch(path, { ids: [two], backup: true }));
    assert.equal((await since.audits())[0]?.changes[0]?.table, 'lineNode');
    const { data, total } = await op.read(path);
    assert.equal(total, 2);
    assert.deepEqual(
      data.map((n: { UID: string; backup: boolean }) => [n.UID, n.backup]).sort(),
      [
        [`n-${one}`, false],
        [`n-${two}`, true],
      ].sort(),
    );
    // not on the line, or on none of this zone
    broken(await op.patch(path, { ids: [await node(zoneID)], backup: true }), 'ids', 'unknown', 404);
    is(await op.patch(path, { ids: [foreign], backup: true }), 'invalidGroupNode');
    broken(await op.get(`/client/group/${groupID}/line/99/nodes`), 'l', 'unknown', 404);
    assert.equal((await op.read(`/client/nodes?groupID=${groupID}`)).total, 2);
    ok(await op.del(path, { ids: [one, foreign] }));
    assert.equal((await op.read(path)).total, 1);
    assert.deepEqual(
      (await op.read('/client/dns/lines?kind=default')).data.map((line: { id: number; kind: string }) => [line.id, line.kind]),
      [[1, 'default']],
    );
  });
});

describe('nodes', () => {
  test('in a group they stay: 202003, in a bulk call only those', async () => {
    const zoneID = await zone();
    const groupID = await op.make('/client/group', { zoneID, name: 'holds' });
    const [held, free] = [await node(zoneID), await node(zoneID)];
    ok(await op.post(`/client/group/${groupID}/line/1/nodes`, { ids: [held] }));
    const name = (await nodeRow(held)).name;
    is(await op.post('/client/nodes/deinitialize', { ids: [held] }), 'nodeInGroup');
    is(await op.del('/client/node', { ids: [held] }), 'nodeInGroup');
    multiple(await op.post('/client/nodes/deinitialize', { ids: [held, free] }), ['nodeInGroup', [name]]);
    assert.equal((await nodeRow(free)).zoneID, null);
    const [other] = [await node(zoneID)];
    multiple(await op.del('/client/node', { ids: [other, held] }), ['nodeInGroup', [name]]);
    broken(await op.patch('/client/node', { id: other, memo: 'x' }), 'id', 'unknown', 404);
  });

  test('are initialized into a zone once, and told to fetch their credentials', async () => {
    const [one, two] = [await zone(), await zone()];
    const [waiting, placed] = [await node(null, 'unknown'), await node(one)];
    told.length = 0;
    multiple(await op.post('/client/nodes/initialize', { ids: [waiting, placed], zoneID: two }), [
      'parameter',
      [(await nodeRow(placed)).name],
    ]);
    assert.deepEqual([(await nodeRow(waiting)).zoneID, (await nodeRow(placed)).zoneID], [two, one]);
    assert.deepEqual(told, [waiting]);
    broken(await op.post('/client/nodes/initialize', { ids: [placed], zoneID: two }), '', 'refused');
    // again into the same zone: as wished already
    ok(await op.post('/client/nodes/initialize', { ids: [waiting], zoneID: two }));
    ok(await op.post('/client/nodes/deinitialize', { ids: [waiting] }));
    is(await op.post('/client/nodes/deinitialize', { ids: [waiting] }), 'parameter');
    assert.deepEqual(told, [waiting, waiting]);
  });

  test('are paused and resumed; the heartbeat says what they are after that', async () => {
    const zoneID = await zone();
    const [running, waiting] = [await node(zoneID), await node(null)];
    const set = (ids: number[], status: string) => op.patch('/client/node/status', { ids, status });
    ok(await set([running], 'normal'));
    assert.equal((await nodeRow(running)).status, 'normal');
    ok(await set([running], 'paused'));
    ok(await set([running], 'paused'));
    assert.equal((await nodeRow(running)).status, 'paused');
    ok(await set([running], 'normal'));
    assert.equal((await nodeRow(running)).status, 'unknown');
    broken(await set([waiting], 'paused'), '', 'refused');
    multiple(await set([waiting, running], 'paused'), ['parameter', [(await nodeRow(waiting)).name]]);
    broken(await set([running], 'offline'), 'status', 'invalidChoice');
  });

  test('lists: those with a zone, those without, by zone, status and word', async () => {
    const zoneID = await zone();
    const id = await node(zoneID, 'error');
    await node(zoneID);
    const waiting = await node(null);
    ok(await op.patch('/client/node', { id, memo: 'in the cellar' }));
    assert.equal((await op.read(`/client/nodes?zoneID=${zoneID}`)).total, 2);
    assert.equal((await op.read(`/client/zone/${zoneID}/nodes`)).total, 2);
    assert.equal((await op.read(`/client/nodes?zoneID=${zoneID}&status=error`)).data[0].id, id);
    assert.equal((await op.read('/client/nodes?keyword=CELLAR')).data[0].id, id);
    assert.equal((await op.read('/client/nodes?keyword=%25')).total, 0);
    assert.ok((await op.read('/client/nodes/uninitialized?pageSize=500')).data.some((n: { id: number }) => n.id === waiting));
    assert.ok(!(await op.read('/client/nodes/initialized?pageSize=500')).data.some((n: { id: number }) => n.id === waiting));
    assert.equal((await op.read(`/client/metaNodes?zoneID=${zoneID}`)).length, 2);
    broken(await op.get('/client/nodes?status=melted'), 'status', 'invalidChoice');
  });

  test('a join token is shown once and kept as its hash', async () => {
    const reply = ok(await op.post('/client/nodes/joinToken', { name: 'new-node', zoneID: a.zoneID }));
    const { token, command, expiredAt } = reply.body;
    assert.equal(command, '', 'no machine elsewhere reaches this installation');
    assert.ok(Date.parse(expiredAt) > Date.now() + 23 * 3_600_000);
    const stored = await row<{ text: string }>(
      api.database.db,
      sql`select to_jsonb(t)::text || coalesce((select string_agg(to_jsonb(u)::text, '') from audit u), '') as text from "joinToken" t limit 1`,
    );
    assert.ok(stored && !stored.text.includes(token));
  });

  test('a machine joins with its token, once, and renews by its own key', async () => {
    const joining = await Api.start({ nodes: await nodeGate(() => api) }, {}, api.database.url);
    try {
      const user = createUser();
      const post = (path: string, body: object) => joining.call('POST', path, { body });
      const body = { token: '', name: 'machine', publicKey: user.getPublicKey(), addresses: ['192.0.2.7'], version: '1' };
      const newToken = async () =>
        (await op.post('/client/nodes/joinToken', { name: 'named', zoneID: a.zoneID })).body.token as string;
      is(await post('/node/join', { ...body, token: 'no such token' }), 'invalidToken');
      broken(await post('/node/join', { ...body, token: await newToken(), publicKey: 'nonsense' }), 'publicKey', 'wrongFormat');
      const late = await newToken();
      await sql`update "joinToken" set "expiredAt" = now() - interval '1 minute' where hash = ${sha256(late)}`.execute(
        api.database.db,
      );
      is(await post('/node/join', { ...body, token: late }), 'tokenExpired');
      const token = await newToken();
      const { nodeID, zoneID, jwt } = ok(await post('/node/join', { ...body, token })).body;
      assert.equal(zoneID, a.zoneID);
      assert.ok(jwt.length > 100);
      assert.equal((await nodeRow(nodeID)).name, 'named');
      // its answer may have been lost; another machine gets nothing for the same token
      assert.equal((await post('/node/join', { ...body, token })).body.nodeID, nodeID);
      is(await post('/node/join', { ...body, token, publicKey: createUser().getPublicKey() }), 'invalidToken');

      const renew = (time: number, id = nodeID) =>
        post('/node/credentials', {
          nodeID: id,
          time,
          signature: Buffer.from(user.sign(new TextEncoder().encode(renewalText(id, time)))).toString('base64'),
        });
      assert.equal((await renew(Date.now())).body.nodeID, nodeID);
      is(await renew(Date.now() - 600_000), 'invalidNodeTime');
      is(await post('/node/credentials', { nodeID, time: Date.now(), signature: 'AAAA' }), 'invalidToken');
      // a node that is not there reads like a wrong signature
      const other = await node(a.zoneID);
      const replies = [await renew(Date.now(), other), await renew(Date.now(), 77_777_777)];
      for (const reply of replies) is(reply, 'invalidToken');
      assert.equal(replies[0]!.text, replies[1]!.text);
      ok(await op.del('/client/node', { ids: [nodeID] }));
      is(await renew(Date.now()), 'invalidToken');
    } finally {
      await joining.stop();
    }
  });

  test('a join token is worth what its maker may do when a machine comes with it', async () => {
    const joining = await Api.start({ nodes: await nodeGate(() => api) }, {}, api.database.url);
    try {
      const { db } = api.database;
      const b = await api.tenant('joins-b');
      const owner = by(api, b.client);
      const join = (token: string) =>
        joining.call('POST', '/node/join', {
          body: { token, name: 'm', publicKey: createUser().getPublicKey(), addresses: ['192.0.2.8'], version: '1' },
        });
      /** A colleague with a token for the zone, made by way of the API. */
      const colleague = async () => {
        const keys = ['nodes.edit', 'nodes.view', 'roles.edit', 'zones.view', 'accounts.edit'];
        const place = { rootID: b.client.id, parentID: b.client.id, keys };
        const person = await api.account('client', `joins-${++serial}@test.test`, place);
        await sql`insert into "zoneAccount" values (${b.zoneID}, ${person.id})`.execute(db);
        const reply = ok(await by(api, person).post('/client/nodes/joinToken', { zoneID: b.zoneID }));
        return { id: person.id, token: reply.body.token as string };
      };
      const roleID = async (id: number) =>
        (await row<{ roleID: number }>(db, sql`select "roleID" from account where id = ${id}`))!.roleID;
      const nothing = { name: `nothing-${++serial}`, permissionKeys: ['nodes.view'] };
      const ways: Record<string, (id: number) => Promise<unknown>> = {
        deleted: async id => ok(await owner.del('/client/account', { ids: [id] })),
        locked: async id => ok(await owner.put('/client/account', { id, status: 'lock' })),
        'its role narrowed': async id => ok(await owner.put(`/client/role/${await roleID(id)}`, nothing)),
        'its role removed': async id => ok(await owner.del(`/client/role/${await roleID(id)}`)),
        'its role’s maker narrowed': async id => {
          const maker = await colleague();
          await sql`update role set "makerID" = ${maker.id} where id = ${await roleID(id)}`.execute(db);
          const narrowed = { name: `narrowed-${++serial}`, permissionKeys: [] };
          ok(await owner.put(`/client/role/${await roleID(maker.id)}`, narrowed));
        },
      };
      for (const [name, way] of Object.entries(ways)) {
        const { id, token } = await colleague();
        await way(id);
        assert.equal((await join(token)).body.code, 101013, name);
      }
      const stays = await colleague();
      assert.equal(ok(await join(stays.token)).body.zoneID, b.zoneID);
      const below = await colleague();
      const maker = await colleague();
      await sql`update role set "makerID" = ${maker.id} where id = ${await roleID(below.id)}`.execute(db);
      assert.equal(ok(await join(below.token)).body.zoneID, b.zoneID, 'along a maker that still holds it');
      // out of its sight, or gone: no zone
      const blind = await colleague();
      await sql`delete from "zoneAccount" where "accountID" = ${blind.id}`.execute(db);
      assert.equal(ok(await join(blind.token)).body.zoneID, null);
      const late = await colleague();
      const mine = ok(await owner.post('/client/nodes/joinToken', {})).body.token as string;
      await sql`update account set status = 'lock' where id = ${b.client.id}`.execute(db);
      for (const token of [late.token, mine]) is(await join(token), 'invalidToken');
      const { n } = (await row<{ n: number }>(db, sql`select count(*) as n from node where "clientID" = ${b.client.id}`))!;
      assert.equal(n, 3);
    } finally {
      await joining.stop();
    }
  });

  test('without a bus a machine that wants to join is told: 202001', async () => {
    const alone = await Api.start({}, {}, api.database.url);
    try {
      is(
        await alone.call('POST', '/node/credentials', { body: { nodeID: 1, time: Date.now(), signature: 'x' } }),
        'nodeCommunication',
      );
      const body = { token: 'x', name: 'n', publicKey: 'U', addresses: [], version: '1' };
      is(await alone.call('POST', '/node/join', { body }), 'nodeCommunication');
    } finally {
      await alone.stop();
    }
  });
});
