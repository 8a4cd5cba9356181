/** The first page: what there is, and the traffic of the last day or month. */
import './analytics.css';
import '../kit/cards.css';
import { ReloadOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Button, Segmented } from 'antd';
import { useEffect } from 'react';
import { polling, statisticTypes as types } from '#contract/limits.ts';
import type { AnswerOf } from '../kit/client.ts';
import { Empty, ErrorState } from '../kit/empty.tsx';
import { Page } from '../kit/page.tsx';
import { useCan } from '../kit/permissions.ts';
import { queryClient } from '../kit/query.ts';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { bytes, number, signed } from '../kit/units.ts';
import { Charts } from './charts.tsx';
import { asOf, cardsQuery, dashboardKey, figures } from './figures.ts';
import { FirstSteps } from './first-steps.tsx';
import { monthPace, rangeAt, type RangeName } from './series.ts';
import { Tops } from './tops.tsx';
import { TrafficHint } from './traffic-hint.tsx';
import { asSearch } from '../kit/search.ts';

type Info = AnswerOf<'GET /{area}/resourceInfo'>;

export default function Dashboard() {
  const can = useCan();
  // this page's own, of any area
  const search = useSearch({ strict: false }) as { range?: string; compare?: unknown };
  const navigate = useNavigate();
  const range: RangeName = search.range === 'days' ? 'days' : 'hours';
  const isCompared = search.compare === true || search.compare === 'true';
  const choose = (next: { range?: RangeName; isCompared?: boolean }) => {
    const { range: name, isCompared: compare } = { range, isCompared, ...next };
    const chosen = { ...(name === 'hours' ? {} : { range: name }), ...(compare ? { compare } : {}) };
    void navigate({ to: '.', search: asSearch(chosen) });
  };
  const isAllowed = can('POST /{area}/statistics/timeSeries');
  const hasCards = can('GET /{area}/resourceInfo');
  const info = useQuery({ ...cardsQuery, enabled: hasCards });
  const answers = useQuery({
    queryKey: [dashboardKey, range, isCompared],
    enabled: isAllowed,
    queryFn: async ({ signal }) => figures({ name: range, isCompared }, await asOf(hasCards), signal),
    // the same figures stay while those beside them are on their way
    placeholderData: (last, query) => (query?.queryKey[1] === range ? last : undefined),
  });
  // One clock for all: each with a timer of its own would tell of a time of its own.
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && void refresh(), polling.liveStatisticsPollMs);
    return () => clearInterval(timer);
  }, []);
  // A site that never had a visitor needs no charts of nothing, it needs the next step.
  const isSilent = answers.data !== undefined && !answers.data.totals.get(types.requests);
  const isNew = info.data !== undefined && !info.data.currentMonthTraffic && !info.data.lastMonthTraffic;
  const isStale = answers.error !== null && answers.data !== undefined;

  return (
    <Page
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
            <Button
              className={isCompared ? 'is-pressed' : undefined}
              aria-pressed={isCompared}
              onClick={() => choose({ isCompared: !isCompared })}
            >
              {t('dashboard.compare')}
            </Button>
            <Segmented
              aria-label={t('dashboard.range')}
              value={range}
              onChange={next => choose({ range: next })}
              options={(['hours', 'days'] as const).map(value => ({ value, label: t(`dashboard.${value}`) }))}
            />
            <Button
              type="text"
              icon={<ReloadOutlined spin={answers.isFetching} />}
              aria-label={t('list.refresh')}
              title={t('list.refresh')}
              onClick={() => void refresh()}
            />
          </>
        )
      }
    >
      <TrafficHint />
      {hasCards && (
        <Cards
          info={info.data}
          // Beside charts, the month is that of their answer; without them it is that of the cards.
          month={isAllowed ? answers.data?.month : info.data?.currentMonthTraffic}
          isBroken={info.isError || (isAllowed && answers.isError)}
        />
      )}
      {isAllowed && isNew && (isSilent || info.data.domainCount === 0) ? (
        <FirstSteps info={info.data} />
      ) : isAllowed && answers.error && !answers.data ? (
        <div className="panel">
          <ErrorState error={answers.error} onRetry={() => void answers.refetch()} />
        </div>
      ) : isAllowed ? (
        <>
          <Charts figures={answers.data} range={range} />
          <Tops
            range={range}
            queryKey={[dashboardKey, 'top', range]}
            rangeNow={async () => rangeAt(range, (await asOf(hasCards)).now)}
          />
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

/** Asks everything on the page again. */
const refresh = () =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey: [key] }) => key === dashboardKey || key === cardsQuery.queryKey[0],
  });

const cards = [
  ['siteCount', number],
  ['domainCount', number],
  ['currentMonthTraffic', bytes],
  ['lastMonthTraffic', bytes],
] as const;

function Cards({ info, month, isBroken }: { info: Info | undefined; month: number | undefined; isBroken: boolean }) {
  const pace = info && month !== undefined ? monthPace({ ...info, currentMonthTraffic: month }) : undefined;
  const values = info && { ...info, currentMonthTraffic: month };
  return (
    <div className="cards">
      {cards.map(([name, format]) => (
        <div key={name} className="panel card">
          <div className="card-name">{t(`dashboard.${name}`)}</div>
          <div className="card-value">
            {values?.[name] !== undefined ? (
              format(values[name])
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
