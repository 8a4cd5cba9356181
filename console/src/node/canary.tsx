/** A change of nginx's settings that one node has before the others, and what to do when it was stopped there. Nothing while there is none. */
import { useQuery } from '@tanstack/react-query';
import { Alert, Button } from 'antd';
import { polling } from '#contract/limits.ts';
import type { AnswerOf } from '../kit/client.ts';
import { isSure } from '../kit/confirm.ts';
import { useCan } from '../kit/permissions.ts';
import { query, useAction } from '../kit/query.ts';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';

type Canary = AnswerOf<'GET /client/zone/{id}/setting/canary'>;

/** What differs, in words: "HTTP/3: on", "ports added: 8080". */
function changes({ accepted, wanted }: Canary): string[] {
  if (!accepted || !wanted) return [];
  const switched = (['http2', 'http3'] as const)
    .filter(name => accepted[name].enable !== wanted[name].enable)
    .map(name => t(wanted[name].enable ? 'canary.on' : 'canary.off', { name: t(`tab.${name}`) }));
  const named = (all: typeof wanted.ports, others: typeof wanted.ports) =>
    all
      .filter(one => !others.some(other => other.port === one.port && other.scheme === one.scheme))
      .map(({ port, scheme }) => `${port} (${scheme.toUpperCase()})`)
      .join(t('canary.comma'));
  const [added, removed] = [named(wanted.ports, accepted.ports), named(accepted.ports, wanted.ports)];
  const others = (['proxyProtocol', 'resource'] as const).filter(
    name => JSON.stringify(accepted[name]) !== JSON.stringify(wanted[name]),
  );
  return [
    ...switched,
    ...others.map(name => t(`tab.${name}`)),
    ...(added ? [t('canary.added', { ports: added })] : []),
    ...(removed ? [t('canary.removed', { ports: removed })] : []),
  ];
}

export function CanaryBanner({ zoneID }: { zoneID: number }) {
  const can = useCan();
  const { data } = useQuery({
    ...query('GET /client/zone/{id}/setting/canary', { id: zoneID }),
    staleTime: 0,
    refetchInterval: polling.nodeInformationPollMs,
  });
  const success = t('message.updateSuccess');
  const retry = useAction('POST /client/zone/{id}/setting/canary/retry', { success });
  const takeBack = useAction('POST /client/zone/{id}/setting/canary/takeBack', { success });
  if (!data || data.state === 'none') return null;
  const isStopped = data.state === 'stopped';
  const node = data.nodeName ?? '–';
  const isBusy = retry.isPending || takeBack.isPending;
  async function back(held: Canary) {
    const isAgreed = await isSure({
      level: 'disruptive',
      title: t('canary.takeBack'),
      warning: t('canary.takeBackText'),
      targets: changes(held),
      confirm: t('canary.takeBack'),
    });
    if (isAgreed) await takeBack.run({ id: zoneID });
  }
  return (
    <Alert
      className="canary"
      type={isStopped ? 'error' : 'info'}
      showIcon
      title={t(isStopped ? 'canary.stopped' : 'canary.trying', { node })}
      description={
        <>
          {isStopped && data.why && <p>{t(`canary.${data.why}`, { node })}</p>}
          {data.detail && <p className="mono">{data.detail}</p>}
          <p>{changes(data).join(' · ')}</p>
          <p className="ink-3">
            {isStopped && data.endedAt
              ? t('canary.since', { time: dateTime(data.endedAt) })
              : data.beganAt && t('canary.since', { time: dateTime(data.beganAt) })}
          </p>
        </>
      }
      action={
        can('POST /client/zone/{id}/setting/canary/retry') && (
          <span className="canary-actions">
            {isStopped && (
              <Button type="primary" loading={retry.isPending} disabled={isBusy} onClick={() => void retry.run({ id: zoneID })}>
                {t('canary.retry')}
              </Button>
            )}
            <Button loading={takeBack.isPending} disabled={isBusy} onClick={() => void back(data)}>
              {t('canary.takeBack')}
            </Button>
          </span>
        )
      }
    />
  );
}
