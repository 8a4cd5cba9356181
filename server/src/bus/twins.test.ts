import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Twins } from './twins.ts';

test('copies of a node are found however many there are, and no longer when one is left', () => {
  for (const copies of [2, 5, 10, 150]) {
    const twins = new Twins();
    const round = (second: number, count = copies) =>
      Array.from({ length: count }, (_, n) => twins.heard(1, `start ${n}`, second * 1000 + n));
    assert.ok(!round(0).includes(true), 'each may have been started anew');
    for (let second = 2; second < 60; second += 2) assert.ok(round(second).some(Boolean), `${copies} copies`);
    for (let second = 60; second < 88; second += 2) round(second, 1);
    assert.deepEqual(round(90, 1), [false]);
  }
});

test('a node that starts anew again and again is one machine', () => {
  const twins = new Twins();
  for (let n = 0; n < 300; n++)
    for (let beat = 0; beat < 3; beat++) assert.equal(twins.heard(1, `start ${n}`, n * 600 + beat * 200), false);
  assert.equal(twins.heard(2, 'start 0', 0), false);
});
