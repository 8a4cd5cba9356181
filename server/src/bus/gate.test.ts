import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Door } from '../node/door.ts';
import { createBusKeys } from './credentials.ts';
import { gateOf } from './gate.ts';
import { nkey } from './nkeys.ts';

test('a bus that is slow to hear of a node keeps no place at the door', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let waiting = 0;
  const all = Promise.withResolvers<void>();
  const settled = () => {
    if (++waiting === 100) all.resolve();
    return promise;
  };
  const db = { query: async () => ({ rows: [{ id: '1', zoneID: null }] }) };
  const gate = gateOf(db, { keys: createBusKeys(), natsUrl: 'nats://bus.test', settled });
  const door = new Door();
  const { publicKey } = nkey('user');
  const grants = Array.from({ length: 100 }, (_, i) =>
    gate.join({ token: `t${i}`, name: 'n', publicKey, addresses: [], version: '1' }, act =>
      door.enter('192.0.2.1', `t${i}`, async () => false, act),
    ),
  );
  await all.promise;
  resolve();
  assert.equal((await Promise.all(grants)).length, 100);
});
