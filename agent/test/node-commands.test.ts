/** What an operator tells nodes to do, done by real ones: the call, the task and its log, the signed command, and what a visitor sees of it. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { is, multiple } from '../../server/test/expect.ts';
import { cachedDomain, startFleet, until } from './fleet.ts';
import type { TestNode } from './node.ts';

const cached = (node: TestNode) =>
  readdirSync(join(node.data, 'cache'), { recursive: true }).filter(name => /[0-9a-f]{32}$/.test(String(name))).length;

test('the cache of a node is cleared at once, its files stay or go, and a restart brings nothing back', async t => {
  const fleet = await startFleet(t);
  const origin = await cachedDomain(t, fleet, 'a.test');
  const node = await fleet.node('n1');
  const visit = () => node.visit('a.test');
  await until('served', async () => (await visit()) === 'one');
  origin.says = 'two';
  await until('it is stored', () => cached(node) === 1);
  assert.equal(await visit(), 'one', 'out of the cache');

  const first = await fleet.ended(await fleet.call.del('/client/node/currentCache', { ids: [node.id] }));
  assert.deepEqual(first, { state: 'succeeded', lines: ['done n1'] });
  assert.equal(await visit(), 'two');
  await until('beside the one of before', () => cached(node) === 2);
  assert.equal((await node.get('/', node.httpPort, 'a.test')).headers['x-cache'], 'HIT');

  origin.says = 'three';
  const startedAt = await fleet.one<string>(`select "startedAt"::text from node where id = $1`, [node.id]);
  // nginx begins anew, with the keys of now
  await node.kill('SIGTERM');
  node.start();
  await until('served again', async () => (await visit()) === 'two');

  // what is said of it may still be what was said before it ended
  await until('normal again', () =>
    fleet.one(`select 1 from node where id = $1 and status = 'normal' and "startedAt" > $2`, [node.id, startedAt]),
  );
  assert.deepEqual((await fleet.ended(await fleet.call.del('/client/node/cache', { ids: [node.id] }))).lines, ['done n1']);
  assert.equal(cached(node), 0);
  assert.equal(await visit(), 'three');
  await until('it is stored again', () => cached(node) === 1);
});

test('a restart ends agent and nginx and begins both anew; asked again after a lost answer it happens once', async t => {
  const fleet = await startFleet(t);
  await cachedDomain(t, fleet, 'a.test');
  const node = await fleet.node('n1');
  await until('served', async () => (await node.visit('a.test')) === 'one');
  const [master, agent] = [node.nginx(), node.process!.pid];
  const startedAt = () => fleet.one<string>(`select "startedAt"::text from node where id = $1`, [node.id]);
  const before = await startedAt();
  assert.deepEqual(await fleet.ended(await fleet.call.post('/client/node/reboot', { ids: [node.id] })), {
    state: 'succeeded',
    lines: ['done n1'],
  });
  assert.notEqual(node.nginx(), master);
  assert.deepEqual([node.process!.pid, node.process!.exitCode], [agent, null], 'whoever watches over the agent noticed nothing');
  const after = await startedAt();
  assert.notEqual(after, before);
  assert.equal(await node.visit('a.test'), 'one');

  // as if nobody had heard the answer
  await fleet.plane.rig.pool.query(`update "nodeCommand" set "endedAt" = null, ok = null, "sentAt" = null`);
  await until('it is answered again', () => fleet.one(`select 1 from "nodeCommand" where ok and cardinality(counts) > 1`));
  assert.equal(await startedAt(), after);
});

test('a node that is reset throws away what it was told and fetched, reads it again, and keeps its logs', async t => {
  const fleet = await startFleet(t);
  const origin = await cachedDomain(t, fleet, 'a.test');
  const node = await fleet.node('n1');
  await until('served', async () => (await node.visit('a.test')) === 'one');
  await until('stored', () => cached(node) === 1);
  for (const name of ['config/planted', 'cache/planted', 'log/planted']) writeFileSync(join(node.data, name), '');
  origin.says = 'two';
  assert.deepEqual((await fleet.ended(await fleet.call.post('/client/node/reset', { ids: [node.id] }))).lines, ['done n1']);
  await until('served again', async () => (await node.visit('a.test')) === 'two');
  const there = (name: string) => existsSync(join(node.data, name));
  assert.deepEqual(['config/planted', 'cache/planted', 'log/planted', 'identity.json', 'reset'].map(there), [
    false,
    false,
    true,
    true,
    false,
  ]);
  assert.equal(await fleet.one(`select count(*)::int from node where name = 'n1'`), 1, 'it is the same node');
});

test('log files are begun anew when an operator says so; of nodes that cannot be reached the call tells', async t => {
  const fleet = await startFleet(t);
  await cachedDomain(t, fleet, 'a.test');
  const node = await fleet.node('n1');
  await until('served', async () => (await node.visit('a.test')) === 'one');
  const log = () => readlinkSync(join(node.data, 'log', 'access.log'));
  const before = log();
  const away = await fleet.one(
    `insert into node ("clientID", "zoneID", name, status) values ($1, $2, 'n2', 'offline') returning id`,
    [fleet.tenant.client.id, fleet.tenant.zoneID],
  );
  is(await fleet.call.post('/client/nodes/log/rotate', { ids: [away] }), 'nodeCommunication');
  multiple(await fleet.call.post('/client/nodes/log/rotate', { ids: [node.id, away] }), ['nodeCommunication', ['n2']]);
  await until('another file', () => log() !== before);
  await until('visitors are written there', async () => {
    await node.visit('a.test');
    return readdirSync(join(node.data, 'log')).includes(log().split('/').at(-1)!);
  });
});
