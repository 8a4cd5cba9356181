/** The settings of one site: a heading that tells how far its last change is, a way to another site, and a section for each kind. */
import { useQuery } from '@tanstack/react-query';
import { Navigate, useParams, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { Status } from '../kit/bits.tsx';
import { area } from '../kit/area.ts';
import { ErrorState } from '../kit/empty.tsx';
import { Page } from '../kit/page.tsx';
import { query } from '../kit/query.ts';
import { linkTo } from '../kit/screens.ts';
import { lastSelected } from '../kit/session.ts';
import { Sections } from '../kit/sections.tsx';
import { t } from '../kit/text.ts';
import { stateOf } from './state.ts';
import { Applied } from './applied.tsx';
import { SiteSwitch } from './site-switch.tsx';
import { tabs } from './tabs.ts';

export const sections = tabs;

export default function SiteSettings() {
  const { id, domainName } = useParams({ strict: false }) as { id?: string; domainName?: string };
  const search = useSearch({ strict: false }) as { tab?: string };
  const siteID = Number(id ?? lastSelected.site.get());
  if (!Number.isInteger(siteID) || siteID < 1) return <Navigate to={linkTo('sites')!} replace />;
  // the address of a domain opens it: its list, with the domain alone (domain/domains.tsx)
  if (domainName && !search.tab) return <Navigate to="." search={{ tab: 'domains', keywords: domainName } as never} replace />;
  return <Settings key={siteID} siteID={siteID} />;
}

function Settings({ siteID }: { siteID: number }) {
  const site = useQuery(query(`GET /${area as 'user'}/site/{siteID}`, { siteID }));
  useEffect(() => {
    if (site.data) lastSelected.site.set(String(siteID));
  }, [site.data, siteID]);

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
      actions={<SiteSwitch siteID={siteID} />}
      note={
        // holds the line's place: nothing jumps when the answer comes
        !site.data ? (
          t('page.loading')
        ) : (
          <span className="site-note">
            <Status value={stateOf(site.data)} />
            <span>{site.data.productName}</span>
            <Applied siteID={siteID} />
          </span>
        )
      }
    >
      <Sections sections={tabs} params={{ siteID }} label={t('menu.sitesSetting')} />
    </Page>
  );
}
