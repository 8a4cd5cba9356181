import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  axisWords,
  folded,
  growth,
  inTwo,
  lastFull,
  lastOf,
  lineColors,
  niceMax,
  othersColor,
  peakOf,
  seriesMost,
  tableRows,
  tableRowsMax,
  toggled,
  withGaps,
} from '../src/kit/chart-data.ts';

const { NaN: gap } = Number;

test('gaps become null, and only gaps cost a copy', () => {
  const full = Float64Array.of(1, 2);
  assert.equal(withGaps(full), full);
  assert.deepEqual(withGaps(Float64Array.of(1, gap, 0)), [1, null, 0]);
});

test('last and highest value look past gaps', () => {
  assert.equal(lastOf(Float64Array.of(3, 1, gap)), 1);
  assert.equal(peakOf(Float64Array.of(gap, 3, 1, gap)), 3);
  assert.ok(Number.isNaN(lastOf(Float64Array.of(gap))));
  assert.ok(Number.isNaN(peakOf(new Float64Array())));
});

test('many lines: the largest first, what is beyond their number in one, and nothing of their sum lost', () => {
  const line = (label: string, ...values: number[]) => ({ label, values: Float64Array.of(...values), color: '' });
  const others = (count: number) => ({ label: `${count} others`, color: othersColor });
  const all = [line('a', 1, gap), line('b', 5, 5), line('c', gap, 3), line('d', 2, gap)];
  assert.deepEqual(
    folded(all, others, 4).map(one => one.label),
    ['b', 'c', 'd', 'a'],
  );
  const few = folded(all, others, 2);
  assert.deepEqual(
    few.map(one => one.label),
    ['b', '3 others'],
  );
  assert.deepEqual([...few[1]!.values], [3, 3]);
  assert.deepEqual([...folded([line('a', 2), line('b', gap), line('c', gap)], others, 2)[1]!.values], [gap], 'gaps stay gaps');
  // the colour of the fold is no line's
  assert.equal(lineColors.length, seriesMost - 1);
  assert.ok(!lineColors.includes(othersColor));
  assert.deepEqual([...toggled(toggled(new Set(['x']), 'y'), 'x')], ['y']);
});

test('growth on the period before: gaps count for nothing, and of nothing nothing can be said', () => {
  assert.equal(growth(Float64Array.of(3, gap, 3), Float64Array.of(gap, 4, gap)), 0.5);
  assert.equal(growth(Float64Array.of(3), Float64Array.of(gap, 0)), undefined);
});

test('a step that still runs is drawn apart and is not the current value', () => {
  const values = Float64Array.of(5, 7, 2);
  assert.deepEqual([...inTwo(values).over], [5, 7, gap]);
  assert.deepEqual([...inTwo(values).running], [gap, 7, 2]);
  assert.deepEqual([...inTwo(Float64Array.of(2)).running], [2]);
  assert.equal(lastFull(values, true), 7);
  assert.equal(lastFull(values, false), 2);
  assert.equal(lastFull(Float64Array.of(2), true), 2);
});

test('the top of an axis is round and not below the highest value', () => {
  for (const [max, top] of [
    [0, 1],
    [null, 1],
    [gap, 1],
    [0.93, 1],
    [7, 8],
    [99, 120],
    [1_116_566, 1_200_000],
  ] as const)
    assert.equal(niceMax(max), top);
  for (let max = 0.0013; max < 1e15; max *= 1.37) assert.ok(niceMax(max) >= max && niceMax(max) <= max * 2.1, String(max));
});

test('words under an axis: the hour within a day, the date at midnight, the year where it begins', () => {
  const at = (year: number, month: number, day: number, hour = 0, minute = 0) =>
    new Date(year, month - 1, day, hour, minute).getTime() / 1000;
  assert.deepEqual(axisWords([at(2026, 11, 20, 20), at(2026, 11, 21), at(2026, 11, 21, 4)]), ['20:00', '11/21', '04:00']);
  assert.deepEqual(axisWords([at(2026, 12, 30), at(2027, 1, 1), at(2027, 1, 3)]), ['12/30', '2027/01/01', '01/03']);
  assert.deepEqual(axisWords([at(2026, 11, 20, 8, 5), at(2026, 11, 20, 8, 5) + 30]), ['08:05:00', '08:05:30']);
  assert.deepEqual(axisWords([]), []);
});

test('a table shows the newest rows first', () => {
  assert.deepEqual(tableRows(3), [2, 1, 0]);
  assert.equal(tableRows(10_000).length, tableRowsMax);
  assert.equal(tableRows(10_000)[0], 9999);
});
