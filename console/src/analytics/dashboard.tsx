/** The first page: what there is, and the traffic of the last day or month. */
import './analytics.css';
import '../kit/cards.css';
import { ReloadOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Button, Segmented } from 'antd';
import { polling, statisticTypes as types } from '#contract/limits.ts';
import { type AnswerOf, call } from '../kit/client.ts';
import { Empty, ErrorState } from '../kit/empty.tsx';
import { Page } from '../kit/page.tsx';
import { useCan } from '../kit/permissions.ts';
import { query } from '../kit/query.ts';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { bytes, number } from '../kit/units.ts';
import { Charts } from './charts.tsx';
import { FirstSteps } from './first-steps.tsx';
import { monthPace, rangeAt, type RangeName } from './series.ts';
import { Tops } from './tops.tsx';

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

type Info = AnswerOf<'GET /{area}/resourceInfo'>;

/** Steps and totals of a range. Visitors of the running step count at once where there were none before. */
async function figures(range: RangeName, signal: AbortSignal) {
  const ask = async (toNow: boolean) => {
    const body = { ...rangeAt(range, Date.now(), toNow), types: [...asked] };
    const [series, info] = await Promise.all([
      call('POST /{area}/statistics/timeSeries', { query: { pageSize: stepsMax }, body }, { signal }),
      call('POST /{area}/statistics/info', { body }, { signal }),
    ]);
    return { steps: series.data, totals: new Map(info.data.map(one => [one.type as number, one])), at: Date.now() };
  };
  const full = await ask(false);
  return full.totals.get(types.requests)?.total ? full : ask(true);
}
export type Figures = Awaited<ReturnType<typeof figures>>;

export default function Dashboard() {
  const can = useCan();
  const search = useSearch({ strict: false }) as { range?: string };
  const navigate = useNavigate();
  const range: RangeName = search.range === 'days' ? 'days' : 'hours';
  const isAllowed = can('POST /{area}/statistics/timeSeries');
  const info = useQuery({
    ...query('GET /{area}/resourceInfo'),
    enabled: can('GET /{area}/resourceInfo'),
    refetchInterval: polling.liveStatisticsPollMs,
  });
  const answers = useQuery({
    queryKey: ['dashboard', range],
    enabled: isAllowed,
    refetchInterval: polling.liveStatisticsPollMs,
    queryFn: ({ signal }) => figures(range, signal),
  });
  // A site that never had a visitor needs no charts of nothing, it needs the next step.
  const isSilent = answers.data !== undefined && !answers.data.totals.get(types.requests)?.total;
  const isNew = info.data !== undefined && !info.data.currentMonthTraffic && !info.data.lastMonthTraffic;
  const isStale = answers.error !== null && answers.data !== undefined;

  return (
    <Page
      title={t('menu.dashboard')}
      note={
        answers.data ? (
          <span className={isStale ? 'numbers bad' : 'numbers'} role={isStale ? 'alert' : undefined}>
            {t(isStale ? 'dashboard.updateFailed' : 'dashboard.updated', { time: dateTime(answers.data.at) })}
          </span>
        ) : (
          // Holds the line's place: nothing jumps when the figures arrive.
          isAllowed && t(answers.error ? 'empty.broken' : 'page.loading')
        )
      }
      actions={
        isAllowed && (
          <>
            <Segmented
              aria-label={t('dashboard.range')}
              value={range}
              onChange={next =>
                void navigate({ to: '.', search: (next === 'hours' ? {} : { range: next }) as never, replace: true })
              }
              options={(['hours', 'days'] as const).map(value => ({ value, label: t(`dashboard.${value}`) }))}
            />
            <Button
              type="text"
              icon={<ReloadOutlined spin={answers.isFetching} />}
              aria-label={t('list.refresh')}
              title={t('list.refresh')}
              onClick={() => void Promise.all([answers.refetch(), info.refetch()])}
            />
          </>
        )
      }
    >
      {can('GET /{area}/resourceInfo') && <Cards info={info.data} isBroken={info.isError} />}
      {isAllowed && isNew && (isSilent || info.data.domainCount === 0) ? (
        <FirstSteps info={info.data} />
      ) : isAllowed && answers.error && !answers.data ? (
        <div className="panel">
          <ErrorState error={answers.error} onRetry={() => void answers.refetch()} />
        </div>
      ) : isAllowed ? (
        <>
          <Charts figures={answers.data} />
          <Tops range={range} />
        </>
      ) : (
        // Figures are not for everybody; the menu holds what this account may see.
        <div className="panel">
          <Empty drawing="locked" title={t('dashboard.noFigures')}>
            {t('dashboard.noFiguresText')}
          </Empty>
        </div>
      )}
    </Page>
  );
}

const cards = [
  ['siteCount', number],
  ['domainCount', number],
  ['currentMonthTraffic', bytes],
  ['lastMonthTraffic', bytes],
] as const;

function Cards({ info, isBroken }: { info: Info | undefined; isBroken: boolean }) {
  const pace = info && monthPace(info);
  return (
    <div className="cards">
      {cards.map(([name, format]) => (
        <div key={name} className="panel card">
          <div className="card-name">{t(`dashboard.${name}`)}</div>
          <div className="card-value">
            {info ? (
              format(info[name])
            ) : isBroken ? (
              <span title={t('empty.broken')}>–</span>
            ) : (
              <span className="skeleton-cell card-skeleton" />
            )}
            {name === 'currentMonthTraffic' && pace !== undefined && (
              <span className="card-delta" title={t('dashboard.pace')}>
                {signed(pace)}
              </span>
            )}
          </div>
        </div>
      ))}
    </div>
  );
}

const paceMax = 9.99;
/** `+6.1%`; more traffic is neither good nor bad, so it has no colour. */
function signed(value: number) {
  const shown = Math.min(Math.abs(value), paceMax) * 100;
  return `${value < 0 ? '−' : '+'}${shown.toFixed(shown < 100 ? 1 : 0)}%${value > paceMax ? '↑' : ''}`;
}
