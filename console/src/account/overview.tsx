/** The first page of the admin area: how many accounts there are. */
import { useQuery } from '@tanstack/react-query';
import { Page } from '../kit/page.tsx';
import { useCan } from '../kit/permissions.ts';
import { query } from '../kit/query.ts';
import { t } from '../kit/text.ts';
import { number } from '../kit/units.ts';

export default function Overview() {
  return (
    <Page title={t('page.dashboard')}>
      <div className="cards">
        <Count auth="client" />
        <Count auth="user" />
      </div>
    </Page>
  );
}

function Count({ auth }: { auth: 'client' | 'user' }) {
  const can = useCan();
  const accounts = useQuery({
    ...query('GET /{area}/accounts', { query: { auth, pageSize: 1 } }),
    enabled: can('GET /{area}/accounts'),
  });
  return (
    <div className="panel card">
      <div className="card-name">{t(`auth.${auth}`)}</div>
      <div className="card-value">
        {accounts.data ? number(accounts.data.total) : <span className="skeleton-cell card-skeleton" />}
      </div>
    </div>
  );
}
