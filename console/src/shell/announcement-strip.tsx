import './announcements.css';
import { useState } from 'react';
import type { RowOf } from '../kit/client.ts';
import { Markdown } from '../kit/markdown.tsx';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';

type Row = RowOf<'GET /user/announcements'>;
interface Props {
  rows: readonly Row[];
  onDismiss: (row: Row) => void;
}

export function AnnouncementStrip({ rows, onDismiss }: Props) {
  const [at, setAt] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const place = Math.min(at, rows.length - 1);
  const row = rows[place]!;
  const go = (next: number) => {
    setAt((next + rows.length) % rows.length);
    setOpen(false);
  };
  return (
    <section className="announcement" aria-label={t('announcement.title')}>
      <div className="announcement-head">
        <span className="announcement-mark" aria-hidden />
        <strong className="announcement-title">{row.title}</strong>
        {row.content.trim() !== '' && (
          <button type="button" className="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {t(isOpen ? 'announcement.less' : 'announcement.read')}
          </button>
        )}
        <span className="grow" />
        {rows.length > 1 && (
          <span className="announcement-pages">
            <button type="button" aria-label={t('announcement.previous')} onClick={() => go(place - 1)}>
              ‹
            </button>
            <span className="numbers">
              {place + 1} / {rows.length}
            </span>
            <button type="button" aria-label={t('announcement.next')} onClick={() => go(place + 1)}>
              ›
            </button>
          </span>
        )}
        <button
          type="button"
          aria-label={t('announcement.dismiss')}
          title={t('announcement.dismiss')}
          onClick={() => {
            setOpen(false);
            onDismiss(row);
          }}
        >
          ×
        </button>
      </div>
      {isOpen && (
        <div className="announcement-text">
          <Markdown text={row.content} />
          <time className="ink-3" dateTime={row.start ?? row.createdAt}>
            {dateTime(row.start ?? row.createdAt)}
          </time>
        </div>
      )}
    </section>
  );
}
