/** One upgrade at a time: two orders, an order that comes again, nodes that go while they prove something. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { upgradeLimits } from '#contract/node/upgrade.ts';
import { rows } from '#server/store/db.ts';
import { until } from './bus/rig.ts';
import { broken } from './expect.ts';
import { offeredVersion } from './harness.ts';
import {
  begin,
  call,
  db,
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
} from './upgrading.ts';

const openOf = async () => (await call.read('/client/node/latestVersion')).open;

test('a second order is refused while one is open, and the stages of the first stay: two at once, one later, one that is tried again', async () => {
  const ids = await nodes(3);
  rig.ways.set(name(3), { upgrade: 'no room' });
  const before = await begin([idOf(ids, 3)]);
  await ended(before);
  rig.ways.clear();
  rig.told = [];

  const both = await Promise.all([1, 2].map(() => call.post('/client/node/upgrade', { ids })));
  const [first, second] = both.sort((a, b) => a.status - b.status);
  assert.equal(first!.status, 200);
  broken(second!, '', 'taskOpen');
  const { taskID } = first!.body;
  assert.deepEqual(await openOf(), { taskID });
  broken(await call.put(`/client/task/${before}/retry`), '', 'taskOpen');
  await heard(taskID, `done ${name(1)}`);
  broken(await call.post('/client/node/upgrade', { ids: ids.slice(1) }), '', 'taskOpen');
  await looked(taskID);
  assert.deepEqual(upgraded(), [1], 'the first is not proven');
  // nor is any made past the call
  await assert.rejects(
    sql`insert into task (kind, resource, "rootID", input, about) select kind, resource, "rootID", input, about from task where id = ${taskID}`.execute(
      db(),
    ),
    { code: '23505' },
  );
  await ended(taskID);
  assert.equal(await openOf(), null);
  assert.equal((await call.put(`/client/task/${before}/retry`)).status, 200);
  const { task, said } = await ended(before);
  assert.deepEqual([task.state, said.at(-2)], ['succeeded', `already ${name(3)}`], 'it runs the version since');
});

test('where the first is deleted before it has proved anything, another one goes first', async () => {
  const ids = await nodes(8);
  const taskID = await begin(ids);
  await heard(taskID, `done ${name(1)}`);
  await looked(taskID);
  await sql`update node set "deletedAt" = now() where id = ${idOf(ids, 1)}`.execute(db());
  await heard(taskID, `done ${name(2)}`);
  await looked(taskID);
  assert.deepEqual(upgraded(), [1, 2]);
  await passes(upgradeLimits.stageSeconds + 1);
  await heard(taskID, 'stage 2');
  assert.equal((await ended(taskID)).task.state, 'succeeded');
});

test('one that was silent nearly as long as it is watched, and has just spoken, proves nothing yet', async () => {
  const ids = await nodes(3);
  const taskID = await begin(ids);
  await heard(taskID, `done ${name(1)}`);
  rig.mute = [idOf(ids, 1)];
  await sql`update node set "lastBeat" = clock_timestamp() - interval '8 seconds' where id = ${idOf(ids, 1)}`.execute(db());
  await looked(taskID);
  rig.mute = [];
  await passes(upgradeLimits.watchSeconds + 5);
  await sql`update node set "lastBeat" = clock_timestamp() where id = ${idOf(ids, 1)}`.execute(db());
  await looked(taskID);
  await looked(taskID);
  assert.deepEqual((await logOf(taskID)).said.slice(1), ['stage 1', `done ${name(1)}`]);
  await passes(upgradeLimits.stageSeconds + 5);
  await heard(taskID, 'stage 2');
  await ended(taskID);
});

test('a later try that came to nothing ends no watch', async () => {
  const ids = await nodes(2);
  const taskID = await begin(ids);
  await heard(taskID, `done ${name(1)}`);
  await sql`insert into "nodeUpgrade" ("nodeID", "fromVersion", "toVersion", state, "endedAt")
    values (${idOf(ids, 1)}, ${offeredVersion}, ${offeredVersion}, 'updateFailed', now())`.execute(db());
  await looked(taskID);
  assert.deepEqual(upgraded(), [1]);
  await says(idOf(ids, 1), { status: 'error', problem: 'late' });
  await heard(taskID, `back ${name(1)}`, 31);
  await ended(taskID);
});

test('what a list says of an upgrade is reckoned by what the node runs', async () => {
  const ids = await nodes(3);
  const [one, two, three] = ids as [number, number, number];
  await says(one, { version: offeredVersion });
  const row = (id: number, state: string) =>
    sql`insert into "nodeUpgrade" ("nodeID", "fromVersion", "toVersion", state, "endedAt") values (${id}, ${old}, ${old}, ${state}, now())`.execute(
      db(),
    );
  await row(two, 'updateComplete');
  await row(three, 'updateFailed');
  const seen = async () => {
    const { data } = await call.read('/client/nodes/initialized?pageSize=500');
    return ids.map(id => data.find((node: { id: number }) => node.id === id).upgrade);
  };
  assert.deepEqual(await seen(), ['updateComplete', 'notUpdated', 'updateFailed']);
  await says(three, { version: offeredVersion });
  assert.deepEqual(await seen(), ['updateComplete', 'notUpdated', 'updateComplete']);
});

/** The third stage is under way, and those from `from` to `to` do not answer. */
async function inStageThree(count: number, from: number, to: number) {
  const ids = await nodes(count);
  rig.held = node => numbers(from, to).includes(Number(node.split('-').at(-1)));
  const taskID = await begin(ids);
  await heard(taskID, 'stage 3', 61, 120_000);
  await looked(taskID);
  return { ids, taskID };
}
const openIn = async (taskID: number) =>
  (await rows(db(), sql`select 1 from "nodeCommand" where "taskID" = ${taskID} and "endedAt" is null`)).length;

