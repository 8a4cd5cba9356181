import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changed, changedAll, grouped, heldOf, keysOf, presetKeys, resourcesOf } from '../src/account/matrix.ts';

const grantable = ['logs.view', 'nodes.edit', 'sites.edit', 'sites.view'];

test('who may edit may view, so far as there is something to view', () => {
  assert.deepEqual(changed([], 'sites', 'edit', true, grantable), ['sites.edit', 'sites.view']);
  assert.deepEqual(changed([], 'nodes', 'edit', true, grantable), ['nodes.edit']);
});

test('who may no longer view may no longer edit; the other way round viewing stays', () => {
  assert.deepEqual(changed(['sites.edit', 'sites.view'], 'sites', 'view', false, grantable), []);
  assert.deepEqual(changed(['sites.edit', 'sites.view'], 'sites', 'edit', false, grantable), ['sites.view']);
});

test('viewing alone gives no editing, and what is not grantable is never added', () => {
  assert.deepEqual(changed([], 'sites', 'view', true, grantable), ['sites.view']);
  assert.deepEqual(changed([], 'nodes', 'view', true, grantable), []);
  assert.deepEqual(changed([], 'logs', 'edit', true, grantable), ['logs.view']);
});

test('what a resource is reached by comes along, and stays when it goes', () => {
  const all = [...grantable, 'domains.edit', 'domains.view', 'groups.view', 'zones.view'];
  assert.deepEqual(changed([], 'domains', 'edit', true, all), ['domains.edit', 'domains.view', 'sites.view']);
  assert.deepEqual(changed([], 'groups', 'view', true, all), ['groups.view', 'zones.view']);
  assert.deepEqual(changed([], 'groups', 'view', true, ['groups.view']), ['groups.view'], 'only what one may grant');
  assert.deepEqual(changed(['domains.view', 'sites.view'], 'domains', 'view', false, all), ['sites.view']);
});

test('a column is ticked and cleared as a whole; keys of others stay', () => {
  assert.deepEqual(changedAll(['zones.view'], 'edit', true, grantable), ['nodes.edit', 'sites.edit', 'sites.view', 'zones.view']);
  assert.deepEqual(changedAll(['logs.view', 'sites.edit', 'sites.view', 'zones.view'], 'view', false, grantable), ['zones.view']);
});

test('rows and columns of the matrix follow the keys', () => {
  assert.deepEqual(resourcesOf(grantable), ['logs', 'nodes', 'sites']);
  assert.deepEqual(keysOf(grantable, 'edit'), ['nodes.edit', 'sites.edit']);
});

test('rows stand in groups, as the menu has them; what no group names stands in the last', () => {
  assert.deepEqual(grouped(['zones', 'retention', 'cache', 'sites', 'accounts']), [
    { name: 'people', resources: ['accounts'] },
    { name: 'sites', resources: ['sites', 'cache'] },
    { name: 'fleet', resources: ['zones'] },
    { name: 'system', resources: ['retention'] },
  ]);
});

test('a box over several rows has three states, and changes those rows alone', () => {
  assert.equal(heldOf(['a.view', 'b.view'], new Set(['a.view'])), 'some');
  assert.equal(heldOf(['a.view'], new Set(['a.view', 'b.view'])), 'all');
  assert.equal(heldOf(['a.view'], new Set()), 'none');
  assert.deepEqual(changedAll([], 'view', true, grantable, ['logs']), ['logs.view']);
});

test('presets give what their name says, and only what one may grant', () => {
  const all = ['accounts', 'roles', 'apiTokens', 'sites', 'cache', 'products', 'traffic', 'zones'].flatMap(name => [
    `${name}.edit`,
    `${name}.view`,
  ]);
  assert.deepEqual(presetKeys('viewer', all), ['cache.view', 'products.view', 'sites.view', 'traffic.view', 'zones.view']);
  assert.deepEqual(presetKeys('finance', all), ['accounts.view', 'products.view', 'sites.view', 'traffic.view']);
  assert.deepEqual(presetKeys('finance', ['accounts.view', 'licenses.edit', 'licenses.view']), [
    'accounts.view',
    'licenses.view',
  ]);
  assert.ok(presetKeys('engineer', all).includes('zones.edit') && !presetKeys('engineer', all).includes('accounts.view'));
  assert.deepEqual(
    presetKeys('support', all).filter(key => key.endsWith('.edit')),
    ['cache.edit'],
  );
  assert.deepEqual(presetKeys('engineer', ['sites.view']), ['sites.view']);
});
