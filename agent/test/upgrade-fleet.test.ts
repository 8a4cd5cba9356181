/** A fleet becomes another version: one node first, then a share, then the others; a bad version is seen on the first and goes no further. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { is, multiple } from '../../server/test/expect.ts';
import { until } from './fleet.ts';
import { upgradeFleet } from './upgrading-fleet.ts';
import { edit } from './versions.ts';

test('nodes are upgraded in stages, with a log of each; of a bad version one node hears, and goes on as it was', async t => {
  const names = ['n1', 'n2', 'n3'];
  const { versions, fleet, call, plane, offer, nodes, ids, offerOf, seen, hurry } = await upgradeFleet(t, names);
  const local = await fleet.node('checkout');
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
  hurry();
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
