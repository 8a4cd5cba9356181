/** One's own sessions: by which device, from where and since when, and ending what is not oneself. */
import { useQuery } from '@tanstack/react-query';
import { Button, Skeleton, Tag } from 'antd';
import { useState } from 'react';
import { type AnswerOf, call } from '../kit/client.ts';
import { isSure } from '../kit/confirm.ts';
import { ErrorState } from '../kit/empty.tsx';
import { placeParts } from '../kit/place-text.ts';
import { useAction } from '../kit/query.ts';
import { t } from '../kit/text.ts';
import { dateMinute } from '../kit/time.ts';

type Session = AnswerOf<'GET /{area}/account/sessions'>['sessions'][number];

/** Three spare lines while they are on their way. */
const placeholders = 3;

function nameOf({ device: { browser, system }, isProxy }: Session): string {
  if (isProxy) return t('sessions.proxy');
  return [browser, system].filter(Boolean).join(t('sessions.comma')) || t('sessions.unknown');
}

export function Sessions() {
  const found = useQuery({ queryKey: ['ownSessions'], queryFn: () => call('GET /{area}/account/sessions') });
  const one = useAction('DELETE /{area}/account/session', { success: t('sessions.ended') });
  const others = useAction('DELETE /{area}/account/sessions', { success: t('sessions.othersEnded') });
  const [busy, setBusy] = useState<string>();
  const { data } = found;

  async function during(what: string, act: () => Promise<unknown>) {
    if (busy !== undefined) return;
    setBusy(what);
    await act().finally(() => setBusy(undefined));
    await found.refetch();
  }
  async function endOthers() {
    const isAgreed = await isSure({
      level: 'disruptive',
      title: t('sessions.othersTitle'),
      warning: t('sessions.othersText'),
      targets: [],
      confirm: t('sessions.endOthers'),
    });
    if (isAgreed) await during('others', () => others.run({}));
  }

  return (
    <section className="panel panel-padded" aria-label={t('sessions.title')}>
      <div className="sessions-head">
        <h2 className="section-title grow">{t('sessions.title')}</h2>
        {data && data.total > 1 && (
          <Button size="small" loading={busy === 'others'} onClick={() => void endOthers()}>
            {t('sessions.endOthers')}
          </Button>
        )}
      </div>
      {found.error && !data ? (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      ) : !data ? (
        <Skeleton active title={false} paragraph={{ rows: placeholders }} />
      ) : (
        <ul className="rows members">
          {data.sessions.map(session => (
            <li key={session.id}>
              <span className="grow member">
                <span>
                  {nameOf(session)} {session.isCurrent && <Tag variant="filled">{t('sessions.current')}</Tag>}
                </span>
                {session.address && (
                  <small className="ink-3">
                    {t('sessions.from', {
                      address: [session.address, ...(session.place ? placeParts(session.place) : [])].join(' · '),
                    })}
                  </small>
                )}
                <small className="ink-3">
                  {t('sessions.times', { since: dateMinute(session.createdAt), used: dateMinute(session.usedAt) })}
                </small>
              </span>
              {!session.isCurrent && (
                <Button
                  size="small"
                  loading={busy === session.id}
                  aria-label={`${t('sessions.end')}: ${nameOf(session)}`}
                  onClick={() => void during(session.id, () => one.run({ body: { sessionID: session.id } }))}
                >
                  {t('sessions.end')}
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      {data && data.credits.length > 0 && (
        <p className="ink-3">
          <small>
            {t('sessions.credits')}{' '}
            {data.credits.map(({ name, url }, index) => (
              <span key={name}>
                {index > 0 && ', '}
                <a href={url} target="_blank" rel="noreferrer">
                  {name}
                </a>
              </span>
            ))}
          </small>
        </p>
      )}
      {data && data.total > data.sessions.length && (
        <p className="ink-3">{t('sessions.more', { count: data.total - data.sessions.length })}</p>
      )}
    </section>
  );
}
