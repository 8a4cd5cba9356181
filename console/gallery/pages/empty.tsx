import { Button } from 'antd';
import { Empty, ErrorState } from '../../src/kit/empty.tsx';
import { Stale } from '../../src/kit/stale.tsx';
import { t } from '../../src/kit/text.ts';
import { ApiError } from '../../src/kit/transport.ts';
import type { Example } from '../pieces.ts';
import { long, say, unbroken } from '../words.ts';

const error = (code: number, more: object = {}) => new ApiError({ code, message: say(long).slice(0, 30), status: 400, ...more });
const retry = () => {};
const stays = () => new Promise<never>(() => {});

export default [
  {
    state: 'empty',
    show: () => (
      <div className="panel">
        <Empty drawing="nothing" title={t('empty.nothing')} action={<Button type="primary">{t('action.create')}</Button>}>
          {t('empty.blacklists')}
        </Empty>
      </div>
    ),
  },
  {
    state: 'empty',
    show: () => (
      <div className="panel">
        <Empty drawing="noMatch" title={t('empty.noMatch')} action={<Button>{t('list.clearFilters')}</Button>}>
          {t('empty.noMatchText')}
        </Empty>
      </div>
    ),
  },
  { state: 'failed', show: () => <ErrorState error={error(0)} onRetry={retry} /> },
  { state: 'failed', show: () => <ErrorState error={error(101001, { status: 500 })} onRetry={retry} /> },
  {
    state: 'failed',
    show: () => (
      <ErrorState
        error={error(101002, { errorData: [{ path: 'siteID', rule: 'unknown' }] })}
        back={{ href: '/', text: t('page.blacklists') }}
      />
    ),
  },
  {
    state: 'failed',
    show: () => (
      <div className="panel">
        <Stale
          found={{ error: error(101008), data: {}, dataUpdatedAt: Date.UTC(2026, 6, 1, 8), isFetching: false, refetch: stays }}
        />
      </div>
    ),
  },
  { state: 'disabled', show: () => <ErrorState error={error(101018)} /> },
  {
    state: 'long',
    show: () => (
      <Empty drawing="broken" title={unbroken}>
        {say(long)} {unbroken}
      </Empty>
    ),
  },
] satisfies Example[];
