/** The dashboard before the first visitor: what to do next, and what is done already. */
import { CheckCircleFilled } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ofArea } from '../kit/of-area.ts';
import { type AnswerOf, call } from '../kit/client.ts';
import { CopyButton } from '../kit/copy.tsx';
import { useCan } from '../kit/permissions.ts';
import { linkTo } from '../kit/screens.ts';
import { t } from '../kit/text.ts';

const example = 'www.example.com';
/** An operator sees to the nodes, too. */
const here = ofArea({
  user: { sites: 'GET /user/sites', nodes: undefined, site: 'start.siteUser', dns: 'start.dnsText' },
  client: { sites: 'GET /client/sites', nodes: 'nodes', site: 'start.siteClient', dns: 'start.dnsTextClient' },
});

/** The first site and a domain of it, for examples with the reader's own names. */
async function firstDomain(signal: AbortSignal) {
  const sites = await call(here.sites, { query: { pageSize: 10 } }, { signal });
  const site = sites.data.find(one => one.domainCount > 0) ?? sites.data[0];
  if (!site?.domainCount) return { site };
  const domains = await call('GET /{area}/site/{siteID}/simpleDomains', { siteID: site.id, query: { pageSize: 10 } }, { signal });
  // A curl example does not work with a wildcard.
  const name = domains.data[0]?.domainName.replace(/^\*\./, 'www.');
  return { site, name };
}

export function FirstSteps({ info }: { info: AnswerOf<'GET /{area}/resourceInfo'> }) {
  const can = useCan();
  const known = useQuery({
    queryKey: ['firstSteps', info.siteCount, info.domainCount],
    enabled: info.siteCount > 0 && can('GET /{area}/site/{siteID}/domains'),
    queryFn: ({ signal }) => firstDomain(signal),
  });
  const { site, name = example } = known.data ?? {};
  const settings = site && linkTo('sitesSetting', site.id, site.siteName);
  const nodes = here.nodes && linkTo(here.nodes);
  const sites = linkTo('sites');
  const command = `curl -I http://${name}/ --connect-to ::EDGE_ADDRESS:`;
  const hasDomain = info.domainCount > 0;
  return (
    <section className="panel first-steps" aria-labelledby="first-steps">
      <h2 id="first-steps">{t(hasDomain ? 'start.noTraffic' : 'start.title')}</h2>
      <p className="ink-3">{t(hasDomain ? 'start.noTrafficText' : 'start.text')}</p>
      <ol>
        <Step title={t('start.site')} isDone={info.siteCount > 0} link={nodes && <Link to={nodes}>{t('start.toNodes')}</Link>}>
          {t(here.site)}
        </Step>
        <Step
          title={t('start.domain')}
          isDone={hasDomain}
          link={info.siteCount > 0 && (settings ?? sites) && <Link to={(settings ?? sites)!}>{t('start.toSites')}</Link>}
        >
          {t('start.domainText')}
        </Step>
        <Step title={t('start.dns')}>{t(here.dns)}</Step>
        <Step title={t('start.test')}>
          {t('start.testText')}
          <span className="first-command">
            <code className="mono">{command}</code>
            <CopyButton text={command} />
          </span>
        </Step>
      </ol>
    </section>
  );
}

function Step({
  title,
  isDone = false,
  link,
  children,
}: {
  title: string;
  isDone?: boolean;
  link?: ReactNode;
  children: ReactNode;
}) {
  return (
    <li data-done={isDone}>
      <strong>
        {title}
        {isDone && <CheckCircleFilled className="good" role="img" aria-label={t('start.done')} />}
      </strong>
      {!isDone && (
        <div>
          <span className="ink-3">{children}</span>
          {link && <p>{link}</p>}
        </div>
      )}
    </li>
  );
}
