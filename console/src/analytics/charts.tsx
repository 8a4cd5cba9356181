/** The six charts of the dashboard. */
import { chartPalette, statisticTypes as types } from '#contract/limits.ts';
import { type Series, type Sight, TimeChart } from '../kit/chart.tsx';
import { growth } from '../kit/chart-data.ts';
import { useCan } from '../kit/permissions.ts';
import { linkTo } from '../kit/screens.ts';
import { t } from '../kit/text.ts';
import { bitRate, bytes, count, percent, signed } from '../kit/units.ts';
import type { Figures } from './figures.ts';
import {
  bornAfter,
  column,
  type RangeName,
  requestsOf,
  share,
  shareColumn,
  statusClasses,
  type StatusClass,
  statusColumns,
  statusTotals,
  type Step,
  timesOf,
} from './series.ts';

const [petrol, blue, orange, red, green, violet] = chartPalette;
const grey = chartPalette[10];
const statusColors: Record<StatusClass, string> = { '2xx': petrol, '3xx': blue, '4xx': orange, '5xx': red, other: grey };
const sync = 'dashboard';

/** While the figures are on their way the charts stand there already, at their final size. */
export function Charts({ figures, range }: { figures: Figures | undefined; range: RangeName }) {
  const can = useCan();
  const logger = can('POST /{area}/logs/access') ? linkTo('logger') : undefined;
  const steps: readonly Step[] = figures?.steps ?? [];
  const total = (type: number) => figures?.totals.get(type) ?? 0;
  const unborn = figures?.unborn ?? 0;
  const columnOf = (type: number) => bornAfter(column(steps, type), unborn);
  const before = figures?.before;
  /** The column a period earlier, beside which that of a type is shown. */
  const earlier = (type: number) => before && bornAfter(column(before.steps, type), before.unborn);
  const line = (label: Parameters<typeof t>[0], values: Float64Array, color: string, beside?: Float64Array): Series => ({
    label: t(label),
    values,
    color,
    before: beside,
  });
  const times = figures && timesOf(steps);
  const asked = (sight: Sight | undefined, more: object = {}) => {
    const search = times && requestsOf(range, times, sight, figures.at);
    return logger && search ? { to: logger, search: { ...search, ...more } } : undefined;
  };
  /** The total, and how much more or less that is than a period before. */
  const totalOf = (type: number, format: (value: number) => string) => {
    const was = earlier(type);
    const more = was && growth(column(steps, type), was);
    return [
      t('chart.total', { value: format(total(type)) }),
      ...(was ? [more === undefined ? t('chart.noBefore') : t('chart.growth', { value: signed(more) })] : []),
    ].join(' · ');
  };
  const common = {
    times,
    isRunning: figures?.isRunning ?? false,
    sync,
    requests: (sight: Sight | undefined) => asked(sight),
  };
  const bandwidth = figures?.bandwidth;
  const traffic = columnOf(types.traffic);
  const requests = columnOf(types.requests);
  const upstreamRequests = columnOf(types.upstreamRequests);
  const statuses = statusColumns(steps);
  const statusSums = statusTotals(statuses);
  const ofAll = (name: StatusClass) =>
    percent(
      share(
        statusSums[name],
        statusClasses.reduce((sum, one) => sum + statusSums[one], 0),
      ),
    );
  const nameOf = (name: StatusClass) => (name === 'other' ? t('series.other') : name);
  const classNamed = (label: string) => statusClasses.find(name => nameOf(name) === label);
  return (
    <div className="charts">
      <TimeChart
        {...common}
        title={t('dashboard.traffic')}
        summary={totalOf(types.traffic, bytes)}
        format={bytes}
        series={[
          line('series.traffic', traffic, petrol, earlier(types.traffic)),
          line('series.upstreamTraffic', columnOf(types.upstreamTraffic), orange),
        ]}
      />
      <TimeChart
        {...common}
        title={t('dashboard.bandwidth')}
        summary={[
          t('chart.p95', { value: bitRate(bandwidth?.p95 ?? 0) }),
          t('chart.peak', { value: bitRate(bandwidth?.peak ?? 0) }),
        ].join(' · ')}
        format={bitRate}
        series={[line('series.bandwidth', columnOf(types.bandwidth), blue, earlier(types.bandwidth))]}
      />
      <TimeChart
        {...common}
        title={t('dashboard.requests')}
        summary={totalOf(types.requests, count)}
        format={count}
        series={[
          line('series.requests', requests, violet, earlier(types.requests)),
          line('series.cacheHitRequests', columnOf(types.cacheHitRequests), green),
        ]}
      />
      <TimeChart
        {...common}
        title={t('dashboard.upstreamRequests')}
        summary={[
          totalOf(types.upstreamRequests, count),
          t('dashboard.upstreamShare', { value: percent(share(total(types.upstreamRequests), total(types.requests))) }),
        ].join(' · ')}
        format={count}
        series={[line('series.upstreamRequests', upstreamRequests, orange, earlier(types.upstreamRequests))]}
      />
      <TimeChart
        {...common}
        title={t('dashboard.cache')}
        summary={t('dashboard.hitSummary', {
          requests: percent(share(total(types.cacheHitRequests), total(types.requests))),
          traffic: percent(share(total(types.cacheHitTraffic), total(types.traffic))),
        })}
        format={percent}
        max={1}
        series={[
          line('series.hitRequests', shareColumn(columnOf(types.cacheHitRequests), requests), green),
          line('series.hitTraffic', shareColumn(columnOf(types.cacheHitTraffic), traffic), blue),
        ]}
      />
      <TimeChart
        {...common}
        title={t('dashboard.statusCodes')}
        summary={`4xx ${ofAll('4xx')} · 5xx ${ofAll('5xx')}`}
        format={count}
        // of one class alone: its requests alone
        requests={(sight, shown) => {
          const only = shown.length === 1 ? classNamed(shown[0]!.label) : undefined;
          return only === 'other' ? undefined : asked(sight, only && { status: only });
        }}
        series={statusClasses
          .filter(name => name !== 'other' || statusSums.other > 0)
          .map(name => ({
            label: nameOf(name),
            values: bornAfter(statuses[name], unborn),
            color: statusColors[name],
          }))}
      />
    </div>
  );
}
