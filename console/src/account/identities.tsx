/** Whom of the operator's identity provider one is: links, made and taken away with the password. */
import { useQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { useState } from 'react';
import { type AnswerOf, call } from '../kit/client.ts';
import { ErrorState } from '../kit/empty.tsx';
import { later } from '../kit/later.tsx';
import { notify } from '../kit/notice.ts';
import { t } from '../kit/text.ts';
import { toLink } from './provider.ts';
import { Ways } from './ways.tsx';

type Identity = AnswerOf<'GET /{area}/account/identities'>['identities'][number];
const PasswordDrawer = later(async () => (await import('./password-drawer.tsx')).PasswordDrawer);

export function Identities() {
  const found = useQuery({ queryKey: ['ownIdentities'], queryFn: () => call('GET /{area}/account/identities') });
  const [open, setOpen] = useState<'link' | Identity>();
  const close = () => setOpen(undefined);
  const { data } = found;
  if (found.error && !data) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  // an operator without a provider has nothing to show
  if (!data || (data.label === '' && !data.identities.length)) return null;
  const { label, identities } = data;
  async function remove(one: Identity, password: string) {
    await call('DELETE /{area}/account/identity', { body: { identityID: one.id, password } }, { from: 'step' });
    notify.success(t('identities.removed'));
    close();
    await found.refetch();
  }
  return (
    <section className="panel panel-padded" aria-label={t('identities.title')}>
      <div className="sessions-head">
        <h2 className="section-title grow">{t('identities.title')}</h2>
        {label && (
          <Button size="small" onClick={() => setOpen('link')}>
            {t('identities.add', { label })}
          </Button>
        )}
      </div>
      {!identities.length && <p className="ink-3">{t('identities.none', { label })}</p>}
      <Ways ways={identities} where={one => one.issuer} onRemove={setOpen} />
      {open === 'link' && (
        <PasswordDrawer
          title={t('identities.add', { label })}
          text={t('identities.addText', { label })}
          submit={t('factor.next')}
          act={toLink}
          onClose={close}
        />
      )}
      {open && open !== 'link' && (
        <PasswordDrawer
          title={t('identities.removeTitle')}
          text={t('passkeys.removeText', { name: open.name })}
          submit={t('passkeys.remove')}
          isDanger
          act={password => remove(open, password)}
          onClose={close}
        />
      )}
    </section>
  );
}
