import { useReachable, useSlow } from '../kit/network.ts';
import { t } from '../kit/text.ts';

/** The line is down: what is on screen may be old, and nothing can be saved now. Or an answer is long in coming. It goes by itself. */
export function NetworkBanner() {
  const isReachable = useReachable();
  const isSlow = useSlow();
  if (isSlow)
    return (
      <div className="network-banner slow" role="status">
        <span className="status-dot warn" aria-hidden />
        {t('shell.slow')}
      </div>
    );
  if (isReachable) return null;
  return (
    <div className="network-banner" role="alert">
      <span className="status-dot bad" aria-hidden />
      {t('shell.unreachable')}
    </div>
  );
}
