/** One's own passkeys: what one signs in by instead of a password, added and removed with the password. */
import { useQuery } from '@tanstack/react-query';
import { Button, Skeleton, Tag } from 'antd';
import { useState } from 'react';
import { passkeys as limits } from '#contract/limits.ts';
import { type AnswerOf, call } from '../kit/client.ts';
import { ErrorState } from '../kit/empty.tsx';
import { later } from '../kit/later.tsx';
import { mayHavePasskeys } from '../kit/passkeys.ts';
import { t } from '../kit/text.ts';
import { Ways } from './ways.tsx';

type Passkey = AnswerOf<'GET /{area}/account/passkeys'>['passkeys'][number];
const PasskeyForm = later(async () => (await import('./passkey-form.tsx')).PasskeyForm);

export function Passkeys() {
  const found = useQuery({ queryKey: ['ownPasskeys'], queryFn: () => call('GET /{area}/account/passkeys') });
  const [open, setOpen] = useState<'add' | Passkey>();
  const held = found.data?.passkeys;
  return (
    <section className="panel panel-padded" aria-label={t('passkeys.title')}>
      <div className="sessions-head">
        <h2 className="section-title grow">{t('passkeys.title')}</h2>
        {held && mayHavePasskeys && held.length < limits.perAccountMax && (
          <Button size="small" onClick={() => setOpen('add')}>
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
          <Ways
            ways={held}
            where={one => one.host}
            beside={one => one.isSynced && <Tag variant="filled">{t('passkeys.synced')}</Tag>}
            onRemove={setOpen}
          />
        </>
      )}
      {open && (
        <PasskeyForm
          {...(open === 'add' ? { name: t('passkeys.nth', { n: (held?.length ?? 0) + 1 }) } : { gone: open })}
          onDone={() => void found.refetch()}
          onClose={() => setOpen(undefined)}
        />
      )}
    </section>
  );
}
