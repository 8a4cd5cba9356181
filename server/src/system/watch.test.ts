/** What ingest says of itself, by a clock under the test's hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ingestLook } from './watch.ts';

test('ingest: a trouble that lasts is told, the store’s by its own name; lines that wait are told by their age', () => {
  let now = 0;
  const stats = {
    inserts: 0,
    held: 0,
    lines: 0,
    torn: 0,
    lostBytes: 0,
    refused: 0,
    setAside: 0,
    aside: {},
    kept: 0,
    unsure: null,
    rewinds: 0,
    unrepeated: 0,
    lastInsertAt: 0,
    problem: null as string | null,
  };
  const ask = ingestLook(
    () => stats,
    () => now,
  );
  const reasons = () =>
    ask()
      .filter(one => one.state !== 'ok')
      .map(one => one.reason);
  assert.deepEqual(reasons(), []);
  stats.problem = 'insert: No space left on device';
  assert.deepEqual(reasons(), [], 'a moment of trouble is no trouble');
  now = 6000;
  assert.deepEqual(reasons(), ['store.noWrites', 'ingest.stuck']);
  stats.problem = null;
  stats.held = 10;
  assert.deepEqual(reasons(), []);
  now += 21_000;
  assert.deepEqual(reasons(), ['ingest.late']);
  stats.inserts++;
  assert.deepEqual(reasons(), [], 'an insert was finished');
});
