/** Who becomes another version when, and who goes back: stages, their bounds, what is watched and for how long. Nodes are rows here, and say what a test has them say. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { upgradeLimits } from '#contract/node/upgrade.ts';
import { until } from './bus/rig.ts';
import { broken } from './expect.ts';
import { offeredVersion } from './harness.ts';
import {
  begin,
  call,
  ended,
  heard,
  idOf,
  logOf,
  looked,
  name,
  nodes,
  numbers,
  old,
  passes,
  rig,
  says,
  upgraded,
  versions,
  db,
} from './upgrading.ts';

test('one node is first, and the next stage begins when it has been well for a minute; within a stage only while the last ones are well', async () => {
  const ids = await nodes(60);
  const taskID = await begin(ids);
  await heard(taskID, `done ${name(1)}`);
  await looked(taskID);
  assert.deepEqual(upgraded(), [1]);
  await passes(upgradeLimits.stageSeconds - 5);
  await looked(taskID);
  assert.deepEqual(upgraded(), [1], 'it is not proven yet');
  await passes(10);
  await heard(taskID, 'stage 2');
  await heard(taskID, `done ${name(11)}`);
  await looked(taskID);
  assert.deepEqual(upgraded(), numbers(1, 11), 'ten at a time, as long as they have not been well for some seconds');
  await passes(upgradeLimits.windowSeconds + 1);
  await heard(taskID, `done ${name(16)}`);
  await looked(taskID);
  assert.deepEqual(upgraded(), numbers(1, 16));

  // while one is not well nothing else begins, and it may become well again
  await says(idOf(ids, 16), { status: 'error', problem: 'for a moment' });
  await looked(taskID);
  await passes(upgradeLimits.illSeconds - 5);
  await looked(taskID);
  assert.deepEqual(upgraded(), numbers(1, 16));
  await says(idOf(ids, 16), {});
  const { task, said } = await ended(taskID);
  assert.deepEqual([task.state, upgraded().length, new Set(await versions(ids))], ['succeeded', 60, new Set([offeredVersion])]);
  assert.deepEqual(
    said.filter(line => line.startsWith('stage')),
    ['stage 1', 'stage 2', 'stage 3'],
  );
});

test('of the first stage no failure is borne, and of a later one as many as a tenth of those that have ended, or one', async () => {
  const ids = await nodes(60);
  rig.ways.set(name(1), { upgrade: 'its disk is full' });
  const first = await ended(await begin(ids));
  assert.deepEqual(upgraded(), [1]);
  assert.deepEqual([first.task.state, first.said.includes('held 59')], ['failed', true]);

  rig.told = [];
  rig.ways.clear();
  for (const n of [5, 25, 26]) rig.ways.set(name(n), { upgrade: 'no room' });
  const taskID = await begin(ids);
  // one of fifteen, and two of the first ten of the third stage
  const { said } = await heard(taskID, 'held 34', 31);
  assert.ok(said.includes('stage 3'));
  assert.deepEqual(upgraded(), numbers(1, 26));
  const { task } = await ended(taskID);
  assert.deepEqual([task.state, task.failed, upgraded().length], ['failed', 37, 26]);
  // those that are well stay what they became
  assert.equal((await versions(ids)).filter(one => one === offeredVersion).length, 23);

  // tried again it begins with one of those that are left
  rig.told = [];
  rig.ways.clear();
  assert.equal((await call.put(`/client/task/${taskID}/retry`)).status, 200);
  await until('it begins anew', () => upgraded().length > 0);
  await looked(taskID);
  assert.equal(upgraded().length, 1);
  assert.equal((await ended(taskID)).task.state, 'succeeded');
  assert.equal(upgraded().length, 37);
});

test('one that is not well after it was called done is taken back by itself, and nothing else begins', async () => {
  const ids = await nodes(8);
  const taskID = await begin(ids);
  await heard(taskID, `done ${name(1)}`);
  await says(idOf(ids, 1), { status: 'error', problem: 'nginx is away' });
  await looked(taskID);
  assert.deepEqual(rig.told, [`upgrade ${name(1)}`], 'a moment is nothing');
  await passes(upgradeLimits.illSeconds + 1);
  const { lines } = await heard(taskID, `back ${name(1)}`);
  assert.match(String(lines.find(({ code }) => code === 'ill')!.values['why']), /error: nginx is away/);
  const { task, said } = await ended(taskID);
  assert.deepEqual(rig.told, [`upgrade ${name(1)}`, `rollback ${name(1)}`]);
  assert.deepEqual([task.state, task.failed, said.includes('held 7')], ['failed', 8, true]);
  assert.deepEqual(new Set(await versions(ids)), new Set([old]));
  const [log] = (await call.read(`/client/node/${ids[0]}/upgrade/logs`)).upgrades;
  assert.deepEqual([log.state, log.steps.map(({ step }: { step: string }) => step)], ['updateFailed', ['done', 'back']]);
  assert.match(log.why, /it was not well: error: nginx is away/);
});

test('one of the first that falls ill while others have their turn stops it; it alone goes back, and the others are watched on', async () => {
  const ids = await nodes(24);
  rig.held = node => Number(node.split('-').at(-1)) > 7;
  const taskID = await begin(ids);
  await heard(taskID, 'stage 3', 61);
  await says(idOf(ids, 1), { status: 'error', problem: 'late' });
  await looked(taskID);
  await heard(taskID, `ill ${name(1)}`, 31);
  rig.held = () => false;
  await heard(taskID, `back ${name(1)}`);
  // the tenth that were told already end; of those the task had not told, none
  await heard(taskID, 'held 7');
  // and what it leaves is not left alone
  await says(idOf(ids, 9), { status: 'error', problem: 'later still' });
  await heard(taskID, `back ${name(9)}`, 31);
  await ended(taskID);
  assert.deepEqual(rig.told.filter(line => line.startsWith('rollback')).sort(), [`rollback ${name(1)}`, `rollback ${name(9)}`]);
  assert.equal((await versions(ids)).filter(one => one === offeredVersion).length, 15);
});

test('one that says yes and goes on as another version is not well: it stops, and nobody is told to go back who never went', async () => {
  const ids = await nodes(4);
  rig.ways.set(name(1), { claims: old });
  const taskID = await begin(ids);
  await heard(taskID, `done ${name(1)}`);
  await looked(taskID);
  await passes(upgradeLimits.illSeconds + 1);
  const { lines } = await heard(taskID, `ill ${name(1)}`);
  assert.equal(lines.find(({ code }) => code === 'ill')!.values['why'], `it says that it runs ${old}`);
  const { task, said } = await ended(taskID);
  assert.deepEqual([task.state, said.includes('held 3'), said.includes(`back ${name(1)}`)], ['failed', true, true]);
  assert.deepEqual(rig.told, [`upgrade ${name(1)}`]);

  rig.told = [];
  rig.ways.set(name(1), { claims: '0.1.0-strange' });
  const second = await begin(ids);
  await heard(second, `ill ${name(1)}`, 31);
  const over = await ended(second);
  assert.deepEqual([over.said.includes(`back ${name(1)}`), rig.told], [false, [`upgrade ${name(1)}`]]);
});

test('one that does not go back is named, with why', async () => {
  const ids = await nodes(2);
  rig.ways.set(name(1), { rollback: 'the version before is no longer there' });
  const taskID = await begin(ids);
  await heard(taskID, `done ${name(1)}`);
  await says(idOf(ids, 1), { status: 'error', problem: 'late' });
  const { lines } = await heard(taskID, `stuck ${name(1)}`, 31);
  assert.equal(lines.find(({ code }) => code === 'stuck')!.values['why'], 'the version before is no longer there');
  assert.equal((await ended(taskID)).task.state, 'failed');
});

const ill = { status: 'error', problem: 'its disk is full' };

test('one that was ill before for its own reasons goes after those that prove something, and is not taken back for them; one that is away when its turn comes proves nothing', async () => {
  const ids = await nodes(3);
  await says(idOf(ids, 1), ill);
  const taskID = await begin(ids);
  await heard(taskID, `done ${name(2)}`);
  await says(idOf(ids, 3), { status: 'offline' });
  await heard(taskID, `done ${name(1)}`, 61);
  await says(idOf(ids, 1), ill);
  const { task, said } = await ended(taskID);
  assert.deepEqual([task.state, task.failed, said.includes(`skipped ${name(3)}`)], ['failed', 1, true]);
  assert.deepEqual(
    said.filter(line => /^(stage|ill|held|unproven)/.test(line)),
    ['stage 1', 'stage 2'],
  );
  assert.deepEqual(rig.told, [`upgrade ${name(2)}`, `upgrade ${name(1)}`]);
});

test('where none is well the order says so, the log says that nothing is proven, and one that becomes well meanwhile goes before the next stage', async () => {
  const ids = await nodes(3);
  for (const id of ids) await says(id, ill);
  broken(await call.post('/client/node/upgrade', { ids }), 'unproven', 'upgradeUnproven');
  broken(await call.post('/client/node/upgrade', { ids, unproven: false }), 'unproven', 'upgradeUnproven');
  assert.equal((await call.read('/client/node/latestVersion')).open, null, 'nothing was begun');
  const taskID = await begin(ids, { unproven: true });
  await heard(taskID, `done ${name(1)}`);
  await says(idOf(ids, 1), ill);
  await says(idOf(ids, 3), {});
  await heard(taskID, `done ${name(3)}`, 61);
  await heard(taskID, `done ${name(2)}`, 61);
  await says(idOf(ids, 2), ill);
  const { task, said } = await ended(taskID);
  assert.equal(task.state, 'succeeded');
  assert.deepEqual(
    said.filter(line => /^(stage|done|unproven)/.test(line)),
    ['unproven 3', 'stage 1', `done ${name(1)}`, `done ${name(3)}`, 'stage 2', `done ${name(2)}`],
  );
});

test('one that is silent is neither well nor ill: it is waited for, its silence orders nothing, and as long a silence as the watch is a failure', async () => {
  const ids = await nodes(3);
  const first = idOf(ids, 1);
  const taskID = await begin(ids);
  await heard(taskID, `done ${name(1)}`);
  const isQuiet = async (why: string) => {
    for (const _ of [1, 2]) {
      await looked(taskID);
      await passes(upgradeLimits.stageSeconds + 5);
    }
    await looked(taskID);
    const { said } = await logOf(taskID);
    assert.deepEqual([said.slice(1), rig.told], [['stage 1', `done ${name(1)}`], [`upgrade ${name(1)}`]], why);
  };
  await says(first, { status: 'offline' });
  await isQuiet('its uplink is away');
  // paused it stays, as nobody but us looks
  rig.mute = [first];
  await says(first, { status: 'paused' });
  await sql`update node set "lastBeat" = clock_timestamp() - interval '8 seconds' where id = ${first}`.execute(db());
  await isQuiet('it died');
  rig.mute = [];
  await heard(taskID, 'stage 2', 31);
  await heard(taskID, `done ${name(2)}`);

  const second = idOf(ids, 2);
  const silent = upgradeLimits.watchSeconds;
  await says(second, { status: 'offline' });
  await sql`update node set "lastBeat" = clock_timestamp() - ${silent + 1} * interval '1 second' where id = ${second}`.execute(
    db(),
  );
  const { said, lines } = await heard(taskID, `ill ${name(2)}`, 61);
  assert.match(String(lines.find(({ code }) => code === 'ill')!.values['why']), /not been heard/);
  await ended(taskID);
  assert.deepEqual([said.includes(`back ${name(2)}`), rig.told.filter(line => line.startsWith('rollback'))], [false, []]);
});

test('one that was told to go back, did not hear it and is well again stays what it is, and is watched on', async () => {
  const ids = await nodes(2);
  const taskID = await begin(ids);
  await heard(taskID, `done ${name(1)}`);
  rig.held = () => true;
  await says(idOf(ids, 1), { status: 'error', problem: 'late' });
  await heard(taskID, `ill ${name(1)}`, 31);
  await looked(taskID);
  await says(idOf(ids, 1), {});
  await heard(taskID, `stays ${name(1)}`);
  rig.held = () => false;
  assert.equal((await call.read(`/client/node/${ids[0]}/upgrade/logs`)).upgrades[0].state, 'updateComplete');
  await says(idOf(ids, 1), { status: 'error', problem: 'late' });
  await heard(taskID, `back ${name(1)}`, 31);
  await ended(taskID);
  assert.deepEqual(rig.told, [`upgrade ${name(1)}`, `rollback ${name(1)}`]);
});

test('what others of its zone fall ill with as well is not held against the new version, as long as they do', async () => {
  const ids = await nodes(4);
  const taskID = await begin(ids);
  await heard(taskID, `done ${name(1)}`);
  for (const id of ids) await says(id, { status: 'error' });
  for (const _ of [1, 2]) {
    await looked(taskID);
    await passes(upgradeLimits.illSeconds + 1);
  }
  await looked(taskID);
  assert.deepEqual((await logOf(taskID)).said.slice(1), ['stage 1', `done ${name(1)}`], 'a relay is slow');
  for (const id of ids.slice(1)) await says(id, {});
  await looked(taskID);
  assert.deepEqual(rig.told, [`upgrade ${name(1)}`], 'it has half a minute of its own');
  await heard(taskID, `back ${name(1)}`, 31);
  await ended(taskID);
});
