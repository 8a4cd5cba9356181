/** The mark of a device ends with its time, also where somebody kept it longer than a browser would. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Keys } from '#server/kit/crypto.ts';
import { Devices } from '#server/kit/devices.ts';

test('a mark older than 400 days is none', t => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 0, 1) });
  const devices = new Devices(new Keys(Buffer.alloc(32, 1)));
  const cookie = devices.cookie('user', 7, 'hash', true).split(';')[0];
  t.mock.timers.tick(399 * 86_400_000);
  assert.ok(devices.known(cookie, 'user', 7, 'hash'));
  t.mock.timers.tick(2 * 86_400_000);
  assert.equal(devices.known(cookie, 'user', 7, 'hash'), undefined);
});
