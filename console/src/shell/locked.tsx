import { t } from '../kit/text.ts';

/** A page that this account may not see. */
export function Locked() {
  return (
    <div className="page">
      <div className="panel empty" role="alert">
        <p className="empty-title">{t('empty.locked')}</p>
        <p className="empty-text">{t('empty.lockedText')}</p>
      </div>
    </div>
  );
}
