/** A name server, asked now: whether it answers, and for which zones. */
import { useQuery } from '@tanstack/react-query';
import { AskedNow } from '../kit/asked-now.tsx';
import { Status } from '../kit/bits.tsx';
import { call, type AnswerOf } from '../kit/client.ts';
import { unkept } from '../kit/query.ts';
import { t } from '../kit/text.ts';
import { number } from '../kit/units.ts';

const testing = 'POST /client/setting/dns/test';

export function Tried({ id, title, onClose }: { id: number; title: string; onClose: () => void }) {
  const asked = useQuery<AnswerOf<typeof testing>>({
    queryKey: [testing, id],
    queryFn: ({ signal }) => call(testing, { body: { id } }, { signal }),
    ...unkept,
  });
  return (
    <AskedNow title={t('dnsTest.title', { name: title })} asked={asked} again={t('dnsTest.again')} onClose={onClose}>
      {({ zones, ms }) => (
        <>
          <p className="ink-2">{t(zones.length ? 'dnsTest.good' : 'dnsTest.noZones', { ms: number(ms) })}</p>
          <ul className="rows">
            {zones.map(one => (
              <li key={one.cnameID}>
                <span className="grow mono">{one.domainName}</span>
                <Status value={one.isThere ? 'success' : 'warning'} texts="dnsThere" />
              </li>
            ))}
          </ul>
        </>
      )}
    </AskedNow>
  );
}
