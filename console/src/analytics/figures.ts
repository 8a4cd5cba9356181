/** What the first page asks: the instant it tells of, its steps and its totals. */
import { statisticTypes as types } from '#contract/limits.ts';
import { call } from '../kit/client.ts';
import { query, queryClient } from '../kit/query.ts';
import { isRunning, periodBefore, rangeAt, type RangeName, totalsOf, unbornSteps } from './series.ts';

const asked = [
  types.traffic,
  types.bandwidth,
  types.requests,
  types.statusCodes,
  types.cacheHitTraffic,
  types.cacheHitRequests,
  types.upstreamTraffic,
  types.upstreamRequests,
];
const stepsMax = 1000;

export const cardsQuery = query('GET /{area}/resourceInfo');
/** Everything of this page is asked under such a key, or under that of the cards. */
export const dashboardKey = 'dashboard';

/**
 * The instant the figures of the page run to: that of the cards, reckoned by the server. Who asks while the cards are being asked waits
 * for them; who asks much later than they has them asked again. So cards, charts and lists tell of the same time, whatever clock the
 * browser has. Without cards, nothing has to agree with them.
 */
export async function asOf(hasCards: boolean): Promise<{ now: number; monthStart?: string }> {
  const cards = hasCards ? await queryClient.fetchQuery({ ...cardsQuery, retry: false }).catch(() => undefined) : undefined;
  return cards ? { now: Date.parse(cards.asOf), monthStart: cards.monthStart } : { now: Date.now() };
}

/**
 * Steps and totals of a range up to an instant, and of the month. Lines come in all the time, so whatever has to agree is of one answer:
 * totals are sums of the steps, and the month is read together with them. Of bandwidth, the rates alone are asked by themselves.
 */
export async function figures(
  { name, isCompared }: { name: RangeName; isCompared: boolean },
  { now, monthStart }: Awaited<ReturnType<typeof asOf>>,
  signal: AbortSignal,
) {
  const range = rangeAt(name, now);
  const before = periodBefore(range, name);
  const [series, info, earlier] = await Promise.all([
    call(
      'POST /{area}/statistics/timeSeries',
      { query: { pageSize: stepsMax }, body: { ...range, types: [...asked], totalsFrom: monthStart } },
      { signal },
    ),
    call('POST /{area}/statistics/info', { body: { ...range, types: [types.bandwidth] } }, { signal }),
    isCompared
      ? call(
          'POST /{area}/statistics/timeSeries',
          { query: { pageSize: stepsMax }, body: { ...before, types: [...asked] } },
          { signal },
        )
      : undefined,
  ]);
  return {
    steps: series.data,
    unborn: unbornSteps(series.data, series.since, range),
    before: earlier && { steps: earlier.data, unborn: unbornSteps(earlier.data, earlier.since, before) },
    isRunning: isRunning(series.data, range),
    totals: totalsOf(series.data, asked),
    month: series.totals?.[types.traffic],
    bandwidth: info.data[0],
    at: now,
  };
}
export type Figures = Awaited<ReturnType<typeof figures>>;
