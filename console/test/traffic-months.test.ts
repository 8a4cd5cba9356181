/** Months that one may choose. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { monthQuery, monthsBefore } from '../src/traffic/months.ts';

test('the newest month is there as soon as it has begun anywhere, whatever the clock of the browser says', () => {
  const months = monthsBefore(new Date('2026-12-31T11:00:00Z'));
  assert.deepEqual([months.length, months[0], months[1], months.at(-1)], [24, '2027-01', '2026-12', '2025-02']);
  assert.equal(monthsBefore(new Date('2026-12-31T09:59:59Z'))[0], '2026-12');
  assert.deepEqual(monthQuery('2027-01'), { year: 2027, month: 1 });
});
