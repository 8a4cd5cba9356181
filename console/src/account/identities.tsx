/** Whom of the operator's identity provider one is: links, made and taken away with the password. */
import { useQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { type AnswerOf, call } from '../kit/client.ts';
import { ErrorState } from '../kit/empty.tsx';
import { later } from '../kit/later.tsx';
import { notify } from '../kit/notice.ts';
import { t } from '../kit/text.ts';
import { dateMinute } from '../kit/time.ts';
import { toLink } from './provider.ts';

type Identity = AnswerOf<'GET /{area}/account/identities'>['identities'][number];
const PasswordDrawer = later(async () => (await import('./password-drawer.tsx')).PasswordDrawer);

export function Identities() {
  const found = useQuery({ queryKey: ['ownIdentities'], queryFn: () => call('GET /{area}/account/identities') });
  const [open, setOpen] = useState<'link' | Identity>();
  const { data } = found;
  const add = useRef<HTMLButtonElement>(null);
  const pressed = useRef<HTMLElement>(null);
  // the drawer goes with its focus: who came by keyboard goes on from where they were
  useEffect(() => {
    if (!open) pressed.current?.focus();
  }, [open]);
  if (found.error && !data) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  // an operator without a provider has nothing to show
  if (!data || (data.label === '' && !data.identities.length)) return null;
  const { label, identities } = data;
  function ask(what: 'link' | Identity, button: HTMLElement) {
    pressed.current = button;
    setOpen(what);
  }
  async function remove(one: Identity, password: string) {
    await call('DELETE /{area}/account/identity', { body: { identityID: one.id, password } }, { from: 'step' });
    notify.success(t('identities.removed'));
    // its button goes too
    pressed.current = add.current;
    setOpen(undefined);
    await found.refetch();
  }
  return (
    <section className="panel panel-padded" aria-label={t('identities.title')}>
      <div className="sessions-head">
        <h2 className="section-title grow">{t('identities.title')}</h2>
        {label && (
          <Button ref={add} size="small" onClick={event => ask('link', event.currentTarget)}>
            {t('identities.add', { label })}
          </Button>
        )}
      </div>
      {!identities.length && <p className="ink-3">{t('identities.none', { label })}</p>}
      <ul className="rows members">
        {identities.map(one => (
          <li key={one.id}>
            <span className="grow member">
              <span>{one.name}</span>
              <small className="ink-3">{one.issuer}</small>
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
      {open === 'link' && (
        <PasswordDrawer
          title={t('identities.add', { label })}
          text={t('identities.addText', { label })}
          submit={t('factor.next')}
          act={toLink}
          onClose={() => setOpen(undefined)}
        />
      )}
      {open && open !== 'link' && (
        <PasswordDrawer
          title={t('identities.removeTitle')}
          text={t('passkeys.removeText', { name: open.name })}
          submit={t('passkeys.remove')}
          isDanger
          act={password => remove(open, password)}
          onClose={() => setOpen(undefined)}
        />
      )}
    </section>
  );
}
