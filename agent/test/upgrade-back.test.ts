/** A version that passes its trial and is not well afterwards: it goes no further than the first node, which goes back by itself. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { upgradeLimits } from '#contract/node/upgrade.ts';
import { testFolder } from '#system/engines.ts';
import { until } from './fleet.ts';
import { upgradeFleet } from './upgrading-fleet.ts';
import { edit } from './versions.ts';

test('visitors get errors minutes later, or the agent says that it is not well: one node goes back, the others never went', async t => {
  const names = ['n1', 'n2', 'n3'];
  const { versions, fleet, call, plane, nodes, ids, offerOf, seen } = await upgradeFleet(t, names);
  const flag = join(testFolder('flag'), 'fails');
  const begin = async () => {
    const reply = await call.post('/client/node/upgrade', { ids });
    const path = `/client/task/${reply.body.taskID}`;
    const says = async (line: string) => {
      const { lines } = await call.read(path);
      return lines.some(({ code, values }: { code: string; values: { node?: string } }) => `${code} ${values.node}` === line);
    };
    await until('the first is done', () => says('done n1'), 90_000);
    return { reply, says, path };
  };
  const asBefore = async (why: RegExp) => {
    const states = [...(await seen()).values()].map(({ name, version, upgrade }) => [name, version, upgrade]).sort();
    const left = names.slice(1).map(name => [name, versions.first, states.find(([one]) => one === name)![2]]);
    assert.deepEqual(states, [['n1', versions.first, 'updateFailed'], ...left]);
    const [log] = (await call.read(`/client/node/${ids[0]}/upgrade/logs`)).upgrades;
    assert.match(log.why, why);
    assert.deepEqual(log.steps.map(({ step }: { step: string }) => step).slice(-2), ['done', 'back']);
    for (const id of ids.slice(1)) assert.deepEqual((await call.read(`/client/node/${id}/upgrade/logs`)).upgrades, []);
    for (const node of nodes) await until('it serves', async () => (await node.visit('a.test')) === 'one');
  };
  /** What a stop is followed by: those that are well are watched to the end. */
  const watched = () =>
    plane.rig.pool.query(`update "nodeUpgrade" set "endedAt" = "endedAt" - interval '1 hour' where "endedAt" is not null`);

  // what it does at the real door, as long as that file is there
  offerOf(
    await versions.made(
      'late',
      edit('edge/lua/phases/front.lua', text =>
        text.replace(
          'function M.rewrite()',
          `function M.rewrite()\n  local flag = io.open("${flag}")\n  if flag then\n    flag:close()\n    error "later"\n  end`,
        ),
      ),
    ),
  );
  const late = await begin();
  assert.equal(await nodes[0]!.visit('a.test'), 'one', 'it passed');
  writeFileSync(flag, '');
  assert.equal(await until('it fails', async () => (await nodes[0]!.visit('a.test')) === 500 && 500), 500);
  await until('it is served again', async () => (await nodes[0]!.visit('a.test')) === 'one', 90_000);
  await until('the log tells', () => late.says('back n1'), 30_000);
  await watched();
  assert.deepEqual(await fleet.ended(late.reply), { state: 'failed', lines: ['done n1', 'ill n1', 'back n1'] });
  rmSync(flag);
  await asBefore(/visitors are answered otherwise: .*500 instead of/);

  // its agent says that it is not well, and serves: the control plane tells it to go back
  offerOf(
    await versions.made(
      'sick',
      edit('agent.mjs', text =>
        text.replace(
          /problem: problems\(\)\[0\]/,
          `problem: (process.getBuiltinModule("node:fs").existsSync(${JSON.stringify(flag)}) ? "it is out of sorts" : null) ?? problems()[0]`,
        ),
      ),
    ),
  );
  const sick = await begin();
  writeFileSync(flag, '');
  await until('it is known', () =>
    plane.rig.one(`select 1 from "nodeUpgrade" where "nodeID" = $1 and "illSince" is not null`, [ids[0]]),
  );
  assert.equal(await sick.says('ill n1'), false, 'a moment is nothing');
  await plane.rig.pool.query(
    `update "nodeUpgrade" set "illSince" = "illSince" - $1 * interval '1 second' where "illSince" is not null`,
    [upgradeLimits.illSeconds],
  );
  await until('it is taken back', () => sick.says('back n1'), 60_000);
  await watched();
  assert.deepEqual(await fleet.ended(sick.reply), { state: 'failed', lines: ['done n1', 'ill n1', 'back n1'] });
  await asBefore(/it was not well: .*it is out of sorts/);
});
