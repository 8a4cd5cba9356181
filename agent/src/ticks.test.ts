import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ticks } from './ticks.ts';

const ours = { epoch: 'e', n: 10 };
/** Words of relays, `a10` for number 10 of relay a, two seconds apart → at which of them it is asked */
const asked = (...words: string[]) => {
  const ticks = new Ticks();
  return words.filter((word, i) => ticks.heard({ epoch: 'e', n: Number(word.slice(1)), by: word[0]! }, ours, i * 2000));
};

test('what is ahead of us, or another epoch, is asked after at once', () => {
  assert.deepEqual(asked('a10', 'a11'), ['a11']);
  assert.ok(new Ticks().heard({ epoch: 'f', n: 1, by: 'a' }, ours, 0));
});

test('a second relay that lags makes nobody ask, however often it speaks, while the first knows as much as we', () => {
  assert.deepEqual(asked('a10', 'b5', 'b5', 'b5', 'a10', 'b5', 'b6', 'a10'), []);
});

test('a control plane that went back is noticed at its second word: when nobody else speaks, and when the others have gone', () => {
  assert.deepEqual(asked('b5', 'b5'), ['b5']);
  assert.deepEqual(asked('a10', 'b3', 'b4', 'b5', 'b6', 'b7'), ['b7']);
  assert.deepEqual(asked('a10', 'a5', 'a10', 'a5', 'a6'), ['a6']);
  // each heard the other a moment ago, and neither has known as much as we for eight seconds
  assert.deepEqual(asked('a10', 'b10', 'a5', 'b5', 'a6', 'b6', 'a7'), ['b6', 'a7']);
});
