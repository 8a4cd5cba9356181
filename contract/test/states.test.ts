import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errors } from '#contract/errors.ts';
import { languages } from '#contract/kit/text.ts';
import * as states from '#contract/states.ts';
import { can, reasonError, reasons, reasonText } from '#contract/states.ts';
import type { ActionTable } from '#contract/states.ts';

const tables: Record<string, [table: ActionTable<string>, states: readonly string[]]> = {
  accountActions: [states.accountActions, states.accountStates],
  siteActions: [states.siteActions, states.siteStates],
  siteSystemActions: [states.siteSystemActions, states.siteStates],
  domainActions: [states.domainActions, states.domainStates],
  nodeActions: [states.nodeActions, states.nodeStates],
  upgradeActions: [states.upgradeActions, states.upgradeStates],
  certificateActions: [states.certificateActions, states.certificateStates],
  exportActions: [states.exportActions, states.exportStates],
  monitorNodeActions: [states.monitorNodeActions, states.monitorNodeStates],
  taskActions: [states.taskActions, states.taskStates],
  trafficActions: [states.trafficActions, states.trafficStates],
  twoFactorActions: [states.twoFactorActions, states.twoFactorStates],
};

test('every table is walked here', () => {
  assert.deepEqual(
    Object.keys(tables).sort(),
    Object.keys(states)
      .filter(name => name.endsWith('Actions'))
      .sort(),
  );
});

for (const [name, [table, known]] of Object.entries(tables))
  test(`${name}: each action of each state is allowed or says why not`, () => {
    for (const [action, { from, else: otherwise }] of Object.entries(table))
      for (const state of known) {
        if (from.includes(state)) assert.equal(can(table, action, state), true);
        else if (typeof otherwise !== 'string') assert.ok(otherwise[state], `${name}.${action} has no reason in ${state}`);
        if (from.includes(state) && typeof otherwise !== 'string')
          assert.equal(otherwise[state], undefined, `${action} ${state} both ways`);
      }
  });

test('the states are those of §4', () => {
  assert.deepEqual(states.accountStates, ['pause', 'normal', 'lock', 'expired']);
  assert.deepEqual(states.siteStates, ['normal', 'pause', 'limit']);
  assert.deepEqual(states.exportStates, ['processing', 'completed', 'deleting', 'deleted', 'failed']);
  assert.deepEqual(states.domainDNSStates, ['active', 'inactive']);
  assert.deepEqual(states.cnameStates, ['unset', 'wrong', 'active']);
  assert.deepEqual(states.trafficStates, ['normal', 'warning', 'limited']);
  assert.deepEqual(states.upgradeStates, ['notUpdated', 'updating', 'updateFailed', 'updateComplete']);
  assert.deepEqual([...states.certificateStates].sort(), [
    'applyFailed',
    'disabled',
    'enabled',
    'fail',
    'pending',
    'processing',
    'success',
    'unset',
  ]);
  assert.deepEqual([...states.nodeStates].sort(), [
    'error',
    'natsError',
    'normal',
    'offline',
    'paused',
    'reconnect',
    'uninitialized',
    'unknown',
  ]);
});

test('limit is the system’s: people get 205002, and 205006 while it holds', () => {
  assert.equal(errors[reasonError(can(states.siteActions, states.siteActionFor.limit, 'normal') as states.Reason)].code, 205002);
  for (const wish of ['normal', 'pause'] as const)
    assert.equal(errors[reasonError(can(states.siteActions, states.siteActionFor[wish], 'limit') as states.Reason)].code, 205006);
  assert.equal(can(states.siteSystemActions, 'limit', 'normal'), true);
  assert.equal(can(states.siteSystemActions, 'lift', 'limit'), true);
  assert.equal(can(states.siteSystemActions, 'limit', 'pause'), 'siteAlreadyPaused');
});

test('a command needs a node that answers', () => {
  for (const action of ['reboot', 'reset', 'upgrade', 'clearCache', 'rotateLog'] as const) {
    assert.equal(can(states.nodeActions, action, 'normal'), true);
    assert.equal(errors[reasonError(can(states.nodeActions, action, 'offline') as states.Reason)].code, 202001);
  }
});

test('a command finds a paused node that is silent as one that is offline; its pause can be ended all the same', () => {
  for (const action of ['reboot', 'reset', 'upgrade', 'clearCache', 'rotateLog'] as const) {
    assert.equal(states.nodeCan(action, 'paused', false), true);
    assert.equal(states.nodeCan(action, 'paused', true), 'nodeUnreachable');
    assert.equal(states.nodeCan(action, 'normal', true), true, 'of any other its state says it');
  }
  for (const action of ['resume', 'remove', 'edit', 'moveToZone', 'deinitialize'] as const)
    assert.equal(states.nodeCan(action, 'paused', true), true);
});

test('a state nobody foresaw is refused', () => {
  assert.notEqual(can(states.siteActions as ActionTable<string>, 'pause', 'melted'), true);
  assert.notEqual(can(states.siteActions as ActionTable<string>, 'edit', 'melted'), true);
});

test('every reason reads in three languages, is used, and answers an error of the catalogue', () => {
  const used = new Set([
    ...Object.values(states.stoppedReasons),
    ...Object.values(tables).flatMap(([table]) =>
      Object.values(table).flatMap(({ else: otherwise }) =>
        typeof otherwise === 'string' ? [otherwise] : Object.values(otherwise),
      ),
    ),
  ]);
  for (const why of Object.keys(reasons) as states.Reason[]) {
    assert.ok(used.has(why), `${why} is never given`);
    assert.ok(reasonError(why) in errors);
    for (const language of languages) assert.ok(reasonText(why, language).length > 1);
  }
});
