/** The first page: what there is, and the traffic of the last day or month. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Segmented } from 'antd';
import { chartPalette, polling, statistics, statisticTypes as types } from '#contract/limits.ts';
import { TimeChart } from '../kit/chart.tsx';
import { call } from '../kit/client.ts';
import { ErrorState } from '../kit/empty.tsx';
import { Page } from '../kit/page.tsx';
import { useCan } from '../kit/permissions.ts';
import { query } from '../kit/query.ts';
import { t } from '../kit/text.ts';
import { dateTime, snappedRange } from '../kit/time.ts';
import { bitRate, bytes, count, number, percent } from '../kit/units.ts';
import { column, share, statusClasses, statusColumns, timesOf } from './series.ts';

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
const hour = 60;
const ranges = {
  hours: { spanMinutes: statistics.dashboardHours * hour, stepMinutes: statistics.dashboardIntervalsMinutes.traffic },
  days: { spanMinutes: statistics.dashboardDays * 24 * hour, stepMinutes: 3 * hour },
} as const;
type Range = keyof typeof ranges;

const [petrol, blue, orange, red, green, violet] = chartPalette;
const grey = chartPalette[10];
const statusColors = { '2xx': petrol, '3xx': blue, '4xx': orange, '5xx': red, other: grey };

export default function Dashboard() {
  const can = useCan();
  const search = useSearch({ strict: false }) as { range?: string };
  const navigate = useNavigate();
  const range: Range = search.range === 'days' ? 'days' : 'hours';
  const isAllowed = can('POST /{area}/statistics/timeSeries');
  const answers = useQuery({
    queryKey: ['dashboard', range],
    enabled: isAllowed,
    refetchInterval: polling.liveStatisticsPollMs,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const { spanMinutes, stepMinutes } = ranges[range];
      const body = {
        ...snappedRange(new Date(), spanMinutes, statistics.rangeStepMinutes),
        types: [...asked],
        reportInterval: stepMinutes,
      };
      const [series, info] = await Promise.all([
        call('POST /{area}/statistics/timeSeries', { query: { pageSize: 2000 }, body }, { signal }),
        call('POST /{area}/statistics/info', { body }, { signal }),
      ]);
      return { steps: series.data, totals: new Map(info.data.map(total => [total.type as number, total])), at: Date.now() };
    },
  });

  return (
    <Page
      title={t('page.dashboard')}
      note={answers.data && <span className="numbers">{t('dashboard.updated', { time: dateTime(answers.data.at) })}</span>}
      actions={
        <Segmented
          aria-label={t('log.range')}
          value={range}
          onChange={next => void navigate({ to: '.', search: (next === 'hours' ? {} : { range: next }) as never, replace: true })}
          options={(['hours', 'days'] as const).map(value => ({ value, label: t(`dashboard.${value}`) }))}
        />
      }
    >
      <Cards />
      {answers.error && !answers.data ? (
        <div className="panel">
          <ErrorState error={answers.error} onRetry={() => void answers.refetch()} />
        </div>
      ) : isAllowed ? (
        <Charts answers={answers.data} />
      ) : null}
    </Page>
  );
}

function Cards() {
  const can = useCan();
  const info = useQuery({ ...query('GET /{area}/resourceInfo'), enabled: can('GET /{area}/resourceInfo') });
  const cards = [
    ['siteCount', number],
    ['domainCount', number],
    ['currentMonthTraffic', bytes],
    ['lastMonthTraffic', bytes],
  ] as const;
  return (
    <div className="cards">
      {cards.map(([name, format]) => (
        <div key={name} className="panel card">
          <div className="card-name">{t(`dashboard.${name}`)}</div>
          <div className="card-value">
            {info.data ? format(info.data[name]) : <span className="skeleton-cell card-skeleton" />}
          </div>
        </div>
      ))}
    </div>
  );
}

interface Answers {
  steps: Parameters<typeof timesOf>[0];
  totals: Map<number, { total: number; peak?: number; p95?: number; parts?: Record<string, number> }>;
}

function Charts({ answers }: { answers: Answers | undefined }) {
  if (!answers) return <ChartSkeletons />;
  const { steps, totals } = answers;
  const times = timesOf(steps);
  const total = (type: number) => totals.get(type)?.total ?? 0;
  const line = (label: Parameters<typeof t>[0], type: number, color: string, isFilled = false) => ({
    label: t(label),
    values: column(steps, type),
    color,
    isFilled,
  });
  const statuses = statusColumns(steps);
  const common = { times, sync: 'dashboard' };
  const bandwidth = totals.get(types.bandwidth);
  return (
    <div className="charts">
      <TimeChart
        {...common}
        title={t('dashboard.traffic')}
        summary={t('chart.total', { value: bytes(total(types.traffic)) })}
        format={bytes}
        series={[
          line('series.traffic', types.traffic, petrol, true),
          line('series.upstreamTraffic', types.upstreamTraffic, orange),
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
        series={[line('series.bandwidth', types.bandwidth, blue, true)]}
      />
      <TimeChart
        {...common}
        title={t('dashboard.cache')}
        summary={t('dashboard.hitRate', { value: percent(share(total(types.cacheHitRequests), total(types.requests))) })}
        format={bytes}
        series={[
          line('series.cacheHitTraffic', types.cacheHitTraffic, green, true),
          line('series.upstreamTraffic', types.upstreamTraffic, orange),
        ]}
      />
      <TimeChart
        {...common}
        title={t('dashboard.requests')}
        summary={t('chart.total', { value: count(total(types.requests)) })}
        format={count}
        series={[
          line('series.requests', types.requests, violet, true),
          line('series.cacheHitRequests', types.cacheHitRequests, green),
        ]}
      />
      <TimeChart
        {...common}
        title={t('dashboard.upstreamRequests')}
        summary={t('chart.total', { value: count(total(types.upstreamRequests)) })}
        format={count}
        series={[line('series.upstreamRequests', types.upstreamRequests, orange, true)]}
      />
      <TimeChart
        {...common}
        title={t('dashboard.statusCodes')}
        format={count}
        series={statusClasses
          .filter(name => name !== 'other' || statuses.other.some(value => value > 0))
          .map(name => ({
            label: name === 'other' ? t('series.other') : name,
            values: statuses[name],
            color: statusColors[name],
          }))}
      />
    </div>
  );
}

function ChartSkeletons() {
  return (
    <div className="charts" aria-busy>
      {Array.from({ length: 6 }, (_, index) => (
        <div key={index} className="panel chart-skeleton" />
      ))}
    </div>
  );
}
