/** The messages at the top of the page, 50 px from its edge (§8). */
import { useSyncExternalStore } from 'react';
import { display } from '#contract/limits-start.ts';
import { dismiss, type Notice, type NoticeAction, noticeStore } from '../kit/notice.ts';
import { laterRelease, loadRelease, useNewRelease } from '../kit/release.ts';
import { t } from '../kit/text.ts';

export function Notices() {
  const isNewRelease = useNewRelease();
  const notices = useSyncExternalStore(noticeStore.subscribe, noticeStore.get);
  return (
    <div className="notices" style={{ top: display.messageTopPx }}>
      {isNewRelease && (
        <Line
          level="info"
          text={t('release.new')}
          action={{ text: t('release.load'), run: () => void loadRelease() }}
          onClose={laterRelease}
        />
      )}
      {notices.map(({ id, ...notice }) => (
        <Line key={id} {...notice} onClose={() => dismiss(id)} />
      ))}
    </div>
  );
}

interface LineProps extends Pick<Notice, 'level' | 'text'> {
  action?: NoticeAction | undefined;
  onClose: () => void;
}

const Line = ({ level, text, action, onClose }: LineProps) => (
  <div className={`notice notice-${level}`} role={level === 'error' ? 'alert' : 'status'}>
    <span className="notice-dot" aria-hidden />
    <span className="notice-text">{text}</span>
    {action && (
      <button type="button" className="button notice-action" onClick={action.run}>
        {action.text}
      </button>
    )}
    <button type="button" className="notice-close" aria-label={t('error.close')} onClick={onClose}>
      ×
    </button>
  </div>
);
