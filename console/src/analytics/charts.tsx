/** The six charts of the dashboard. */
import { chartPalette, statisticTypes as types } from '#contract/limits.ts';
import { type Series, TimeChart } from '../kit/chart.tsx';
import { t } from '../kit/text.ts';
import { bitRate, bytes, count, percent } from '../kit/units.ts';
import type { Figures } from './figures.ts';
import {
  column,
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
export function Charts({ figures }: { figures: Figures | undefined }) {
  const steps: readonly Step[] = figures?.steps ?? [];
  const total = (type: number) => figures?.totals.get(type) ?? 0;
  const columnOf = (type: number) => column(steps, type);
  const line = (label: Parameters<typeof t>[0], values: Float64Array, color: string): Series => ({
    label: t(label),
    values,
    color,
  });
  const common = { times: figures && timesOf(steps), isRunning: figures?.isRunning ?? false, sync };
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
  return (
    <div className="charts">
      <TimeChart
        {...common}
        title={t('dashboard.traffic')}
        summary={t('chart.total', { value: bytes(total(types.traffic)) })}
        format={bytes}
        series={[
          line('series.traffic', traffic, petrol),
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
        series={[line('series.bandwidth', columnOf(types.bandwidth), blue)]}
      />
      <TimeChart
        {...common}
        title={t('dashboard.requests')}
        summary={t('chart.total', { value: count(total(types.requests)) })}
        format={count}
        series={[
          line('series.requests', requests, violet),
          line('series.cacheHitRequests', columnOf(types.cacheHitRequests), green),
        ]}
      />
      <TimeChart
        {...common}
        title={t('dashboard.upstreamRequests')}
        summary={[
          t('chart.total', { value: count(total(types.upstreamRequests)) }),
          t('dashboard.upstreamShare', { value: percent(share(total(types.upstreamRequests), total(types.requests))) }),
        ].join(' · ')}
        format={count}
        series={[line('series.upstreamRequests', upstreamRequests, orange)]}
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
        series={statusClasses
          .filter(name => name !== 'other' || statusSums.other > 0)
          .map(name => ({
            label: name === 'other' ? t('series.other') : name,
            values: statuses[name],
            color: statusColors[name],
          }))}
      />
    </div>
  );
}
