/** Notices by Telegram: a bot's token, the chat it writes to, and whether a test arrives. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { wayProblem } from '#contract/rules/said.ts';
import { telegramKinds } from '#contract/limits.ts';
import { ErrorState } from '../kit/empty.tsx';
import { inPlace } from '../kit/later.tsx';
import { Page } from '../kit/page.tsx';
import { useCan } from '../kit/permissions.ts';
import { query } from '../kit/query.ts';
import { type FormField, options } from '../kit/resource.ts';
import { useSelf } from '../kit/session.ts';
import { Stale } from '../kit/stale.tsx';
import { language, t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { isTold } from './told.ts';
import { keptWhenEmpty } from './kept.ts';
import { SettingValues } from './setting-values.tsx';
import { Trial } from '../kit/trial.tsx';
import { Webhook } from './webhook.tsx';

const CardForm = inPlace(async () => (await import('../kit/card-form.tsx')).CardForm);

const read = 'GET /{area}/setting/tg';
const write = 'PUT /{area}/setting/tg';
const testing = 'POST /{area}/setting/tg/test';
const fieldsOf = (kinds: readonly (typeof telegramKinds)[number][]): FormField[] => [
  { name: 'enable', label: 'telegramOn', kind: 'switch', help: 'telegram' },
  { name: 'token', kind: 'password', help: 'telegramToken', initial: '', isOptional: true },
  { name: 'chatID', kind: 'mono', help: 'chatID', placeholder: '-1001234567890', initial: '', isOptional: true },
  {
    name: 'kinds',
    kind: 'select',
    isMultiple: true,
    isOptional: true,
    help: 'telegramKinds',
    ...options(kinds, 'noticeKind'),
  },
];

export function Telegram() {
  const can = useCan();
  const { permissionKeys } = useSelf();
  // of what nobody here is ever told none is offered
  const fields = useMemo(() => fieldsOf(telegramKinds.filter(kind => isTold(permissionKeys, kind))), [permissionKeys]);
  const found = useQuery(query(read));
  const now = found.data;
  if (found.error && !now) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  if (!now) return <div className="panel tab-wait" aria-busy />;
  const { enable, chatID, kinds, tokenIsSet, version, sentAt, problem } = now;

  return (
    <>
      <Stale found={found} />
      <section className="panel panel-padded" aria-label={t('telegram.state')}>
        <p role="status">
          {t(!enable ? 'telegram.off' : sentAt ? 'telegram.latest' : 'telegram.on', { time: sentAt ? dateTime(sentAt) : '' })}
        </p>
        {problem && <p className="bad">{t('telegram.problem', { problem: wayProblem(problem, language) })}</p>}
        <Trial call={testing} label={t('telegram.test')} success={t('telegram.sent')} isReady={tokenIsSet && chatID !== ''} />
      </section>
      <section className="panel setting" aria-label={t('tab.telegram')}>
        {can(write) ? (
          <CardForm
            call={write}
            params={{}}
            fields={fields}
            values={{ enable, token: '', chatID, kinds }}
            version={version}
            body={keptWhenEmpty('token')}
            success={t('message.modifySuccess')}
            errors={{ otherwise: t('message.modifyFailed'), fields: { illegalTelegramToken: 'token' } }}
            meanwhile={<div className="tab-wait" aria-busy />}
          >
            <p className="ink-2">{t(tokenIsSet ? 'telegram.tokenSet' : 'telegram.tokenUnset')}</p>
          </CardForm>
        ) : (
          <SettingValues why={t('form.readOnly')} fields={fields} values={{ enable, chatID, kinds }} />
        )}
      </section>
    </>
  );
}

export default function NotifySetting() {
  const can = useCan();
  return (
    <Page>
      <div className="in-turn">
        {can(read) && (
          <div>
            <h2 className="section-name">{t('tab.telegram')}</h2>
            <Telegram />
          </div>
        )}
        {can('GET /{area}/setting/webhook') && (
          <div>
            <h2 className="section-name">{t('tab.webhook')}</h2>
            <Webhook />
          </div>
        )}
      </div>
    </Page>
  );
}
