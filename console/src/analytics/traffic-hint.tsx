/** Above the figures: products whose traffic of this month is nearly used up, or is. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ofArea } from '../kit/of-area.ts';
import { useCan } from '../kit/permissions.ts';
import { query } from '../kit/query.ts';
import { linkTo } from '../kit/screens.ts';
import { Toned } from '../kit/status.tsx';
import { t } from '../kit/text.ts';
import { percent } from '../kit/units.ts';

const named = 3;
const asked = { query: { states: ['warning' as const, 'limited' as const], pageSize: 25 } };
const { key, page, isOfCustomers } = ofArea({
  user: { key: 'GET /user/traffic/monthlyUsages', page: 'trafficPkgList', isOfCustomers: false },
  client: { key: 'GET /client/traffic/monthlyUsages', page: 'trafficReport', isOfCustomers: true },
});

export function TrafficHint() {
  const can = useCan();
  const found = useQuery({ ...query(key, asked), enabled: can(key) });
  const near = found.data?.data.filter(({ isCurrent }) => isCurrent) ?? [];
  const to = linkTo(page);
  if (!near.length || !to) return null;
  const isStopped = near.some(({ state }) => state === 'limited');
  const names = near
    .slice(0, named)
    .map(one => {
      const whose = isOfCustomers ? ` (${one.userEmail})` : '';
      return `${one.productName}${whose} ${percent(one.bytes / one.planBytes)}`;
    })
    .join(t('dashboard.comma'));
  return (
    <div className="panel traffic-hint" role={isStopped ? 'alert' : 'status'}>
      <Toned tone={isStopped ? 'bad' : 'warn'}>
        {t(isStopped ? 'dashboard.trafficStopped' : 'dashboard.trafficNear', { names })}
        {near.length > named && t('dashboard.trafficMore', { count: near.length - named })}
      </Toned>
      <Link to={to}>{t('dashboard.trafficShow')}</Link>
    </div>
  );
}
