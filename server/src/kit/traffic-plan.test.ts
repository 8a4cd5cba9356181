/** What may be used in a month, and of which plan it is taken. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type PlanInMonth, planOf, reachedOf, stateOf, wholeOf } from './traffic-plan.ts';

const used = (days: number[], baseBytes: number) => ({ days, bytes: days.reduce((a, b) => a + b, 0), baseBytes });
const plan = (id: number, bytes: number, more: Partial<PlanInMonth> = {}): PlanInMonth => ({
  id,
  bytes,
  lastDay: 31,
  isOver: false,
  ...more,
});
const none = new Map<number, number>();

describe('what may be used of a product in a month', () => {
  test('what the product holds, and all that is left of its plans', () => {
    assert.deepEqual(planOf(used([10, 20], 100), [plan(1, 50), plan(2, 7)], none), { extraBytes: 57, draws: new Map() });
    assert.deepEqual(planOf(used([10, 20], 100), [plan(1, 50)], new Map([[1, 49]])).extraBytes, 1);
    assert.equal(wholeOf(100, 57), 157);
  });
  test('is without a bound where the product has none: then nothing is taken of a plan', () => {
    assert.deepEqual(planOf(used([10, 20], 0), [plan(1, 50)], none), { extraBytes: 0, draws: new Map() });
    assert.equal(wholeOf(0, 50), 0);
    assert.equal(reachedOf(Number.MAX_SAFE_INTEGER, 0), null);
  });
  test('what is used beyond the product is taken of plans in turn', () => {
    const { draws, extraBytes } = planOf(used([100, 30], 100), [plan(1, 20), plan(2, 20), plan(3, 20)], none);
    assert.deepEqual([...draws], [[1, 20], [2, 10]]); // prettier-ignore
    assert.equal(extraBytes, 60);
    assert.deepEqual([...planOf(used([100, 30], 100), [plan(1, 20), plan(2, 20)], new Map([[1, 15]])).draws], [[1, 5], [2, 20]]); // prettier-ignore
  });
  test('a plan that ended within the month covers what was used until then, its last day whole, and no more', () => {
    const over = plan(1, 50, { lastDay: 2, isOver: true });
    const { draws, extraBytes } = planOf(used([90, 15, 30], 100), [over, plan(2, 40)], none);
    assert.deepEqual([...draws], [[1, 5], [2, 30]]); // prettier-ignore
    // what is left of the first is gone
    assert.equal(extraBytes, 5 + 40);
    assert.equal(planOf(used([10, 10, 10], 100), [over], none).extraBytes, 0);
  });
  test('warns from 80 % on, and is used up at all of it', () => {
    assert.deepEqual([79, 80, 99, 100, 120].map(bytes => reachedOf(bytes, 100)), [null, 'warningShare', 'warningShare', 'limitedShare', 'limitedShare']); // prettier-ignore
    assert.equal(stateOf(null, 'limit'), 'normal');
    assert.equal(stateOf('warningShare', 'limit'), 'warning');
    assert.equal(stateOf('limitedShare', 'limit'), 'limited');
    for (const action of ['none', 'notify']) assert.equal(stateOf('limitedShare', action), 'warning');
  });
});
