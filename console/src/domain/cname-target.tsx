/** What a domain's name is to lead to, how that is done, and whether it does: asked of the world now. */
import { useQuery } from '@tanstack/react-query';
import { Alert, Button, Drawer } from 'antd';
import type { RowOf } from '../kit/client.ts';
import { useCan } from '../kit/permissions.ts';
import { query, useAction } from '../kit/query.ts';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { CnameHelp } from './cname-help.tsx';
import { isStateKnown } from './name-states.ts';

type Domain = RowOf<'GET /{area}/site/{siteID}/domains'>;
const widthPx = 600;
const tones = { active: 'good', wrong: 'warn', unset: 'idle' } as const;
const key = 'GET /{area}/site/{siteID}/domain/{domainID}';
const checking = 'POST /{area}/site/{siteID}/domains/checkCNAME';

interface Props {
  domain: Domain;
  siteID: number;
  onClose: () => void;
}

export function CnameTarget({ domain: given, siteID, onClose }: Props) {
  const can = useCan();
  const now = useQuery(query(key, { siteID, domainID: given.id }));
  const check = useAction(checking);
  const domain = now.data ?? given;
  const { domainName, cname } = domain;
  const isKnown = isStateKnown(domain);

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
          <CnameHelp domainName={domainName} cname={cname} servers={domain.zoneServers} />
          <h3 style={{ marginTop: 24 }}>{t('cname.seen')}</h3>
          <div aria-live="polite">
            {domain.cnameUnseen !== null && (
              <Alert
                type="warning"
                showIcon
                style={{ marginBottom: 12 }}
                title={t(isKnown ? 'cname.unseen' : 'cname.unseenFirst')}
                description={t(`cnameUnseen.${domain.cnameUnseen}`)}
              />
            )}
            {isKnown && (
              <p className="status is-long" style={{ overflowWrap: 'anywhere' }}>
                <span className={`status-dot ${tones[domain.cnameStatus]}`} aria-hidden />
                {t(`cname.state.${domain.cnameStatus}`, { seen: domain.cnameSeen.join(' → ') || '—' })}
              </p>
            )}
            {!isKnown && domain.cnameUnseen === null && <p>{t('cname.neverSeen')}</p>}
            {domain.cnameCheckedAt !== null && (
              <p className="ink-3">{t('cname.checkedAt', { time: dateTime(domain.cnameCheckedAt) })}</p>
            )}
          </div>
          {can(checking) && (
            <Button type="primary" style={{ marginTop: 12 }} loading={check.isPending} onClick={() => void look()}>
              {t('cname.check')}
            </Button>
          )}
        </>
      )}
    </Drawer>
  );
}
