/** The settings of one site: a heading that tells how far its last change is, and a tab for each kind. */
import { useQuery } from '@tanstack/react-query';
import { Link, Navigate, useParams, useSearch } from '@tanstack/react-router';
import { type ComponentType, useEffect } from 'react';
import { CacheRules } from '../cache/cache-rules.tsx';
import { Purge } from '../cache/purge.tsx';
import { Domains } from '../domain/domains.tsx';
import { Status } from '../kit/bits.tsx';
import type { CallKey } from '../kit/client.ts';
import { area } from '../kit/area.ts';
import { ErrorState } from '../kit/empty.tsx';
import { Page } from '../kit/page.tsx';
import { useCan } from '../kit/permissions.ts';
import { query } from '../kit/query.ts';
import type { Params } from '../kit/resource.ts';
import { linkTo } from '../kit/screens.ts';
import { lastSelected } from '../kit/session.ts';
import { type Named, t } from '../kit/text.ts';
import { Applied } from './applied.tsx';
import { firewallTabs } from '../protect/tabs.ts';

export interface Tab {
  name: Named<'tab'>;
  call: CallKey;
  Content: ComponentType<{ params: Params }>;
}
const tabs: Tab[] = [
  { name: 'domains', call: 'GET /{area}/site/{siteID}/domains', Content: Domains },
  { name: 'cache', call: 'GET /{area}/site/{siteID}/setting/cacheRules', Content: CacheRules },
  { name: 'purge', call: 'GET /{area}/site/{siteID}/setting/urlCaches', Content: Purge },
  ...firewallTabs,
];

export default function SiteSettings() {
  const { id } = useParams({ strict: false }) as { id?: string };
  const siteID = Number(id ?? lastSelected.site.get());
  if (!Number.isInteger(siteID) || siteID < 1) return <Navigate to={linkTo('sites')!} replace />;
  return <Settings key={siteID} siteID={siteID} />;
}

function Settings({ siteID }: { siteID: number }) {
  const can = useCan();
  const search = useSearch({ strict: false }) as { tab?: string };
  const site = useQuery(query(`GET /${area as 'user'}/site/{siteID}`, { siteID }));
  useEffect(() => {
    if (site.data) lastSelected.site.set(String(siteID));
  }, [site.data, siteID]);
  const open = tabs.filter(tab => can(tab.call));
  const current = open.find(tab => tab.name === search.tab) ?? open[0];

  if (site.error && !site.data)
    return (
      <Page title={t('menu.sitesSetting')}>
        <div className="panel">
          <ErrorState
            error={site.error}
            onRetry={() => void site.refetch()}
            back={{ href: linkTo('sites')!, text: t('site.backToList') }}
          />
        </div>
      </Page>
    );
  return (
    <Page
      title={site.data?.siteName ?? '…'}
      note={
        site.data && (
          <span className="site-note">
            <Status value={site.data.status} />
            <span>{site.data.productName}</span>
            <Applied siteID={siteID} />
          </span>
        )
      }
    >
      <nav className="tabs" aria-label={t('menu.sitesSetting')}>
        {open.map(tab => (
          <Link
            key={tab.name}
            to="."
            search={{ tab: tab.name } as never}
            className="tab"
            aria-current={tab === current ? 'page' : undefined}
          >
            {t(`tab.${tab.name}`)}
          </Link>
        ))}
      </nav>
      {current && <current.Content key={current.name} params={{ siteID }} />}
    </Page>
  );
}
