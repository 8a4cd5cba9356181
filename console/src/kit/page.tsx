/** A page: its heading, what can be done on it, its content. */
import { type ReactNode, useEffect } from 'react';
import { t } from './text.ts';

export function Page({
  title,
  note,
  actions,
  children,
}: {
  title: ReactNode;
  note?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${typeof title === 'string' ? `${title} · ` : ''}${t('brand.name')}`;
  }, [title]);
  return (
    <div className="page">
      <header className="page-head">
        <div className="page-title">
          <h1>{title}</h1>
          {note && <div className="page-note">{note}</div>}
        </div>
        {actions && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}
