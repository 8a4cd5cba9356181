/** What somebody else says when it is asked now: read anew each time the drawer opens, and again by its button; nothing of it is kept. */
import type { UseQueryResult } from '@tanstack/react-query';
import { Button, Drawer, Skeleton } from 'antd';
import type { ReactNode } from 'react';
import { ruleText } from '#contract/rules/rule.ts';
import { Empty, ErrorState } from './empty.tsx';
import { fieldsOf } from './errors.ts';
import { presented } from './present.tsx';
import { language, t } from './text.ts';
import { ApiError } from './transport.ts';

interface Props<T> {
  title: string;
  widthPx?: number;
  /** of a query that has `unkept` */
  asked: Pick<UseQueryResult<T>, 'data' | 'error' | 'isFetching' | 'refetch'>;
  /** on the button that asks again */
  again?: string;
  onClose: () => void;
  children: (said: T) => ReactNode;
}
const usualPx = 560;

/** Whoever was asked says why, below what that means to us. */
function Refused({ error, onRetry }: { error: Error; onRetry: () => void }) {
  const [said] = error instanceof ApiError ? fieldsOf(error.errorData) : [];
  // told on the console each time it is presented: of an error that says nothing more ErrorState alone speaks
  const what = said && presented(error);
  if (!what || (what.kind !== 'message' && what.kind !== 'fields')) return <ErrorState error={error} onRetry={onRetry} />;
  return (
    <div role="alert">
      <Empty drawing="broken" title={what.text} action={<Button onClick={onRetry}>{t('page.retry')}</Button>}>
        <span className="mono">{ruleText(said, language)}</span>
      </Empty>
    </div>
  );
}

export function AskedNow<T>({ title, widthPx = usualPx, asked, again = t('page.retry'), onClose, children }: Props<T>) {
  const { data, error, isFetching, refetch } = asked;
  const ask = () => void refetch();
  return (
    <Drawer open title={title} size={widthPx} mask={{ blur: false }} onClose={onClose}>
      {isFetching ? (
        <Skeleton active />
      ) : error ? (
        <Refused error={error} onRetry={ask} />
      ) : (
        data !== undefined && (
          <>
            {children(data)}
            <Button style={{ marginTop: 16 }} onClick={ask}>
              {again}
            </Button>
          </>
        )
      )}
    </Drawer>
  );
}
