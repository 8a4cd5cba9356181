/** Which of the site's domains a DNS account can prove, as its provider answers now: this is also how one learns whether it lets us in. */
import { useQuery } from '@tanstack/react-query';
import { AskedNow } from '../kit/asked-now.tsx';
import { Status } from '../kit/bits.tsx';
import { query, unkept } from '../kit/query.ts';
import { t } from '../kit/text.ts';

interface Props {
  siteID: number;
  dnsID: number;
  title: string;
  onClose: () => void;
}
const key = 'GET /{area}/site/{siteID}/setting/dns/domains';

export function DNSZones({ siteID, dnsID, title, onClose }: Props) {
  const asked = useQuery({ ...query(key, { siteID, query: { dnsID } }), ...unkept });
  return (
    <AskedNow title={t('dnsZones.title', { name: title })} asked={asked} onClose={onClose}>
      {domains => (
        <>
          <p className="ink-2">{t(domains.length ? 'dnsZones.text' : 'dnsZones.none')}</p>
          <ul className="rows">
            {domains.map(one => (
              <li key={one.id}>
                <span className="grow">
                  <span className="mono">{one.domainName}</span>
                  {one.zone !== '' && <div className="mono ink-3">{one.zone}</div>}
                  {one.why !== '' && <div className="ink-3">{one.why}</div>}
                </span>
                <Status value={one.zone ? 'success' : 'warning'} texts="dnsZone" />
              </li>
            ))}
          </ul>
        </>
      )}
    </AskedNow>
  );
}
