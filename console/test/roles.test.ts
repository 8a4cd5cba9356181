import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changed, changedAll, keysOf, resourcesOf } from '../src/account/matrix.ts';

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
