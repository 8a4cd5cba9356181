/** A fleet becomes another version: one node first, then a share, then the others; a bad version is seen on the first and goes no further. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Fastify from 'fastify';
import type { Bundle } from '#contract/node/bundle.ts';
import { Offer } from '#server/bus/offer.ts';
import { serveBundle } from '#server/services/bundle.ts';
import { testFolder } from '#system/engines.ts';
import { is, multiple } from '../../server/test/expect.ts';
import { cachedDomain, startFleet, until } from './fleet.ts';
import { edit, PlacedNode, Versions } from './versions.ts';

test('nodes are upgraded in stages, with a log of each; of a bad version one node hears, and goes on as it was', async t => {
  const versions = await Versions.in(testFolder('fleet'));
  const offers = versions.archives;
  const offerOf = (bundle: Bundle) => writeFileSync(join(offers, 'bundle.json'), JSON.stringify(bundle));
  mkdirSync(offers, { recursive: true });
  // made when the keys of the bus are known
  const made: { offer?: Offer } = {};
  const late = new Proxy({} as Offer, {
    get: (_, name: keyof Offer) => {
      const value: unknown = made.offer?.[name];
      return typeof value === 'function' ? value.bind(made.offer) : value;
    },
  });
  const fleet = await startFleet(t, late);
  const { call, plane } = fleet;
  const offer = (made.offer = new Offer(offers, plane.rig.engine.keys.documentSeed));
  const app = Fastify();
  app.setNotFoundHandler((_, reply) => void reply.code(404).send());
  app.decorateReply('callNotFound', function () {
    return this.code(404).send() as never;
  });
  serveBundle(app, offer, plane.rig.pool);
  await app.ready();
  const calls = plane.http.listeners('request') as ((...args: unknown[]) => void)[];
  plane.http.removeAllListeners('request');
  plane.http.on('request', (request, answer) => {
    if (request.url!.startsWith('/bundle/')) app.routing(request, answer);
    else for (const one of calls) one(request, answer);
  });
  t.after(() => app.close());
  await cachedDomain(t, fleet, 'a.test');
  const names = ['n1', 'n2', 'n3'];
  const nodes: PlacedNode[] = [];
  for (const name of names) {
    const prefix = await versions.prefix(name);
    nodes.push(
      (await fleet.node(
        name,
        undefined,
        token => new PlacedNode({ prefix, first: versions.first }, plane, token, name),
      )) as PlacedNode,
    );
  }
  await until('served', async () => (await nodes[2]!.visit('a.test')) === 'one');
  const local = await fleet.node('checkout');
  const ids = nodes.map(node => node.id);
  const seen = async () => {
    const { data } = (await call.read('/client/nodes')) as {
      data: { name: string; version: string; upgrade: string; upgradable: boolean }[];
    };
    return new Map(data.map(node => [node.name, node]));
  };
  await until('they say what they run', async () => (await seen()).get('n3')!.upgradable);

  // nothing is offered yet
  assert.equal((await call.read('/client/node/latestVersion')).version, null);
  is(await call.post('/client/node/upgrade', { ids }), 'nodeVersionMismatch');

  const bad = await versions.made(
    'bad',
    edit('edge/lua/phases/front.lua', text => `this is no Lua\n${text}`),
  );
  offerOf(bad);
  assert.equal((await call.read('/client/node/latestVersion')).version, bad.version);
  const first = await fleet.ended(await call.post('/client/node/upgrade', { ids }));
  assert.deepEqual(first, { state: 'failed', lines: ['refused n1'] });
  const states = [...(await seen()).values()].filter(node => names.includes(node.name));
  assert.deepEqual(states.map(({ name, version, upgrade }) => [name, version, upgrade]).sort(), [
    ['n1', versions.first, 'updateFailed'],
    ['n2', versions.first, 'notUpdated'],
    ['n3', versions.first, 'notUpdated'],
  ]);
  const [log] = (await call.read(`/client/node/${ids[0]}/upgrade/logs`)).upgrades;
  assert.match(log.why, /does not serve beside the old one/);
  assert.deepEqual(
    [log.toVersion, log.state, log.steps.map(({ step }: { step: string }) => step)],
    [bad.version, 'updateFailed', ['fetching', 'placing', 'checking', 'shadow', 'failed']],
  );

  const good = await versions.made('good');
  offerOf(good);
  // one that runs in a checkout is upgraded with it
  const begun = await call.post('/client/node/upgrade', { ids: [...ids, local.id] });
  multiple(begun, ['nodeVersionMismatch', ['checkout']]);
  const taskID = await fleet.one(`select max(id) from task where kind = 'nodeUpgrade'`);
  const second = await fleet.ended({ ...begun, status: 200, body: { taskID } });
  assert.deepEqual({ ...second, lines: second.lines.sort() }, { state: 'succeeded', lines: ['done n1', 'done n2', 'done n3'] });
  const stages = (await call.read(`/client/task/${taskID}`)).lines.filter(({ code }: { code: string }) => code === 'stage');
  assert.deepEqual(
    stages.map(({ values }: { values: { stage: number; count: number } }) => [Number(values.stage), Number(values.count)]),
    [
      [1, 1],
      [2, 1],
      [3, 1],
    ],
  );
  await until('they say so', async () => {
    const now = await seen();
    return names.every(name => now.get(name)!.version === good.version && now.get(name)!.upgrade === 'updateComplete');
  });
  for (const node of nodes) assert.equal(await node.visit('a.test'), 'one');
  is(await call.post('/client/node/upgrade', { ids: [ids[0]] }), 'parameter');

  // a ticket is its node's, and worth nothing once that is none of ours
  const { path } = offer.command(ids[0]!)!.body;
  const fetched = async () => (await fetch(`${plane.url}${path}/application`, { method: 'HEAD' })).status;
  assert.equal(await fetched(), 200);
  await plane.rig.pool.query('update node set "deletedAt" = now() where id = $1', [ids[0]]);
  assert.equal(await fetched(), 404);
});
