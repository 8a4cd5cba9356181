/** What one operator holds, nothing issued included: changed here; what a file says stands in the file. */
import { useQuery } from '@tanstack/react-query';
import { Drawer } from 'antd';
import { useEffect } from 'react';
import { ResourceForm } from '../kit/form.tsx';
import { overlay } from '../kit/overlay.ts';
import { present } from '../kit/present.tsx';
import { query } from '../kit/query.ts';
import type { FormField } from '../kit/resource.ts';
import { t } from '../kit/text.ts';
import { limitFields, monitor, portType } from './fields.tsx';
import { Held } from './held.tsx';

const fields: FormField[] = [
  { name: 'expiredAt', kind: 'time', presets: ['month', 'year', 'never'], isOptional: true },
  ...limitFields,
  portType,
  monitor,
];

interface Holder {
  id: number;
  email: string;
}
export const editOrder = (holder: Holder) => overlay(close => <Order holder={holder} onClose={() => close()} />);

function Order({ holder, onClose }: { holder: Holder; onClose: () => void }) {
  const now = useQuery({ ...query('GET /admin/license/{userId}/order', { userId: holder.id }), staleTime: 0, gcTime: 0 });
  useEffect(() => {
    if (!now.error) return;
    present(now.error);
    onClose();
  }, [now.error, onClose]);
  if (!now.data) return null;
  const title = t('license.orderTitle', { email: holder.email });
  const { licenseSetting, expiredAt, kind, version } = now.data;
  if (kind === 'offline')
    return (
      <Drawer open title={title} size={640} mask={{ blur: false }} onClose={onClose}>
        <Held order={now.data} />
      </Drawer>
    );
  return (
    <ResourceForm
      title={title}
      call="PUT /admin/license/{userId}/order"
      params={{ userId: holder.id }}
      draftOf={holder.id}
      fields={fields}
      values={{ ...licenseSetting, expiredAt }}
      body={values => ({ ...values, expiredAt: values['expiredAt'] ?? null })}
      isEdit
      version={version}
      success={t('message.updateLicenseSuccess')}
      onClose={onClose}
    >
      <Held order={now.data} />
    </ResourceForm>
  );
}
