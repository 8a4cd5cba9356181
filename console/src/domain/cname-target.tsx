/** What a domain's name is to lead to, how that is done, and whether it does: asked of the world now. */
import { useQuery } from '@tanstack/react-query';
import { Button, Drawer } from 'antd';
import { Facts, Status } from '../kit/bits.tsx';
import type { RowOf } from '../kit/client.ts';
import { CopyButton } from '../kit/copy.tsx';
import { useCan } from '../kit/permissions.ts';
import { query, useAction } from '../kit/query.ts';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';

type Domain = RowOf<'GET /{area}/site/{siteID}/domains'>;
const widthPx = 600;
const key = 'GET /{area}/site/{siteID}/domain/{domainID}';
const checking = 'POST /{area}/site/{siteID}/domains/checkCNAME';

interface Props {
  domain: Domain;
  siteID: number;
  onClose: () => void;
}

const copied = (text: string) => (
  <span className="address">
    <span className="mono">{text}</span>
    <CopyButton text={text} />
  </span>
);

export function CnameTarget({ domain: given, siteID, onClose }: Props) {
  const can = useCan();
  const now = useQuery(query(key, { siteID, domainID: given.id }));
  const check = useAction(checking);
  const domain = now.data ?? given;
  const { domainName, cname } = domain;

  async function look() {
    await check.run({ siteID, body: { ids: [given.id] } });
    await now.refetch();
  }
  return (
    <Drawer open title={t('cname.title', { name: domainName })} size={widthPx} mask={{ blur: false }} onClose={onClose}>
      {cname === '' ? (
        <p>{t('cname.noZone')}</p>
      ) : (
        <>
          <p className="ink-2">{t('cname.text')}</p>
          <Facts
            facts={[
              [t('cname.type'), 'CNAME'],
              [t('cname.name'), copied(domainName)],
              [t('cname.value'), copied(cname)],
            ]}
          />
          <h3 style={{ marginTop: 24 }}>{t('cname.seen')}</h3>
          <div aria-live="polite">
            <p>
              <Status value={domain.cnameStatus} texts="cnameState" />{' '}
              {t(`cname.state.${domain.cnameStatus}`, { seen: domain.cnameSeen.join(' → ') || '—' })}
            </p>
            {domain.cnameCheckedAt !== null && (
              <p className="ink-3">{t('cname.checkedAt', { time: dateTime(domain.cnameCheckedAt) })}</p>
            )}
          </div>
          {can(checking) && (
            <Button type="primary" loading={check.isPending} onClick={() => void look()}>
              {t('cname.check')}
            </Button>
          )}
          <h3 style={{ marginTop: 24 }}>{t('cname.how')}</h3>
          <ul>
            <li>{t('cname.help.usual')}</li>
            <li>{t('cname.help.cloudflare')}</li>
            <li>{t('cname.help.short')}</li>
            <li>{t('cname.help.top')}</li>
            <li>{t('cname.help.time')}</li>
          </ul>
        </>
      )}
    </Drawer>
  );
}
