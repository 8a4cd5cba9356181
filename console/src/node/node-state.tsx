/** The state of a node, why it is in it, and since when. */
import { Status } from '../kit/bits.tsx';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { ago } from './ago.tsx';
import { type Node, stateOf } from './state.ts';

/** In the reader's words; what a node says of itself stays as it said it. */
export function reasonOf({ statusReason, silentSince }: Node): string {
  // its pause stays, and it is no backup
  if (silentSince !== null) return t('node.pausedSilent', { time: dateTime(silentSince), ago: ago(silentSince) });
  if (!statusReason) return '';
  const { reason, detail } = statusReason;
  return reason === 'problem' && detail ? detail : t(`statusReason.${reason}`, { detail });
}

/** For a list: the reason beneath the state. */
export function NodeState({ node }: { node: Node }) {
  const reason = node.zoneID === null ? '' : reasonOf(node);
  const since = node.statusSince === null ? '' : dateTime(node.statusSince);
  return (
    <span title={[reason, since].filter(Boolean).join('\n')}>
      <Status value={stateOf(node)} />
      {reason && <span className="cell-note node-reason">{reason}</span>}
    </span>
  );
}

/** For the page of one node. */
export function WholeState({ node }: { node: Node }) {
  const reason = node.zoneID === null ? '' : reasonOf(node);
  return (
    <div>
      <Status value={stateOf(node)} />
      {node.statusSince !== null && (
        <span className="ink-3"> {t('node.since', { time: dateTime(node.statusSince), ago: ago(node.statusSince) })}</span>
      )}
      {reason && <div className="ink-2">{reason}</div>}
    </div>
  );
}