test('who cancels takes back what no node has begun; tried again it begins with one node, and watches those of before', async () => {
  const { ids, taskID } = await inStageThree(8, 4, 8);
  assert.equal(await openIn(taskID), 5);
  assert.equal((await call.put(`/client/task/${taskID}/cancel`)).status, 200);
  assert.equal(await openIn(taskID), 0);
  const [log] = (await call.read(`/client/node/${idOf(ids, 8)}/upgrade/logs`)).upgrades;
  assert.deepEqual([log.state, log.why], ['updateFailed', 'cancelled before it had begun']);

  // none answers, so that however much time goes by the first has proved nothing
  rig.held = () => true;
  rig.told = [];
  assert.equal((await call.put(`/client/task/${taskID}/retry`)).status, 200);
  await until(
    'it begins anew',
    async () => {
      await looked(taskID);
      await passes(upgradeLimits.stageSeconds + 5);
      return (await openIn(taskID)) > 0;
    },
    60_000,
  );
  await looked(taskID);
  assert.equal(await openIn(taskID), 1, 'one is first');
  rig.held = () => false;
  await says(idOf(ids, 2), { status: 'error', problem: 'since' });
  await heard(taskID, `back ${name(2)}`, 31);
  const { task } = await ended(taskID);
  assert.deepEqual([task.state, task.failed, upgraded().length], ['failed', 1, 5], 'the one of before that fell ill');
});

test('what nodes had begun when a task was cancelled counts for the next order, and ends in a task that is tried again', async () => {
  const { ids, taskID } = await inStageThree(16, 6, 15);
  await sql`update "nodeCommand" set "sentAt" = clock_timestamp(), counts = array[id] where "taskID" = ${taskID} and "endedAt" is null`.execute(
    db(),
  );
  await sql`update node n set beat = beat || jsonb_build_object('upgrade', jsonb_build_object('able', true, 'id', c.id, 'steps', '[]'::jsonb))
    from "nodeCommand" c where c."taskID" = ${taskID} and c."endedAt" is null and n.id = c."nodeID"`.execute(db());
  assert.equal((await call.put(`/client/task/${taskID}/cancel`)).status, 200);
  assert.equal(await openIn(taskID), 10);
  rig.told = [];
  const next = await begin([idOf(ids, 16)]);
  await looked(next);
  assert.deepEqual(rig.told, [], 'ten are under way');
  rig.held = () => false;
  assert.equal((await ended(next)).task.state, 'succeeded');
  assert.equal(await openIn(taskID), 0);
  assert.equal((await call.put(`/client/task/${taskID}/retry`)).status, 200);
  const { task, said } = await ended(taskID);
  assert.deepEqual([task.state, task.failed], ['succeeded', 0]);
  assert.ok(said.includes(`done ${name(15)}`) && said.includes(`already ${name(16)}`), said.join());
});

for (const [verb, order] of Object.entries({
  reboot: (ids: number[]) => call.post('/client/node/reboot', { ids }),
  currentCache: (ids: number[]) => call.del('/client/node/currentCache', { ids }),
}))
  test(`who cancels “${verb}” takes back what no node has answered: one that comes back is not told of it later`, async () => {
    const ids = await nodes(3);
    rig.held = node => [2, 3].includes(Number(node.split('-').at(-1)));
    const { taskID } = (await order(ids)).body;
    await until('one is told', () => rig.told.length === 1);
    await until('the others wait', async () => (await openIn(taskID)) === 2);
    assert.equal((await call.put(`/client/task/${taskID}/cancel`)).status, 200);
    assert.equal(await openIn(taskID), 0);
    const over = await rows<{ why: string }>(
      db(),
      sql`select why from "nodeCommand" where "taskID" = ${taskID} and ok is null order by id`,
    );
    assert.deepEqual(
      over,
      Array.from({ length: 2 }, () => ({ why: 'cancelled before it had begun' })),
    );
    // tried again it is for those two alone
    rig.held = () => false;
    assert.equal((await call.put(`/client/task/${taskID}/retry`)).status, 200);
    await until('both are told', () => rig.told.length >= 3);
    assert.deepEqual(
      rig.told,
      numbers(1, 3).map(n => `${verb} ${name(n)}`),
    );
    // one that restarts is done when it says so, and these say nothing
    if (verb === 'reboot') return;
    const { task } = await ended(taskID);
    assert.deepEqual([task.state, task.failed], ['succeeded', 0]);
  });
