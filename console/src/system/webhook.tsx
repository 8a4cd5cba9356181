/** Events by HTTP: where they go, by which secret they are signed, of which kinds, and what became of the latest. */
import './attempts.css';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { wayProblem } from '#contract/rules/said.ts';
import { noticeKinds } from '#contract/limits.ts';
import type { AnswerOf } from '../kit/client.ts';
import { ErrorState } from '../kit/empty.tsx';
import { inPlace } from '../kit/later.tsx';
import { useCan } from '../kit/permissions.ts';
import { query } from '../kit/query.ts';
import { type FormField, options } from '../kit/resource.ts';
import { Stale } from '../kit/stale.tsx';
import { Status } from '../kit/status.tsx';
import { useSelf } from '../kit/session.ts';
import { language, t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { number } from '../kit/units.ts';
import { isTold } from './told.ts';
import { keptWhenEmpty } from './kept.ts';
import { SettingValues } from './setting-values.tsx';
import { Trial } from '../kit/trial.tsx';

const CardForm = inPlace(async () => (await import('../kit/card-form.tsx')).CardForm);

const read = 'GET /{area}/setting/webhook';
const write = 'PUT /{area}/setting/webhook';
const pollMs = 3000;
const fieldsOf = (kinds: readonly (typeof noticeKinds)[number][]): FormField[] => [
  { name: 'enable', label: 'webhookOn', kind: 'switch', help: 'webhook' },
  { name: 'url', label: 'webhookURL', kind: 'mono', placeholder: 'https://example.com/hooks', isOptional: true },
  { name: 'secret', kind: 'password', help: 'webhookSecret', initial: '', isOptional: true },
  {
    name: 'kinds',
    kind: 'select',
    isMultiple: true,
    isOptional: true,
    help: 'webhookKinds',
    ...options(kinds, 'noticeKind'),
  },
];

export function Webhook() {
  const can = useCan();
  const { permissionKeys } = useSelf();
  // of what nobody here is ever told none is offered
  const fields = useMemo(() => fieldsOf(noticeKinds.filter(kind => isTold(permissionKeys, kind))), [permissionKeys]);
  const found = useQuery({
    ...query(read),
    refetchInterval: ({ state }) => (state.data?.deliveries.some(({ state: is }) => is === 'waiting') ? pollMs : false),
  });
  const now = found.data;
  if (found.error && !now) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  if (!now) return <div className="panel tab-wait" aria-busy />;
  const { enable, url, kinds, secretIsSet, version, deliveries } = now;
  return (
    <div className="in-turn">
      <Stale found={found} />
      <section className="panel setting" aria-label={t('tab.webhook')}>
        {can(write) ? (
          <CardForm
            call={write}
            params={{}}
            fields={fields}
            values={{ enable, url, secret: '', kinds }}
            version={version}
            body={keptWhenEmpty('secret')}
            success={t('message.modifySuccess')}
            errors={{ otherwise: t('message.modifyFailed') }}
            meanwhile={<div className="tab-wait" aria-busy />}
          >
            <p className="ink-2">{t(secretIsSet ? 'webhook.secretSet' : 'webhook.secretUnset')}</p>
          </CardForm>
        ) : (
          <SettingValues
            why={t('form.readOnly')}
            fields={fields}
            values={{ enable, url, kinds: kinds.length ? kinds : t('list.all') }}
          />
        )}
      </section>
      <section className="panel panel-padded" aria-label={t('webhook.deliveries')}>
        <h3>{t('webhook.deliveries')}</h3>
        <Trial
          call="POST /{area}/setting/webhook/test"
          label={t('webhook.test')}
          success={t('webhook.sent')}
          isReady={secretIsSet && url !== ''}
        />
        {deliveries.length ? <Deliveries deliveries={deliveries} /> : <p className="ink-3">{t('webhook.none')}</p>}
      </section>
    </div>
  );
}

function Deliveries({ deliveries }: { deliveries: AnswerOf<typeof read>['deliveries'] }) {
  return (
    <div className="attempts" tabIndex={0} role="group" aria-label={t('webhook.deliveries')}>
      <table className="numbers">
        <thead>
          <tr>
            {(['when', 'what', 'outcome', 'answer'] as const).map(name => (
              <th key={name} scope="col">
                {t(`webhook.${name}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {deliveries.map(one => (
            <tr key={one.id}>
              <td>{dateTime(one.sentAt ?? one.createdAt)}</td>
              <td>{t(`noticeKind.${one.kind}`)}</td>
              <td>
                <Status value={one.state} texts="deliveryState" />
                {one.attempts > 1 && <p className="ink-3">{t('webhook.tries', { count: number(one.attempts) })}</p>}
                {one.state === 'waiting' && one.nextAt && one.attempts > 0 && (
                  <p className="ink-3">{t('webhook.next', { time: dateTime(one.nextAt) })}</p>
                )}
              </td>
              <td>
                {(one.problem !== null && wayProblem(one.problem, language)) ||
                  (one.status === null ? '–' : <span className="mono">{one.status}</span>)}
                {one.answer && <p className="ink-3">{one.answer}</p>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
