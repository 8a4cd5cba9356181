/** What is asked most, and by whom; each leads to its lines of the log. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { statistics, statisticTypes as types } from '#contract/limits.ts';
import { call } from '../kit/client.ts';
import { useCan } from '../kit/permissions.ts';
import { linkTo } from '../kit/screens.ts';
import { t } from '../kit/text.ts';
import { count, bytes } from '../kit/units.ts';
import { TopList } from '../kit/top-list.tsx';
import type { AskedRange, RangeName } from './series.ts';
import { asSearch } from '../kit/search.ts';

interface Props {
  range: RangeName;
  queryKey: readonly string[];
  rangeNow: () => Promise<AskedRange>;
}
export function Tops({ range, queryKey, rangeNow }: Props) {
  const can = useCan();
  const answer = useQuery({
    queryKey,
    enabled: can('POST /{area}/statistics/top'),
    queryFn: async ({ signal }) => {
      const { startTime, endTime } = await rangeNow();
      const body = { startTime, endTime, types: [types.topURLs, types.topVisitorIPs], top: statistics.dashboardTop };
      return { ...(await call('POST /{area}/statistics/top', { body }, { signal })), startTime, endTime };
    },
  });
  const logger = can('POST /{area}/logs/access') ? linkTo('logger') : undefined;
  /** Leads to the lines that were counted, of the same time; the log shows no more than a day. */
  const nameOf = (key: string, searchOf: (key: string) => object) => {
    if (!logger) return key;
    if (range === 'days') return <span title={t('dashboard.logOneDay')}>{key}</span>;
    const { startTime, endTime } = answer.data!;
    return (
      <Link to={logger} search={asSearch({ range: 'custom', startTime, endTime, ...searchOf(key) })}>
        {key}
      </Link>
    );
  };
  const itemsOf = (type: number, searchOf: (key: string) => object) =>
    answer.data?.data
      .find(one => one.type === type)
      ?.items.map(item => ({
        key: item.key,
        name: nameOf(item.key, searchOf),
        value: item.requests,
        note: bytes(item.bytes),
      }));
  const common = {
    summary: t('dashboard.requestsUnit'),
    format: count,
    rows: statistics.dashboardTop,
    error: answer.data ? undefined : answer.error,
    onRetry: () => void answer.refetch(),
  };
  if (!can('POST /{area}/statistics/top')) return null;
  return (
    <div className="charts tops">
      <TopList {...common} title={t('dashboard.topURLs')} items={itemsOf(types.topURLs, hostAndPath)} />
      <TopList {...common} title={t('dashboard.topIPs')} items={itemsOf(types.topVisitorIPs, ip => ({ ip }))} />
    </div>
  );
}

/** `www.example.com/a/b` as the log knows it. */
function hostAndPath(url: string) {
  const slash = url.indexOf('/');
  return slash < 0 ? { domain: url } : { domain: url.slice(0, slash), uri: url.slice(slash) };
}
