/** The identity provider of an operator: what it is, for whom, and whether it is there. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { CopyButton } from '../kit/copy.tsx';
import { ErrorState } from '../kit/empty.tsx';
import { inPlace } from '../kit/later.tsx';
import { useCan } from '../kit/permissions.ts';
import { query } from '../kit/query.ts';
import type { FormField } from '../kit/resource.ts';
import { useSelf } from '../kit/session.ts';
import { Stale } from '../kit/stale.tsx';
import { t } from '../kit/text.ts';
import { keptWhenEmpty } from './kept.ts';
import { codeField } from './presence.tsx';
import { SettingValues } from './setting-values.tsx';
import { Trial } from '../kit/trial.tsx';

const CardForm = inPlace(async () => (await import('../kit/card-form.tsx')).CardForm);
const read = 'GET /client/setting/system/oidc';
const write = 'PUT /client/setting/system/oidc';
const own: FormField[] = [
  { name: 'enable', label: 'oidcOn', kind: 'switch' },
  {
    name: 'issuer',
    label: 'oidcIssuer',
    kind: 'mono',
    help: 'oidcIssuer',
    placeholder: 'https://',
    initial: '',
    isOptional: true,
  },
  { name: 'client', label: 'oidcClient', kind: 'mono', initial: '', isOptional: true },
  { name: 'secret', label: 'oidcSecret', kind: 'password', help: 'oidcSecret', initial: '', isOptional: true },
  { name: 'label', kind: 'text', help: 'oidcLabel', initial: '', isOptional: true },
  { name: 'forOperator', kind: 'switch' },
  { name: 'forCustomers', kind: 'switch' },
  { name: 'byEmail', kind: 'switch', help: 'oidcByEmail' },
];
const fields: FormField[] = [
  ...own,
  { name: 'password', label: 'ownPassword', kind: 'password', help: 'oidcPassword', initial: '' },
  codeField,
];

export function OIDC() {
  const can = useCan();
  const { isRoot, proxyName } = useSelf();
  const found = useQuery(query(read));
  const [round, setRound] = useState(0);
  const now = found.data;
  if (found.error && !now) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  if (!now) return <div className="panel tab-wait" aria-busy />;
  const { version, callbacks, secretIsSet, enable, issuer, client, label, forOperator, forCustomers, byEmail } = now;
  return (
    <div className="in-turn">
      <Stale found={found} />
      <section className="panel setting" aria-label={t('tab.oidc')}>
        {can(write) && isRoot && !proxyName ? (
          <CardForm
            // a password stays in no form that was saved
            key={round}
            call={write}
            params={{}}
            fields={fields}
            values={{ enable, issuer, client, secret: '', label, forOperator, forCustomers, byEmail, password: '', code: '' }}
            version={version}
            body={({ code, ...values }) =>
              keptWhenEmpty('secret')({ ...values, ...(code ? { code: String(code).replaceAll(/\s/g, '') } : {}) })
            }
            saved={async () => setRound(round + 1)}
            success={t('message.modifySuccess')}
            errors={{ otherwise: t('message.modifyFailed') }}
            meanwhile={<div className="tab-wait" aria-busy />}
          >
            <p className="ink-2">{t(secretIsSet ? 'webhook.secretSet' : 'webhook.secretUnset')}</p>
          </CardForm>
        ) : (
          <SettingValues
            why={t('oidc.rootOnly')}
            fields={own}
            values={{ enable, issuer, client, label, forOperator, forCustomers, byEmail }}
          />
        )}
      </section>
      <section className="panel panel-padded" aria-label={t('oidc.callbacks')}>
        <h3>{t('oidc.callbacks')}</h3>
        <p className="ink-3">{t(callbacks.length ? 'oidc.callbacksText' : 'oidc.noCallbacks')}</p>
        {callbacks.map(one => (
          <p key={one}>
            <code>{one}</code> <CopyButton text={one} />
          </p>
        ))}
        <Trial
          call="POST /client/setting/system/oidc/test"
          label={t('oidc.test')}
          success={t('oidc.isThere')}
          isReady={secretIsSet && issuer !== ''}
        />
      </section>
    </div>
  );
}
