import { useReachable } from '../kit/network.ts';
import { t } from '../kit/text.ts';

/** The line is down: what is on screen may be old, and nothing can be saved now. It goes by itself. */
export function NetworkBanner() {
  if (useReachable()) return null;
  return (
    <div className="network-banner" role="alert">
      <span className="status-dot bad" aria-hidden />
      {t('shell.unreachable')}
    </div>
  );
}
