/** One's own passkeys: what one signs in by instead of a password, added and removed with the password. */
import { useQuery } from '@tanstack/react-query';
import { Button, Skeleton, Tag } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { passkeys as limits } from '#contract/limits.ts';
import { type AnswerOf, call } from '../kit/client.ts';
import { ErrorState } from '../kit/empty.tsx';
import { later } from '../kit/later.tsx';
import { mayHavePasskeys } from '../kit/passkeys.ts';
import { t } from '../kit/text.ts';
import { dateMinute } from '../kit/time.ts';

type Passkey = AnswerOf<'GET /{area}/account/passkeys'>['passkeys'][number];
const PasskeyForm = later(async () => (await import('./passkey-form.tsx')).PasskeyForm);

export function Passkeys() {
  const found = useQuery({ queryKey: ['ownPasskeys'], queryFn: () => call('GET /{area}/account/passkeys') });
  const [open, setOpen] = useState<'add' | Passkey>();
  const held = found.data?.passkeys;
  const add = useRef<HTMLButtonElement>(null);
  const pressed = useRef<HTMLElement>(null);
  // the drawer goes with its focus: who came by keyboard goes on from where they were
  useEffect(() => {
    if (!open) pressed.current?.focus();
  }, [open]);
  function ask(what: 'add' | Passkey, button: HTMLElement) {
    pressed.current = button;
    setOpen(what);
  }
  function isDone() {
    // a button of what was removed goes too
    pressed.current = add.current;
    void found.refetch();
  }
  return (
    <section className="panel panel-padded" aria-label={t('passkeys.title')}>
      <div className="sessions-head">
        <h2 className="section-title grow">{t('passkeys.title')}</h2>
        {held && mayHavePasskeys && held.length < limits.perAccountMax && (
          <Button ref={add} size="small" onClick={event => ask('add', event.currentTarget)}>
            {t('passkeys.add')}
          </Button>
        )}
      </div>
      {found.error && !held ? (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      ) : !held ? (
        <Skeleton active title={false} paragraph={{ rows: 1 }} />
      ) : (
        <>
          {(!held.length || !mayHavePasskeys) && (
            <p className="ink-3">{t(mayHavePasskeys ? 'passkeys.none' : 'passkeys.notHere')}</p>
          )}
          <ul className="rows members">
            {held.map(one => (
              <li key={one.id}>
                <span className="grow member">
                  <span>
                    {one.name} {one.isSynced && <Tag variant="filled">{t('passkeys.synced')}</Tag>}
                  </span>
                  <small className="ink-3">{one.host}</small>
                  <small className="ink-3">
                    {one.lastUsedAt
                      ? t('passkeys.times', { since: dateMinute(one.createdAt), used: dateMinute(one.lastUsedAt) })
                      : t('passkeys.unused', { since: dateMinute(one.createdAt) })}
                  </small>
                </span>
                <Button
                  size="small"
                  aria-label={`${t('passkeys.remove')}: ${one.name}`}
                  onClick={event => ask(one, event.currentTarget)}
                >
                  {t('passkeys.remove')}
                </Button>
              </li>
            ))}
          </ul>
        </>
      )}
      {open && (
        <PasskeyForm
          {...(open === 'add' ? { name: t('passkeys.nth', { n: (held?.length ?? 0) + 1 }) } : { gone: open })}
          onDone={isDone}
          onClose={() => setOpen(undefined)}
        />
      )}
    </section>
  );
}
