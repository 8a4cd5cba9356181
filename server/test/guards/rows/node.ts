/** Zones, groups, products and nodes. */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { renewalText } from '#server/bus/join-token.ts';
import { next } from '../generate.ts';
import { type Finds, type ListRows, part } from '../list-rows.ts';
import type { Rows } from '../world.ts';

const inZone: Finds = async ({ rig, world, found }) => {
  const zoneID = await rig.fresh(world, 'zone', 'client');
  for (const table of ['node', 'group'])
    await sql`update ${sql.table(table)} set "zoneID" = ${zoneID} where id = ${found}`.execute(rig.api.database.db);
  return zoneID;
};
const nodeFilters = {
  zoneID: inZone,
  groupID: async ({ rig, world, found }) => {
    const groupID = await rig.at(world, 'group');
    await rig.insert('lineNode', { groupID, lineID: 1, nodeID: found });
    return groupID;
  },
  status: ['error', { status: 'error' }, {}],
  keyword: part('name', 'memo'),
} satisfies Record<string, Finds>;

/** One zone has a number once: both rows are given another. */
const numbers: NonNullable<ListRows['sort']>[string] = async ({ rig, found, other }) => {
  const [first, last] = [10_000 + (next() % 20_000), 30_000 + (next() % 20_000)];
  for (const [id, port] of [
    [other, first],
    [found, last],
  ])
    await sql`update "zonePort" set port = ${port} where id = ${id}`.execute(rig.api.database.db);
  return [first, last];
};
/** Only those that are open are listed. */
const ends: NonNullable<ListRows['sort']>[string] = async ({ rig, found, other }) => {
  const [first, last] = [1, 2].map(hours => new Date(Date.now() + hours * 3_600_000).toISOString());
  for (const [id, at] of [
    [other, first],
    [found, last],
  ])
    await sql`update "joinToken" set "expiredAt" = ${at} where id = ${id}`.execute(rig.api.database.db);
  return [first, last];
};
/** The nodes of the body answer on the line already. */
const onLine: NonNullable<Rows['stage']>[string] = async (rig, _world, body, ids) => {
  for (const node of body['ids'] as number[])
    await sql`insert into "lineNode" ("groupID", "lineID", "nodeID") values (${ids['g']}, ${ids['l']}, ${node})`.execute(
      rig.api.database.db,
    );
};

/** They are told something, and can be reached. */
const reached: NonNullable<Rows['stage']>[string] = async (rig, _world, body) => {
  await sql`update node set status = 'normal' where id = any(${body['ids']})`.execute(rig.api.database.db);
};

/** It has said how busy it is. */
const heard: NonNullable<Rows['stage']>[string] = async (rig, _world, _body, ids) => {
  await sql`update node set status = 'normal', beat = '{"machine": {"cores": 2}}' where id = ${ids['id']}`.execute(
    rig.api.database.db,
  );
};

/** The same, are well, and can become another version. */
const upgradable: NonNullable<Rows['stage']>[string] = async (rig, world, body, ...more) => {
  await reached(rig, world, body, ...more);
  // an operator has one at a time
  await sql`update task set state = 'succeeded', "endedAt" = now() where kind = 'nodeUpgrade' and "endedAt" is null`.execute(
    rig.api.database.db,
  );
  await sql`update node set version = '0.1.0', status = 'normal', "lastBeat" = clock_timestamp(), beat = '{"upgrade": {"able": true}, "nginx": {"up": true}}' where id = any(${body['ids']})`.execute(
    rig.api.database.db,
  );
};

/** A change of the zone was stopped on its first node. */
const stopped: NonNullable<Rows['stage']>[string] = async (rig, _world, _body, ids) => {
  const facts = (enable: boolean) =>
    JSON.stringify({
      http2: { enable },
      http3: { enable: false },
      proxyProtocol: { networks: [], httpPort: null, httpsPort: null },
      resource: { cpu: 0, memory: 0, disk: 0 },
      ports: [],
    });
  await sql`insert into "zoneCanary" ("zoneID", state, accepted, wanted) values (${ids['id']}, 'stopped', ${facts(false)}::jsonb, ${facts(true)}::jsonb)
    on conflict ("zoneID") do update set state = 'stopped'`.execute(rig.api.database.db);
};

