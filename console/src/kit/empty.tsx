/** The four ways a page has nothing to show, each of which says what to do. */
import { Link } from '@tanstack/react-router';
import { Button } from 'antd';
import type { ReactNode } from 'react';
import { presented } from './present.tsx';
import { t } from './text.ts';
import { isError } from './error-code.ts';
import { ApiError } from './transport.ts';

const drawings = {
  nothing: 'M14 44h52M22 44V24l18-10 18 10v20M34 44V32h12v12',
  noMatch: 'M35 37a13 13 0 1 0 0-26 13 13 0 0 0 0 26ZM45 33l15 15M29 24h12',
  locked: 'M26 28v-6a14 14 0 0 1 28 0v6M20 28h40v20H20zM40 35v6',
  broken: 'M40 12 66 50H14zM40 26v11M40 42.500v1',
  gone: 'M18 16h30l10 10v22H18zM48 16v10h10M31 33l14 0',
} as const;

export function Empty({
  drawing,
  title,
  children,
  action,
}: {
  drawing: keyof typeof drawings;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className="empty">
      <svg
        width="80"
        height="60"
        viewBox="0 0 80 60"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden
      >
        <path d={drawings[drawing]} />
      </svg>
      <p className="empty-title">{title}</p>
      {children && <p className="empty-text">{children}</p>}
      {action && <div className="empty-action">{action}</div>}
    </div>
  );
}

/** An id in the address that names nothing, or nothing of ours: the two look alike. */
export const isGone = (error: unknown) =>
  error instanceof ApiError &&
  Array.isArray(error.errorData) &&
  error.errorData.some(
    // of the address alone: a filter or a sort that is not known is a mistake of the page
    (problem: { path?: unknown; rule?: unknown } | null) =>
      problem?.rule === 'unknown' && /(?:^id|ID|Id|IDs)(?:\.\d+)?$/.test(String(problem.path)),
  );

/** A change of a row that somebody deleted meanwhile: its id, in the body or in the address, is not known. */
export const isRowGone = (error: unknown, params: Readonly<Record<string, unknown>>) =>
  error instanceof ApiError &&
  Array.isArray(error.errorData) &&
  error.errorData.some(
    (problem: { path?: unknown; rule?: unknown } | null) =>
      problem?.rule === 'unknown' &&
      (/(?:^|\.)(?:ids?|siteIDs|domainIDs)$/.test(String(problem.path)) || String(problem.path) in params),
  );

interface ErrorProps {
  error: unknown;
  onRetry?: () => void;
  /** Where to go from a page whose subject is gone. */
  back?: { href: string; text: string };
}

/** Why there is nothing to show: it may not be seen, it is gone, the server cannot be reached, or something failed. */
export function ErrorState({ error, onRetry, back }: ErrorProps) {
  if (isError(error, 'permissionDenied'))
    return (
      <Empty drawing="locked" title={t('empty.locked')}>
        {t('empty.lockedText')}
      </Empty>
    );
  const retry = onRetry && <Button onClick={onRetry}>{t('page.retry')}</Button>;
  if (isGone(error))
    return (
      <Empty drawing="gone" title={t('empty.gone')} action={back && <Link to={back.href}>{back.text}</Link>}>
        {t('empty.goneText')}
      </Empty>
    );
  if (error instanceof ApiError && error.code === 0)
    return (
      <Empty drawing="broken" title={t('page.unreachable')} action={retry}>
        {t('page.unreachableText')}
      </Empty>
    );
  const what = presented(error);
  const text = what.kind === 'message' || what.kind === 'fields' ? what.text : t('error.generic');
  return (
    <Empty drawing="broken" title={t('empty.broken')} action={retry}>
      {text} {error instanceof ApiError && error.code > 0 && <span className="mono">({error.code})</span>}
    </Empty>
  );
}
