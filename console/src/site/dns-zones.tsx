/** Which of the site's domains a DNS account can prove, as its provider answers now: this is also how one learns whether it lets us in. */
import { useQuery } from '@tanstack/react-query';
import { Drawer, Skeleton } from 'antd';
import { ruleText } from '#contract/rules/rule.ts';
import { Status } from '../kit/bits.tsx';
import { ErrorState } from '../kit/empty.tsx';
import { fieldsOf } from '../kit/errors.ts';
import { query } from '../kit/query.ts';
import { language, t } from '../kit/text.ts';
import { ApiError } from '../kit/transport.ts';

interface Props {
  siteID: number;
  dnsID: number;
  title: string;
  onClose: () => void;
}
const widthPx = 560;
const key = 'GET /{area}/site/{siteID}/setting/dns/domains';

export function DNSZones({ siteID, dnsID, title, onClose }: Props) {
  const { data, error, isFetching, refetch } = useQuery({
    ...query(key, { siteID, query: { dnsID } }),
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
  const [said] = error instanceof ApiError ? fieldsOf(error.errorData) : [];
  return (
    <Drawer open title={t('dnsZones.title', { name: title })} size={widthPx} mask={{ blur: false }} onClose={onClose}>
      {isFetching ? (
        <Skeleton active />
      ) : error ? (
        <>
          <ErrorState error={error} onRetry={() => void refetch()} />
          {said && (
            <p className="mono" role="alert">
              {ruleText(said, language)}
            </p>
          )}
        </>
      ) : (
        <>
          <p className="ink-2">{t(data?.length ? 'dnsZones.text' : 'dnsZones.none')}</p>
          <ul className="rows">
            {(data ?? []).map(one => (
              <li key={one.id}>
                <span className="grow">
                  <span className="mono">{one.domainName}</span>
                  {one.zone !== '' && <div className="mono ink-3">{one.zone}</div>}
                </span>
                <Status value={one.zone ? 'success' : 'warning'} texts="dnsZone" />
              </li>
            ))}
          </ul>
        </>
      )}
    </Drawer>
  );
}
