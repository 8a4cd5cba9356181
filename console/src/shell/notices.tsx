/** The messages at the top of the page, 50 px from its edge (§8). */
import { useSyncExternalStore } from 'react';
import { display } from '#contract/limits-start.ts';
import { dismiss, noticeStore } from '../kit/notice.ts';
import { laterRelease, loadRelease, useNewRelease } from '../kit/release.ts';
import { t } from '../kit/text.ts';

export function Notices() {
  const isNewRelease = useNewRelease();
  const notices = useSyncExternalStore(noticeStore.subscribe, noticeStore.get);
  return (
    <div className="notices" style={{ top: display.messageTopPx }}>
      {isNewRelease && (
        <div className="notice notice-info" role="status">
          <span className="notice-dot" aria-hidden />
          <span className="notice-text">{t('release.new')}</span>
          <button type="button" className="button notice-action" onClick={() => void loadRelease()}>
            {t('release.load')}
          </button>
          <button type="button" className="notice-close" aria-label={t('error.close')} onClick={laterRelease}>
            ×
          </button>
        </div>
      )}
      {notices.map(notice => (
        <div key={notice.id} className={`notice notice-${notice.level}`} role={notice.level === 'error' ? 'alert' : 'status'}>
          <span className="notice-dot" aria-hidden />
          <span className="notice-text">{notice.text}</span>
          {notice.action && (
            <button
              type="button"
              className="button notice-action"
              onClick={() => {
                dismiss(notice.id);
                notice.action!.run();
              }}
            >
              {notice.action.text}
            </button>
          )}
          <button type="button" className="notice-close" aria-label={t('error.close')} onClick={() => dismiss(notice.id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
