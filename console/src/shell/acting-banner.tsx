import { mayLeave } from '../kit/leaving.ts';
import { useSelf } from '../kit/session.ts';
import { cameFrom, endSession } from '../kit/sign-out.ts';
import { area } from '../kit/area.ts';
import { t } from '../kit/text.ts';

/** Whoever acts for somebody else sees it on every page, and gets back from there. */
export function ActingBanner() {
  const { email, proxyName } = useSelf();
  if (!proxyName) return null;
  return (
    <div className="acting-banner" role="status">
      <span>{t('shell.acting', { name: email, by: proxyName })}</span>
      <button type="button" onClick={() => void goBack()}>
        {t('shell.actingBack')}
      </button>
    </div>
  );
}

/** The session of the other ends; the tab it opened in closes where the browser allows that, else it shows where the person came from. */
async function goBack() {
  if (!(await mayLeave())) return;
  const from = cameFrom.get();
  cameFrom.set(null);
  await endSession();
  close();
  location.replace(from ?? `/${area}`);
}
