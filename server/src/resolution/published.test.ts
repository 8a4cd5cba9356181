import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publishable } from './published.ts';

const own = ['127.0.0.1', '::1', '10.0.0.7', '93.184.216.34', 'fe80::1', '2606:2800:220:1::5'];
test('of all addresses of a machine those that are public are published, of the families that are open', () => {
  assert.deepEqual(publishable(['0.0.0.0', '::'], own), ['93.184.216.34', '2606:2800:220:1::5']);
  assert.deepEqual(publishable(['0.0.0.0'], own), ['93.184.216.34']);
  assert.deepEqual(publishable(['0.0.0.0', '::'], ['127.0.0.1', '10.0.0.7']), []);
});
test('what an operator named is published as it is, loopback never', () => {
  assert.deepEqual(publishable(['10.0.0.7', '127.0.0.1', '::1', '0.0.0.0'], own), ['10.0.0.7', '93.184.216.34']);
  assert.deepEqual(publishable(['127.0.0.1', '::1'], own), []);
});
