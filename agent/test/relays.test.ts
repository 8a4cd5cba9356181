/** A node becomes a relay: certificates, the zone's document, edges that ask it, one that stands still, and one that is none any more. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '#server/store/engine-process.ts';
import { allProcesses } from '../src/processes.ts';
import { is } from '../../server/test/expect.ts';
import { cachedDomain, startFleet, until } from './fleet.ts';
import { TestNode } from './node.ts';

test('two edges and a relay below one control plane', async t => {
  const fleet = await startFleet(t);
  const { call, tenant } = fleet;
  const origin = await cachedDomain(t, fleet, 'a.test');
  const made = async (name: string) => {
    const relayPort = await freePort();
    return fleet.node(name, tenant.zoneID, token => Object.assign(new TestNode(fleet.plane, token, name), { relayPort }));
  };
  const [one, two, relay] = [await made('n1'), await made('n2'), await made('r1')];
  const listed = () =>
    fleet.one<{ relays: { id: number }[]; left: number[] }>('select relays from zone where id = $1', [tenant.zoneID]);
  const nodeOf = async (id: number) => (await call.read('/client/nodes')).data.find((one: { id: number }) => one.id === id);
  assert.equal((await nodeOf(relay.id)).type, 'edge');
  const fine = ({ status, text }: { status: number; text: string }) => assert.equal(status, 200, text);
  const reloads = () => readFileSync(join(one.data, 'log', 'error.log'), 'utf8').split('(SIGHUP) received').length - 1;
  let page = 0;
  /** How often the origin is asked while both edges are asked for `count` new pages */
  const asked = async (count = 4) => {
    const before = origin.hits;
    for (let i = 0; i < count; i++, page++)
      for (const edge of [one, two]) assert.equal(await edge.visit('a.test', `/${page}`), 'one');
    return origin.hits - before;
  };
  await until(
    'both serve',
    async () => (await one.visit('a.test', '/up')) === 'one' && (await two.visit('a.test', '/up')) === 'one',
  );
  assert.equal(await asked(), 8, 'each asks for itself');
  assert.equal(reloads(), 0, 'a zone without relays has nothing of them');

  // An edge that answers on a line cannot become a relay, and a relay is put on none.
  const nodes = `/client/group/${tenant.groupID}/line/1/nodes`;
  fine(await call.post(nodes, { ids: [relay.id] }));
  is(await call.patch('/client/node', { id: relay.id, type: 'relay' }), 'nodeInGroup');
  fine(await call.del(nodes, { ids: [relay.id] }));
  is(await call.patch('/client/node', { id: relay.id, type: 'other' }), 'parameter');
  fine(await call.patch('/client/node', { id: relay.id, type: 'relay' }));
  is(await call.post(nodes, { ids: [relay.id] }), 'invalidGroupNode');
  await until('the zone is told', async () => (await listed()).relays.length === 1);
  assert.deepEqual((await listed()).relays[0]!.id, relay.id);
  await until('edges ask it', async () => (await asked(1)) === 1);
  assert.equal(await asked(), 4, 'one request for each page');
  assert.equal(reloads(), 1);

  const grant = JSON.parse(readFileSync(join(relay.data, 'identity.json'), 'utf8')).grant;
  const { subjectAltName, keyUsage } = new X509Certificate(grant.member.certificate);
  assert.equal(subjectAltName, `DNS:node-${relay.id}.zone-${tenant.zoneID}`);
  assert.deepEqual(keyUsage, ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'], 'as server and as client');

  // A relay that stands still takes connections and answers nothing.
  const master = relay.nginx()!;
  const group = allProcesses().filter(({ pid, group }) => pid === master || group === master);
  for (const { pid } of group) process.kill(pid, 'SIGSTOP');
  await until('it is passed by', async () => (await nodeOf(one.id)).relaysAway.length === 1);
  assert.equal((await nodeOf(one.id)).relaysAway[0].name, 'r1');
  assert.equal(await asked(), 8);
  for (const { pid } of group) process.kill(pid, 'SIGCONT');
  await until('it is asked again', async () => (await asked(1)) === 1);
  await until('it is told no more', async () => (await nodeOf(one.id)).relaysAway.length === 0);

  // A purge holds at both tiers, whoever has applied it first.
  await asked(1);
  const old = `/${page - 1}`;
  origin.says = 'two';
  fine(await call.del(`/client/site/${tenant.siteID}/setting/urlCache`, { type: 1, urls: [`http://a.test${old}`] }));
  for (const edge of [one, two]) await until('it is purged', async () => (await edge.visit('a.test', old)) === 'two');
  for (const edge of [one, two]) assert.equal(await edge.visit('a.test', old), 'two', 'and is not refilled with what it was');
  origin.says = 'one';

  // Out of the zone: its certificate counts no more, and edges ask the origin.
  fine(await call.patch('/client/node', { id: relay.id, type: 'edge' }));
  await until('nobody is told of it', async () => (await listed()).relays.length === 0);
  await until('each asks for itself', async () => (await asked(1)) === 2);
  assert.equal(reloads(), 1, 'it may come back');
});
