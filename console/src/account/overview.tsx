/** The first page of the admin area: how many accounts there are. */
import '../kit/cards.css';
import { useQuery } from '@tanstack/react-query';
import { Empty } from '../kit/empty.tsx';
import { Page } from '../kit/page.tsx';
import { useCan } from '../kit/permissions.ts';
import { query } from '../kit/query.ts';
import { t } from '../kit/text.ts';
import { number } from '../kit/units.ts';

export default function Overview() {
  const can = useCan();
  return (
    <Page title={t('page.dashboard')}>
      {can('GET /{area}/accounts') ? (
        <div className="cards">
          <Count auth="client" />
          <Count auth="user" />
        </div>
      ) : (
        <div className="panel">
          <Empty drawing="locked" title={t('empty.locked')}>
            {t('empty.lockedText')}
          </Empty>
        </div>
      )}
    </Page>
  );
}

function Count({ auth }: { auth: 'client' | 'user' }) {
  const accounts = useQuery(query('GET /{area}/accounts', { query: { auth, pageSize: 1 } }));
  return (
    <div className="panel card">
      <div className="card-name">{t(`auth.${auth}`)}</div>
      <div className="card-value">
        {accounts.data ? number(accounts.data.total) : <span className="skeleton-cell card-skeleton" />}
      </div>
    </div>
  );
}
