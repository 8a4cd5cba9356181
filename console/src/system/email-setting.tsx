/** The operator's mail server: what is set, whether a test went out, and what waits (§7 setting/email). */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { wayProblem } from '#contract/rules/said.ts';
import { mailSecurities } from '#contract/limits.ts';
import { ErrorState } from '../kit/empty.tsx';
import { inPlace } from '../kit/later.tsx';
import { useCan } from '../kit/permissions.ts';
import { query } from '../kit/query.ts';
import { type FormField, options } from '../kit/resource.ts';
import { currentSelf, useSelf } from '../kit/session.ts';
import { Stale } from '../kit/stale.tsx';
import { language, t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { number } from '../kit/units.ts';
import { Trial } from '../kit/trial.tsx';
import { presenceFields, presenceValues, withPresence } from './presence.tsx';
import { SettingValues } from './setting-values.tsx';

const CardForm = inPlace(async () => (await import('../kit/card-form.tsx')).CardForm);

const read = 'GET /client/setting/email';
const write = 'PUT /client/setting/email';
const testing = 'POST /client/setting/email/test';
const own: FormField[] = [
  { name: 'host', label: 'mailHost', kind: 'mono', help: 'mailHost', initial: '', isOptional: true },
  { name: 'port', kind: 'number' },
  { name: 'security', kind: 'segments', help: 'mailSecurity', ...options(mailSecurities, 'mailSecurity') },
  { name: 'username', kind: 'text', initial: '', isOptional: true },
  { name: 'password', kind: 'password', help: 'mailPassword', initial: '', isOptional: true },
  { name: 'fromAddress', kind: 'text', initial: '', isOptional: true },
  { name: 'fromName', kind: 'text', help: 'fromName', initial: '', isOptional: true },
];
const fields = [...own, ...presenceFields];

export function EmailSetting() {
  const can = useCan();
  const { isRoot, proxyName } = useSelf();
  const [round, setRound] = useState(0);
  const found = useQuery(query(read));
  const now = found.data;
  if (found.error && !now) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  if (!now) return <div className="panel tab-wait" aria-busy />;
  const { host, port, security, username, fromAddress, fromName, version, passwordIsSet, testedAt, waiting, byOwner, problem } =
    now;

  return (
    <>
      <Stale found={found} />
      <section className="panel panel-padded" aria-label={t('mail.state')}>
        <p role="status">
          {t(!host ? (byOwner ? 'mail.byOwner' : 'mail.none') : testedAt ? 'mail.tested' : 'mail.untested', {
            time: testedAt ? dateTime(testedAt) : '',
          })}{' '}
          {waiting > 0 && t('mail.waiting', { count: number(waiting) })}
        </p>
        {problem && <p className="ink-3">{t('mail.problem', { problem: wayProblem(problem, language) })}</p>}
        <Trial call={testing} label={t('mail.test')} success={t('message.connectionSuccess')} isReady={host !== ''}>
          <span className="ink-3">{t('mail.testTo', { email: currentSelf()!.email })}</span>
        </Trial>
      </section>
      <section className="panel setting" aria-label={t('tab.email')}>
        {can(write) && isRoot && !proxyName ? (
          <CardForm
            // a password stays in no form that was saved
            key={round}
            call={write}
            params={{}}
            fields={fields}
            values={{ host, port, security, username, password: '', fromAddress, fromName, ...presenceValues }}
            version={version}
            // left empty it stays; without a user there is none
            body={({ password, ...rest }) => ({
              ...withPresence(rest),
              ...(password ? { password: String(password) } : rest['username'] ? {} : { password: null }),
            })}
            saved={async () => setRound(round + 1)}
            success={t('message.modifySuccess')}
            errors={{ otherwise: t('message.modifyFailed') }}
            meanwhile={<div className="tab-wait" aria-busy />}
          >
            <p className="ink-2">{t(passwordIsSet ? 'mail.passwordSet' : 'mail.passwordUnset')}</p>
          </CardForm>
        ) : (
          <SettingValues
            why={t('presence.rootOnly')}
            fields={own}
            values={{ host, port, security, username, fromAddress, fromName }}
          />
        )}
      </section>
    </>
  );
}
