import assert from 'node:assert/strict';
import type { NetworkInterfaceInfo } from 'node:os';
import { test } from 'node:test';
import { ownAddresses } from './addresses.ts';

/** As far as it is read. */
const at = (address: string, internal = false) => ({ address, internal }) as NetworkInterfaceInfo;
const machine = {
  lo: [at('127.0.0.1', true), at('::1', true)],
  eth0: [at('192.0.2.2'), at('2001:db8::2'), at('fe80::1')],
  eth1: [at('198.51.100.7')],
  docker0: [at('172.17.0.1')],
  'br-0123456789ab': [at('172.18.0.1')],
  veth12ab: [at('169.254.3.3')],
};
const all = ['192.0.2.2', '198.51.100.7', '2001:db8::2'];

test('a node tells addresses that visitors come to: those it listens on, and none of its own containers', () => {
  assert.deepEqual(ownAddresses(undefined, machine), all);
  assert.deepEqual(ownAddresses([], machine), all);
  assert.deepEqual(ownAddresses(['0.0.0.0', '::'], machine), all);
  assert.deepEqual(ownAddresses(['::'], machine), ['2001:db8::2']);
  assert.deepEqual(ownAddresses(['198.51.100.7', '::', '198.51.100.7'], machine), ['198.51.100.7', '2001:db8::2']);
  assert.deepEqual(ownAddresses(['127.0.0.3'], machine), ['127.0.0.3'], 'whatever else the machine has');
  // a container of somebody else's machine may have nothing but one end of a cable
  assert.deepEqual(ownAddresses(undefined, { lo: machine.lo, veth12ab: machine.veth12ab }), ['169.254.3.3']);
  assert.deepEqual(ownAddresses(undefined, { lo: machine.lo }), ['127.0.0.1']);
});
