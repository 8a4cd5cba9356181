/** How long a node has to be well, with a clock of the test's own. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Steadiness } from './steadiness.ts';

function clock() {
  let now = 1_000_000;
  const mocked = mock.method(performance, 'now', () => now);
  return { pass: (seconds: number) => (now += seconds * 1000), stop: () => mocked.mock.restore() };
}

test('a node is waited for by its own row where nobody asked for it here, and by what was seen of it where somebody did', t => {
  const time = clock();
  t.after(time.stop);
  const steady = new Steadiness(5);
  const hour = 3_600_000;
  assert.equal(steady.waitMs('well', true, false, hour), 0);
  assert.equal(steady.waitMs('late', true, false, 2000), 3000);
  assert.equal(steady.waitMs('unsaid', true, false), 5000);
  // it fails while it is on a line
  assert.equal(steady.waitMs('well', false, true), 0);
  time.pass(1);
  assert.equal(steady.waitMs('well', true, false, 10), 5000);
  // it stood on none for an hour, and fell there again
  time.pass(3600);
  assert.equal(steady.waitMs('well', true, false, 1000), 4000);
  // it was in trouble when it was taken off, and came to itself long ago
  steady.waitMs('taken', false, true);
  time.pass(3600);
  assert.equal(steady.waitMs('taken', true, false, hour), 0);
});

test('it is waited for twice as long with each fall within ten minutes, five minutes at most', t => {
  const time = clock();
  t.after(time.stop);
  const steady = new Steadiness(5);
  const fall = () => {
    steady.waitMs('n', false, true);
    time.pass(1);
    return steady.waitMs('n', true, false, 10) / 1000;
  };
  steady.waitMs('n', true, true);
  assert.deepEqual(Array.from({ length: 9 }, fall), [5, 10, 20, 40, 80, 160, 300, 300, 300]);
  time.pass(601);
  assert.equal(fall(), 5);
});
