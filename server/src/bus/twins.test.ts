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

test('two boots are told from one before they take turns, and no longer when one of them is silent', () => {
  const twins = new Twins();
  const heard = (second: number, start: string, boot?: string) => {
    const isTwin = twins.heard(1, start, second * 1000, boot);
    return [isTwin, twins.twoBoots(1)];
  };
  assert.deepEqual(heard(0, 'a', 'first'), [false, false]);
  assert.deepEqual(heard(2, 'b', 'first'), [false, false], 'an agent that was started anew');
  assert.deepEqual(heard(3, 'old'), [false, false], 'one of an earlier release says no boot');
  assert.deepEqual(heard(4, 'c', 'second'), [false, true]);
  for (let second = 6; second < 31; second += 2) assert.deepEqual(heard(second, 'c', 'second'), [false, true]);
  assert.deepEqual(heard(33, 'c', 'second'), [false, false]);
});
