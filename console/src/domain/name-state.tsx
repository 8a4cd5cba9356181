/** Whether a domain's name leads here, in words: what was seen of it, and since when it has been so. */
import { Status } from '../kit/bits.tsx';
import type { RowOf } from '../kit/client.ts';
import { Toned } from '../kit/status.tsx';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { isStateKnown } from './name-states.ts';

type Domain = RowOf<'GET /{area}/site/{siteID}/domains'>;

export function NameState({ domain }: { domain: Domain }) {
  const { cnameStatus, cnameSeen, cnameSince, cnameUnseen } = domain;
  const isSeen = isStateKnown(domain);
  const seen = cnameSeen.join(' → ');
  return (
    <span className="name-state">
      {isSeen ? <Status value={cnameStatus} texts="cnameState" /> : <Toned tone="idle">{t('cnameState.unseen')}</Toned>}
      {cnameStatus === 'wrong' && seen !== '' && (
        <span className="cell-note mono clip" title={seen}>
          {seen}
        </span>
      )}
      {isSeen && cnameSince !== null && (
        <span className="cell-note">{t('cnameState.since', { time: dateTime(cnameSince) })}</span>
      )}
      {cnameUnseen !== null && (
        <span className="cell-note">{t('cnameState.lastFailed', { why: t(`cnameUnseen.${cnameUnseen}`) })}</span>
      )}
    </span>
  );
}