export const nodeRows: Rows = {
  make: {
    zone: (rig, { name, people }) => rig.insert('zone', { clientID: people.client.id, name: `${name}-${next()}` }),
    zonePort: async (rig, world) =>
      rig.insert('zonePort', { zoneID: await rig.at(world, 'zone'), port: 10_000 + (next() % 40_000), scheme: 'https' }),
    group: async (rig, world) =>
      rig.insert('group', {
        clientID: world.people.client.id,
        zoneID: await rig.at(world, 'zone'),
        name: `${world.name}-${next()}`,
      }),
    line: async (rig, world) =>
      rig.insert('line', {
        groupID: await rig.at(world, 'group'),
        kind: 'custom',
        name: `${world.name}-${next()}`,
        asns: [64_500],
      }),
    nodeSub: async (rig, world) =>
      rig.insert('nodeSub', { nodeID: await rig.at(world, 'node'), address: `198.18.${next() % 250}.${next() % 250}` }),
    joinToken: (rig, { name, people }) =>
      rig.insert('joinToken', {
        hash: randomBytes(32),
        clientID: people.client.id,
        name: `${name}-${next()}`,
        expiredAt: new Date(Date.now() + 3_600_000),
      }),
    node: async (rig, world) => rig.node(world, await rig.at(world, 'zone')),
    product: async (rig, world) =>
      rig.insert('product', {
        clientID: world.people.client.id,
        groupID: await rig.at(world, 'group'),
        name: `${world.name}-${next()}`,
      }),
  },
  kindOfField: { zoneID: 'zone', groupID: 'group', productID: 'product', nodeIDs: 'node', lineID: 'line' },
  kindOfCall: {
    'DELETE /client/node/{id}/subs': 'nodeSub',
    'DELETE /client/nodes/joinTokens': 'joinToken',
    'PUT /client/zone/{id}/setting/port': 'zonePort',
    'DELETE /client/zone/{id}/setting/ports': 'zonePort',
  },
  parentParam: { line: 'g', zonePort: 'id', nodeSub: 'id' },
  bodies: {
    'PATCH /client/group': async (rig, world) => ({
      id: await rig.at(world, 'group'),
      name: `${world.name}-${next()}`,
      memo: '',
      lines: [
        { lineID: await rig.at(world, 'line'), name: `${world.name}-${next()}`, cidrs: ['198.51.100.0/24'], asns: [64_500] },
      ],
    }),
    'POST /node/join': async (rig, world) => ({ ...(await rig.joinBody(world)) }),
    'POST /node/credentials': async (rig, world) => {
      const { user, ...body } = await rig.joinBody(world, true);
      const joined = await rig.gate.join(body, act => act());
      const time = Date.now();
      const signature = Buffer.from(user!.sign(new TextEncoder().encode(renewalText(joined.nodeID, time)))).toString('base64');
      return { nodeID: joined.nodeID, time, signature };
    },
  },
  values: {
    logRotateTime: () => 3600,
    ranges: () => ['10.0.0.0/16'],
    networks: () => [`198.51.100.${(next() % 250) + 1}`, '2001:db8::/64'],
    httpPort: () => 10_000 + (next() % 20_000),
    httpsPort: () => 30_000 + (next() % 20_000),
  },
  stage: {
    'PATCH /client/group/{g}/line/{l}/nodes': onLine,
    'DELETE /client/group/{g}/line/{l}/nodes': onLine,
    // with a line of its own, and nodes on that and on one of everybody's
    'DELETE /client/group': async (rig, world, body) => {
      const nodeID = await rig.node(world, await rig.at(world, 'zone'));
      for (const groupID of body['ids'] as number[]) {
        const own = await rig.insert('line', { groupID, kind: 'custom', name: `${world.name}-${next()}`, asns: [64_500] });
        const virtualNodeID = await rig.insert('virtualNode', {
          clientID: world.people.client.id,
          zoneID: await rig.at(world, 'zone'),
          name: `${world.name}-${next()}`,
        });
        for (const lineID of [1, own]) {
          await rig.insert('lineNode', { groupID, lineID, nodeID });
          await rig.insert('lineVirtualNode', { groupID, lineID, virtualNodeID });
        }
      }
    },
    'POST /client/zone/{id}/setting/canary/retry': stopped,
    'POST /client/zone/{id}/setting/canary/takeBack': stopped,
    'POST /client/node/reboot': reached,
    'GET /client/node/{id}/node-info': heard,
    'POST /client/node/upgrade': upgradable,
    'POST /client/node/reset': reached,
    'DELETE /client/node/currentCache': reached,
    'DELETE /client/node/cache': reached,
    'POST /client/nodes/log/rotate': reached,
    'POST /client/nodes/initialize': async (rig, _world, body) => {
      await sql`update node set "zoneID" = null where id = any(${body['ids']})`.execute(rig.api.database.db);
    },
  },
  lists: {
    'GET /client/zones': { kind: 'zone', filters: { keyword: part('name', 'memo') } },
    'GET /client/metaZones': { kind: 'zone', filters: { keyword: part('name') } },
    'GET /client/zone/{zoneId}/groups': { kind: 'group' },
    'GET /client/zone/{id}/setting/ports': { kind: 'zonePort', sort: { port: numbers } },
    'GET /client/metaGroups': { kind: 'group', filters: { keyword: part('name'), zoneID: inZone } },
    'GET /client/group/{g}/line/{l}/nodes': {
      kind: 'node',
      make: async (rig, world, _area, ids) => {
        const node = await rig.node(world, await rig.at(world, 'zone'));
        await rig.insert('lineNode', { groupID: ids['g'], lineID: ids['l'], nodeID: node });
        return node;
      },
    },
    'GET /client/nodes': { kind: 'node', filters: nodeFilters },
    'GET /client/nodes/initialized': { kind: 'node', filters: nodeFilters },
    'GET /client/nodes/uninitialized': {
      kind: 'node',
      make: (rig, world) => rig.node(world, null),
      filters: { status: nodeFilters.status, keyword: nodeFilters.keyword },
    },
    'GET /client/zone/{id}/nodes': { kind: 'node' },
    'GET /client/nodes/joinTokens': { kind: 'joinToken', filters: { keyword: part('name') }, sort: { expiredAt: ends } },
    'GET /client/node/{id}/subs': { kind: 'nodeSub', filters: { keyword: part('address', 'memo') } },
    'GET /client/metaNodes': { kind: 'node', filters: { keyword: part('name'), zoneID: inZone } },
    'GET /client/products': {
      kind: 'product',
      filters: { keyword: part('name', 'memo'), sellType: ['usage', { sellType: 'usage' }, {}] },
    },
    'GET /client/metaProducts': { kind: 'product', filters: { keyword: part('name') } },
  },
};
