/** Whether each sign-in takes a second factor (§7 accountVerify). */
import { useQuery } from '@tanstack/react-query';
import { ErrorState } from '../kit/empty.tsx';
import { inPlace } from '../kit/later.tsx';
import { useCan } from '../kit/permissions.ts';
import { query } from '../kit/query.ts';
import type { FormField } from '../kit/resource.ts';
import { t } from '../kit/text.ts';

const CardForm = inPlace(async () => (await import('../kit/card-form.tsx')).CardForm);

const read = 'GET /client/setting/system/accountVerify';
const write = 'PUT /client/setting/system/accountVerify';
const fields: FormField[] = [{ name: 'enabled', label: 'accountVerify', kind: 'switch', help: 'accountVerify' }];

export function AccountVerify() {
  const can = useCan();
  const found = useQuery(query(read));
  if (found.error && !found.data) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  if (!found.data) return <div className="panel tab-wait" aria-busy />;
  const { enabled, version } = found.data;
  return (
    <section className="panel setting" aria-label={t('tab.accountVerify')}>
      {can(write) ? (
        <CardForm
          call={write}
          params={{}}
          fields={fields}
          values={{ enabled }}
          version={version}
          success={t('message.modifySuccess')}
          errors={{ fields: { illegalEmailSettings: 'enabled' }, otherwise: t('message.modifyFailed') }}
          meanwhile={<div className="tab-wait" aria-busy />}
        />
      ) : (
        <p className="panel-padded">{t(enabled ? 'accountVerify.on' : 'accountVerify.off')}</p>
      )}
    </section>
  );
}
