import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bornAfter,
  column,
  dashboardRanges,
  isRunning,
  monthPace,
  periodBefore,
  rangeAt,
  requestsOf,
  share,
  shareColumn,
  statusClassOf,
  statusColumns,
  statusTotals,
  type Step,
  timesOf,
  totalsOf,
  unbornSteps,
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

test('before there was anything to count there is a gap; what was counted is shown wherever it comes from', () => {
  const quarter = { reportInterval: 15 };
  const empty = ['07:15', '07:30', '07:45'].map(clock => ({ time: `2026-11-20T${clock}:00.000Z`, values: { 2: 0, 5: {} } }));
  const all = [...empty, ...steps];
  assert.equal(unbornSteps(all, '2020-01-01T00:00:00Z', quarter), 0);
  assert.equal(unbornSteps(all, '2026-11-20T07:45:00Z', quarter), 2, 'a step that is over just then');
  assert.equal(unbornSteps(all, '2026-11-20T07:44:59Z', quarter), 1, 'a step in which it began');
  assert.equal(unbornSteps(all, '2026-11-21T00:00:00Z', quarter), 3, 'lines that are older than the account');
  assert.equal(unbornSteps(empty, '2026-11-21T00:00:00Z', quarter), 3);
  assert.deepEqual([...bornAfter(column(all, 2), 3)], [Number.NaN, Number.NaN, Number.NaN, 1000, 0, 500]);
});

test('the period before is as long and as far along', () => {
  const now = Date.parse('2026-11-20T08:07:42Z');
  assert.deepEqual(periodBefore(rangeAt('hours', now), 'hours'), {
    startTime: '2026-11-18T08:10:00.000Z',
    endTime: '2026-11-19T08:07:42.000Z',
    reportInterval: 15,
  });
  const days = periodBefore(rangeAt('days', now), 'days');
  assert.equal(Date.parse(rangeAt('days', now).startTime) - Date.parse(days.startTime), 30 * 86_400_000);
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

test('the requests behind what a chart shows: whole steps in sight, up to now, and never more than the log shows at once', () => {
  const at = Date.parse('2026-11-20T12:05:00Z');
  const quarter = 900;
  const times = Float64Array.from({ length: 96 }, (_, index) => at / 1000 - 300 - (95 - index) * quarter);
  assert.deepEqual(requestsOf('hours', times, undefined, at), { range: 'last24h' });
  assert.deepEqual(requestsOf('hours', times, [times[10]! - 5, times[12]! + 5], at), {
    range: 'custom',
    startTime: new Date(times[10]! * 1000).toISOString(),
    endTime: new Date((times[12]! + quarter) * 1000).toISOString(),
  });
  assert.equal(requestsOf('hours', times, [times[94]!, times[95]!], at)?.endTime, new Date(at).toISOString());
  assert.equal(requestsOf('hours', times, [times[1]! + 1, times[2]! - 1], at), undefined, 'between two steps there is none');
  const threeHours = Float64Array.from({ length: 240 }, (_, index) => at / 1000 - (239 - index) * 10_800);
  assert.equal(requestsOf('days', threeHours, undefined, at), undefined);
  assert.equal(requestsOf('days', threeHours, [threeHours[0]!, threeHours[8]!], at), undefined, 'nine steps are 27 hours');
  assert.ok(requestsOf('days', threeHours, [threeHours[0]!, threeHours[7]!], at));
});
