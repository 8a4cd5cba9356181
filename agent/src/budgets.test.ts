import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Budgets } from './budgets.ts';

test('so many at once, then one in so long; a party that rested has all of it again, and another its own', () => {
  const budgets = new Budgets({ most: 3, everyMs: 100 });
  const spent = (party: string, now: number) => {
    let times = 0;
    for (; budgets.has(party, now); times++) budgets.spend(party, now);
    return times;
  };
  assert.equal(spent('a', 0), 3);
  assert.equal(spent('a', 99), 0);
  assert.equal(spent('b', 99), 3);
  assert.equal(spent('a', 100), 1);
  assert.equal(spent('a', 350), 2);
  assert.equal(spent('a', 10_000), 3);
});
