/**
 * A page: its heading, what can be done on it, its content. Its heading is its line in the menu, which the crumbs say too, unless it is
 * about one thing that has a name of its own.
 */
import { type ReactNode, useEffect, useState } from 'react';
import { currentBrand } from './brand.ts';
import { screenAt } from './screens.ts';
import { t } from './text.ts';

export function Page({
  title: given,
  note,
  actions,
  children,
}: {
  title?: ReactNode;
  note?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const [own] = useState(() => screenAt(location.pathname)?.title);
  const title = given ?? (own && t(`menu.${own}`));
  useEffect(() => {
    document.title = `${typeof title === 'string' ? `${title} · ` : ''}${currentBrand().title}`;
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
