/** What a customer may use and used: this month by product, its extra plans, and the months before. */
import { useQuery } from '@tanstack/react-query';
import type { AnswerOf } from '../kit/client.ts';
import { Empty, ErrorState } from '../kit/empty.tsx';
import { Page } from '../kit/page.tsx';
import { query } from '../kit/query.ts';
import { resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { Status } from '../kit/status.tsx';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { MonthDrawer } from './month.tsx';
import { monthInput, monthsBefore } from './months.ts';
import { planBytes, planColumns } from './plan-columns.tsx';
import { usedColumns } from './used-columns.tsx';
import { Axis, Days, monthOf, Used } from './used.tsx';

type Month = AnswerOf<'GET /user/traffic/monthlyUsages'>['data'][number];
const daysPx = 56;
/** Products of one customer, and as many of the month before. */
const shown = 200;
const pollMs = 30_000;
const newest = query('GET /user/traffic/monthlyUsages', { query: { pageSize: shown } });

const plans = resource<'GET /user/extraTrafficPlans'>({
  name: 'extraTrafficPlans',
  empty: 'ownTrafficPlans',
  list: 'GET /user/extraTrafficPlans',
  defaultSort: '-startTime',
  rowName: row => `${row.productName} · ${planBytes(row)}`,
  columns: planColumns,
  filters: [{ name: 'productName', kind: 'text' }],
});

const months = resource<'GET /user/traffic/monthlyUsages'>({
  name: 'monthlyUsages',
  list: 'GET /user/traffic/monthlyUsages',
  rowName: row => `${row.productName} · ${monthOf(row)}`,
  input: monthInput,
  columns: [
    { name: 'productName', width: 170, link: 'view' },
    { name: 'year', width: 64 },
    { name: 'month', width: 56 },
    ...usedColumns,
    { name: 'isOpen', kind: 'option', texts: 'monthOpen', width: 130 },
  ],
  filters: [{ name: 'period', kind: 'select', values: monthsBefore(new Date()), width: 130 }],
  drawer: (row, { onClose }) => <MonthDrawer month={row} onClose={onClose} />,
  actions: [{ name: 'view', run: ([row], { edit }) => edit(row!.id) }],
});

function Current({ month }: { month: Month }) {
  return (
    <section className="panel used-card" aria-label={month.productName}>
      <header>
        <h2>{month.productName}</h2>
        <Status value={month.state} texts="trafficState" />
      </header>
      <Used usage={month} />
      {month.days.length > 0 && (
        <div>
          <Days usage={month} height={daysPx} />
          <Axis usage={month} />
        </div>
      )}
      {month.state !== 'normal' && <p role="status">{t(sentenceOf(month), { time: dateTime(month.endTime) })}</p>}
    </section>
  );
}
const sentenceOf = ({ state, bytes, planBytes: whole }: Month) =>
  state === 'limited' ? 'traffic.stopped' : bytes >= whole ? 'traffic.beyond' : 'traffic.near';

export default function Own() {
  const found = useQuery({ ...newest, refetchInterval: pollMs });
  const current = found.data?.data.filter(({ isCurrent }) => isCurrent);
  const countedAt = current?.find(month => month.countedAt !== null)?.countedAt;
  return (
    <Page
      note={
        countedAt
          ? t('traffic.countedUntil', { time: dateTime(countedAt) })
          : t(found.data || found.error ? 'traffic.notYet' : 'page.loading')
      }
    >
      {found.error && !found.data ? (
        <div className="panel">
          <ErrorState error={found.error} onRetry={() => void found.refetch()} />
        </div>
      ) : current?.length === 0 ? (
        <div className="panel">
          <Empty drawing="nothing" title={t('traffic.nothing')}>
            {t('traffic.nothingText')}
          </Empty>
        </div>
      ) : (
        <div className="used-cards" aria-busy={!current}>
          {current?.map(month => <Current key={month.id} month={month} />) ?? <div className="panel used-card skeleton-cell" />}
        </div>
      )}
      <h2 className="used-section">{t('page.extraTrafficPlans')}</h2>
      <ResourcePage resource={plans} isEmbedded list="plan" />
      <h2 className="used-section">{t('page.monthlyUsages')}</h2>
      <ResourcePage resource={months} isEmbedded list="month" />
    </Page>
  );
}
