/** Whole-page states that need no component library: loading, not found, broken. */
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { onceReachable } from '../kit/network.ts';
import { t } from '../kit/text.ts';
import { ApiError } from '../kit/transport.ts';

export function Loading() {
  return <div className="topbar-progress" role="progressbar" aria-label={t('page.loading')} />;
}

const backHomeAfterMs = 5000;

/** §2: any unmatched path shows the error page, then goes to /. */
export function NotFound() {
  const navigate = useNavigate();
  useEffect(() => {
    const timer = setTimeout(() => void navigate({ to: '/', replace: true }), backHomeAfterMs);
    return () => clearTimeout(timer);
  }, [navigate]);
  return (
    <main className="fullpage">
      <p className="fullpage-code">404</p>
      <h1>{t('page.notFound')}</h1>
      <p>{t('page.notFoundText')}</p>
      <a className="button button-primary" href="/">
        {t('page.home')}
      </a>
    </main>
  );
}

export function Broken({ error }: { error: unknown }) {
  const isUnreachable = error instanceof ApiError;
  useEffect(() => console.error(error), [error]);
  // nothing of the page was there yet, so it begins anew when the server is back
  const isGone = isUnreachable && error.code === 0 && error.status === 0;
  useEffect(() => (isGone ? onceReachable(() => location.reload()) : undefined), [isGone]);
  return (
    <main className="fullpage" role="alert">
      <h1>{t(isUnreachable ? 'page.unreachable' : 'page.broken')}</h1>
      <p>{t(isUnreachable ? 'page.unreachableText' : 'page.brokenText')}</p>
      {isUnreachable && error.code > 0 && (
        <p className="mono">
          {error.code} {error.message}
        </p>
      )}
      <button type="button" className="button button-primary" onClick={() => location.reload()}>
        {t('page.retry')}
      </button>
    </main>
  );
}
