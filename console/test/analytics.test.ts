import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  column,
  dashboardRanges,
  isRunning,
  monthPace,
  rangeAt,
  share,
  shareColumn,
  statusClassOf,
  statusColumns,
  statusTotals,
  type Step,
  timesOf,
  totalsOf,
} from '../src/analytics/series.ts';

const steps: Step[] = [
  { time: '2026-11-20T08:00:00.000Z', values: { 2: 1000, 4: 10, 12: 5, 5: { 200: 6, 206: 1, 304: 2, 404: 1 } } },
  { time: '2026-11-20T08:15:00.000Z', values: { 2: 0, 4: 0, 12: 0, 5: {} } },
  { time: '2026-11-20T08:30:00.000Z', values: { 2: 500, 4: 4, 12: 4, 5: { 502: 1, 903: 2, 444: 1, other: 3 } } },
];

test('steps become columns, times in seconds', () => {
  assert.deepEqual(
    [...timesOf(steps)],
    [1763625600, 1763626500, 1763627400].map(time => time + 365 * 86_400),
  );
  assert.deepEqual([...column(steps, 2)], [1000, 0, 500]);
});

test('a type that is no number, or is not there, is a column of zeros', () => {
  assert.deepEqual([...column(steps, 5)], [0, 0, 0]);
  assert.deepEqual([...column(steps, 99)], [0, 0, 0]);
});

test('a share of nothing is a gap in a column and 0 in a total', () => {
  assert.deepEqual([...shareColumn(column(steps, 12), column(steps, 4))], [0.5, Number.NaN, 1]);
  // hits counted just before the whole was
  assert.deepEqual([...shareColumn(Float64Array.of(3), Float64Array.of(2))], [1]);
  assert.equal(share(1, 0), 0);
  assert.equal(share(1, 4), 0.25);
});

test('codes are summed by class; our own belong to none', () => {
  assert.deepEqual(['200', 301, '444', '503', '903', '978', 'other', '20', ''].map(statusClassOf), [
    '2xx',
    '3xx',
    '4xx',
    '5xx',
    'other',
    'other',
    'other',
    'other',
    'other',
  ]);
  const columns = statusColumns(steps);
  assert.deepEqual([...columns['2xx']], [7, 0, 0]);
  assert.deepEqual([...columns['3xx']], [2, 0, 0]);
  assert.deepEqual([...columns['4xx']], [1, 0, 1]);
  assert.deepEqual([...columns['5xx']], [0, 0, 1]);
  assert.deepEqual([...columns.other], [0, 0, 5]);
  assert.deepEqual(statusTotals(columns), { '2xx': 7, '3xx': 2, '4xx': 2, '5xx': 1, other: 5 });
  assert.deepEqual(statusTotals(statusColumns([])), { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, other: 0 });
  assert.deepEqual(
    [...totalsOf(steps, [2, 4])],
    [
      [2, steps.reduce((sum, step) => sum + (step.values[2] as number), 0)],
      [4, steps.reduce((sum, step) => sum + (step.values[4] as number), 0)],
    ],
  );
});

test('a range ends now, whatever the hour, and its steps begin at round times', () => {
  const now = Date.parse('2026-11-20T08:07:42Z');
  assert.deepEqual(rangeAt('hours', now), {
    startTime: '2026-11-19T08:10:00.000Z',
    endTime: '2026-11-20T08:07:42.000Z',
    reportInterval: 15,
  });
  assert.deepEqual(rangeAt('days', now), {
    startTime: '2026-10-21T09:00:00.000Z',
    endTime: '2026-11-20T08:07:42.000Z',
    reportInterval: 180,
  });
  for (const { spanMinutes, stepMinutes, alignMinutes } of Object.values(dashboardRanges)) {
    assert.equal(spanMinutes % stepMinutes, 0);
    assert.equal(alignMinutes % 5, 0);
  }
});

test('five minutes later the window has moved by five minutes', () => {
  const now = Date.parse('2026-11-20T08:07:42Z');
  const [before, after] = [rangeAt('hours', now), rangeAt('hours', now + 300_000)];
  assert.equal(Date.parse(after.endTime) - Date.parse(before.endTime), 300_000);
  assert.equal(Date.parse(after.startTime) - Date.parse(before.startTime), 300_000);
});

test('the last step still runs until its own end', () => {
  const last = (time: string) => [
    { time: '2026-11-20T08:00:00.000Z', values: {} },
    { time, values: {} },
  ];
  const at = (now: string) => rangeAt('hours', Date.parse(now));
  assert.ok(isRunning(last('2026-11-20T08:15:00.000Z'), at('2026-11-20T08:29:59Z')));
  assert.ok(!isRunning(last('2026-11-20T08:15:00.000Z'), at('2026-11-20T08:30:00Z')));
  assert.ok(!isRunning([], at('2026-11-20T08:30:00Z')));
});

test('the pace of a month says nothing on its first day, and nothing without a month before', () => {
  // a month of Taipei, wherever the browser is
  const november = { monthStart: '2026-10-31T16:00:00.000Z', monthEnd: '2026-11-30T16:00:00.000Z' };
  const pace = (currentMonthTraffic: number, lastMonthTraffic: number, now: string) =>
    monthPace({ ...november, currentMonthTraffic, lastMonthTraffic }, Date.parse(now));
  const half = '2026-11-15T16:00:00Z';
  assert.equal(pace(550, 1000, half)!.toFixed(3), '0.100');
  assert.equal(pace(450, 1000, half)!.toFixed(3), '-0.100');
  assert.equal(pace(450, 0, half), undefined);
  assert.equal(pace(450, 1000, '2026-11-01T03:00:00Z'), undefined);
  assert.equal(pace(1000, 1000, '2026-11-30T17:00:00Z'), 0, 'an answer that outlived its month');
});
