/** Notices by Telegram: a bot's token, the chat it writes to, and whether a test arrives. */
import { useQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { useState } from 'react';
import { ruleText } from '#contract/rules/rule.ts';
import { call } from '../kit/client.ts';
import { ErrorState } from '../kit/empty.tsx';
import { fieldsOf } from '../kit/errors.ts';
import { inPlace } from '../kit/later.tsx';
import { notify } from '../kit/notice.ts';
import { Page } from '../kit/page.tsx';
import { useCan } from '../kit/permissions.ts';
import { present } from '../kit/present.tsx';
import { query, queryClient } from '../kit/query.ts';
import type { FormField } from '../kit/resource.ts';
import { language, t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { ApiError } from '../kit/transport.ts';

const CardForm = inPlace(async () => (await import('../kit/card-form.tsx')).CardForm);

const read = 'GET /{area}/setting/tg';
const write = 'PUT /{area}/setting/tg';
const testing = 'POST /{area}/setting/tg/test';
const fields: FormField[] = [
  { name: 'enable', label: 'telegramOn', kind: 'switch', help: 'telegram' },
  { name: 'token', kind: 'password', help: 'telegramToken', initial: '', isOptional: true },
  { name: 'chatID', kind: 'mono', help: 'chatID', placeholder: '-1001234567890', initial: '', isOptional: true },
];

export function Telegram() {
  const can = useCan();
  const found = useQuery(query(read));
  const [isBusy, setBusy] = useState(false);
  const [said, setSaid] = useState('');
  const now = found.data;
  if (found.error && !now) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  if (!now) return <div className="panel tab-wait" aria-busy />;
  const { enable, chatID, tokenIsSet, version, sentAt, problem } = now;

  async function tryIt() {
    setBusy(true);
    setSaid('');
    try {
      await call(testing);
      notify.success(t('telegram.sent'));
    } catch (error) {
      const [why] = error instanceof ApiError ? fieldsOf(error.errorData) : [];
      if (why) setSaid(ruleText(why, language));
      else present(error);
    } finally {
      setBusy(false);
      void queryClient.invalidateQueries();
    }
  }
  return (
    <>
      <section className="panel panel-padded" aria-label={t('telegram.state')}>
        <p role="status">
          {t(!enable ? 'telegram.off' : sentAt ? 'telegram.latest' : 'telegram.on', { time: sentAt ? dateTime(sentAt) : '' })}
        </p>
        {problem && <p className="bad">{t('telegram.problem', { problem })}</p>}
        {said && (
          <p className="bad" role="alert">
            {said}
          </p>
        )}
        {can(testing) && tokenIsSet && chatID !== '' && (
          <Button loading={isBusy} onClick={() => void tryIt()}>
            {t('telegram.test')}
          </Button>
        )}
      </section>
      <section className="panel setting" aria-label={t('tab.telegram')}>
        {can(write) ? (
          <CardForm
            call={write}
            params={{}}
            fields={fields}
            values={{ enable, token: '', chatID }}
            version={version}
            // left empty it stays
            body={({ token, ...rest }) => ({ ...rest, ...(token ? { token } : {}) })}
            success={t('message.modifySuccess')}
            errors={{ otherwise: t('message.modifyFailed'), fields: { illegalTelegramToken: 'token' } }}
            meanwhile={<div className="tab-wait" aria-busy />}
          >
            <p className="ink-2">{t(tokenIsSet ? 'telegram.tokenSet' : 'telegram.tokenUnset')}</p>
          </CardForm>
        ) : (
          <p className="panel-padded ink-3">{t('form.readOnly')}</p>
        )}
      </section>
    </>
  );
}

export default function NotifySetting() {
  return (
    <Page>
      <Telegram />
    </Page>
  );
}
