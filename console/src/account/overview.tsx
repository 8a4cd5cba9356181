/** The first page of the admin area: the operators with what hangs on them, the nodes, and what versions run. */
import '../kit/cards.css';
import './overview.css';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../kit/client.ts';
import { Empty, ErrorState } from '../kit/empty.tsx';
import { Page } from '../kit/page.tsx';
import { useCan } from '../kit/permissions.ts';
import { query } from '../kit/query.ts';
import { linkTo } from '../kit/screens.ts';
import { asSearch } from '../kit/search.ts';
import { Status } from '../kit/status.tsx';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { TopList } from '../kit/top-list.tsx';
import { number } from '../kit/units.ts';

type Installation = AnswerOf<'GET /admin/installation'>;
const pollMs = 60_000;
const waitingRows = 4;

export default function Overview() {
  const can = useCan();
  const isAllowed = can('GET /admin/installation');
  const answer = useQuery({ ...query('GET /admin/installation'), enabled: isAllowed, refetchInterval: pollMs });
  if (!isAllowed)
    return (
      <Page>
        <div className="panel">
          <Empty drawing="locked" title={t('empty.locked')}>
            {t('empty.lockedText')}
          </Empty>
        </div>
      </Page>
    );
  const found = answer.data;
  const error = found ? undefined : answer.error;
  const nodeCount = found?.nodes.reduce((sum, one) => sum + one.count, 0);
  const normal = found?.nodes.find(one => one.status === 'normal')?.count ?? 0;
  const common = {
    summary: t('overview.nodeUnit'),
    format: number,
    rows: waitingRows,
    error,
    onRetry: () => void answer.refetch(),
  };
  return (
    <Page
      note={
        found
          ? [t('overview.server', { version: found.version }), t('overview.installed', { time: dateTime(found.since) })].join(
              ' · ',
            )
          : t(error ? 'empty.broken' : 'page.loading')
      }
    >
      <div className="cards overview-cards">
        <Card
          name={t('overview.operators')}
          value={found?.operatorCount}
          isBroken={!!error}
          note={
            found && found.licenses.ended + found.licenses.endingSoon > 0
              ? t('overview.licenses', { ended: number(found.licenses.ended), soon: number(found.licenses.endingSoon) })
              : '\u00a0'
          }
        />
        <Card name={t('overview.customers')} value={found?.customers} isBroken={!!error} />
        <Card name={t('overview.sites')} value={found?.sites} isBroken={!!error} />
        <Card
          name={t('overview.nodes')}
          value={nodeCount}
          isBroken={!!error}
          // its line is there from the beginning: nothing jumps
          note={nodeCount ? t('overview.nodesNormal', { normal: number(normal) }) : '\u00a0'}
        />
      </div>
      <div className="overview" aria-busy={!found && !error}>
        <section className="panel" aria-label={t('overview.operators')}>
          <header className="chart-head">
            <h2>{t('overview.operators')}</h2>
            {found && found.operatorCount > found.operators.length && (
              <span className="chart-summary">
                {t('overview.most', { count: found.operators.length, total: number(found.operatorCount) })}
              </span>
            )}
            <Link className="chart-requests" to={linkTo('usersList')!} search={asSearch({ auth: 'client' })}>
              {t('overview.all')}
            </Link>
          </header>
          {error ? (
            <ErrorState error={error} onRetry={common.onRetry} />
          ) : !found ? (
            <div className="chart-wait" style={{ height: 160 }} aria-busy />
          ) : (
            <Operators operators={found.operators} />
          )}
        </section>
        <div className="overview-side">
          <TopList
            {...common}
            title={t('overview.nodeStates')}
            items={found?.nodes.map(one => ({ key: one.status, name: <Status value={one.status} />, value: one.count }))}
          />
          <TopList
            {...common}
            title={t('overview.versions')}
            items={found?.versions.map(one => ({
              key: one.version || t('overview.never'),
              name: one.version || t('overview.never'),
              value: one.nodes,
            }))}
          />
        </div>
      </div>
    </Page>
  );
}

function Card({ name, value, isBroken, note }: { name: string; value: number | undefined; isBroken: boolean; note?: ReactNode }) {
  return (
    <div className="panel card">
      <div className="card-name">{name}</div>
      <div className="card-value">
        {value !== undefined ? (
          number(value)
        ) : isBroken ? (
          <span title={t('empty.broken')}>–</span>
        ) : (
          <span className="skeleton-cell card-skeleton" />
        )}
        {note && <span className="card-delta">{note}</span>}
      </div>
    </div>
  );
}

function Operators({ operators }: { operators: Installation['operators'] }) {
  if (!operators.length) return <p className="overview-nothing">{t('overview.none')}</p>;
  return (
    <div className="overview-rows" tabIndex={0} role="group" aria-label={t('overview.operators')}>
      <table className="numbers">
        <thead>
          <tr>
            {(['operator', 'state', 'customers', 'sites', 'domains', 'nodes', 'license', 'since'] as const).map(name => (
              <th key={name} scope="col">
                {t(`overview.${name}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {operators.map(one => (
            <tr key={one.id}>
              <td>
                <Link to={linkTo('usersList')!} search={asSearch({ auth: 'user', client: one.id })}>
                  {one.name}
                </Link>
                <small>{one.email}</small>
              </td>
              <td>
                <Status value={one.status} />
              </td>
              <td>{number(one.customers)}</td>
              <td>{number(one.sites)}</td>
              <td>{number(one.domains)}</td>
              <td>
                {number(one.nodes)}
                {one.nodes !== one.normalNodes && <small>{t('overview.nodesNormal', { normal: number(one.normalNodes) })}</small>}
              </td>
              <td>
                {one.licenseEnds === null ? t('overview.endless') : dateTime(one.licenseEnds).slice(0, 10)}
                {one.licenseState !== 'valid' && <small className="bad">{t('overview.licenseEnded')}</small>}
              </td>
              <td>{dateTime(one.createdAt).slice(0, 10)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
