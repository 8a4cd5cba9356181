/** What stands on screen is older than it looks: the last question was refused, or not answered. Why is said, and one button asks again. */
import type { UseQueryResult } from '@tanstack/react-query';
import { Button } from 'antd';
import { t } from './text.ts';
import { dateTime } from './time.ts';
import { ApiError } from './transport.ts';

type Found = Pick<UseQueryResult, 'error' | 'data' | 'dataUpdatedAt' | 'isFetching' | 'refetch'>;

/** Nothing while there is nothing to show, or all is as new as it can be. */
export function Stale({ found: { error, data, dataUpdatedAt, isFetching, refetch } }: { found: Found }) {
  if (!error || data === undefined) return null;
  const why = error instanceof ApiError && error.code !== 0 && error.message ? ` ${error.message}` : '';
  return (
    <div className="stale" role="status">
      <span className="status-dot warn" aria-hidden />
      <span className="stale-text">
        {t('list.stale', { time: dateTime(dataUpdatedAt) })}
        {why}
      </span>
      <Button size="small" loading={isFetching} onClick={() => void refetch()}>
        {t('page.retry')}
      </Button>
    </div>
  );
}
