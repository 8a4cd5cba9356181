/** Whether a domain's name leads here, in words: what was seen of it, and since when it has been so. */
import { Status } from '../kit/bits.tsx';
import type { RowOf } from '../kit/client.ts';
import { Toned } from '../kit/status.tsx';
import { t, tOf } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { useNarrow } from '../kit/use-narrow.ts';
import { isStateKnown } from './name-states.ts';

type Domain = RowOf<'GET /{area}/site/{siteID}/domains'>;

/** Whether it is switched on; on a telephone also where its name leads, as that column is behind the edge. */
export function DomainState({ domain }: { domain: Domain }) {
  const isNarrow = useNarrow();
  const seen = tOf('cnameState', isStateKnown(domain) ? domain.cnameStatus : 'unseen');
  return (
    <span>
      <Status value={domain.status === 1 ? 'enabled' : 'disabled'} />
      {isNarrow && <span className="cell-note">{`${t('field.cnameStatus')} · ${seen}`}</span>}
    </span>
  );
}

export function NameState({ domain }: { domain: Domain }) {
  const isNarrow = useNarrow();
  const { cnameStatus, cnameSeen, cnameSince, cnameUnseen } = domain;
  const isSeen = isStateKnown(domain);
  const seen = cnameSeen.join(' → ');
  const state = isSeen ? <Status value={cnameStatus} texts="cnameState" /> : <Toned tone="idle">{t('cnameState.unseen')}</Toned>;
  // its notes would make a row high that nobody sees the reason of
  if (isNarrow) return state;
  return (
    <span className="name-state">
      {state}
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
