/** Private ranges in which an operator's customers may have origins. */
import { useQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { useEffect, useState } from 'react';
import { ResourceForm } from '../kit/form.tsx';
import { useCan } from '../kit/permissions.ts';
import { present } from '../kit/present.tsx';
import { query } from '../kit/query.ts';
import type { FormField } from '../kit/resource.ts';
import { t } from '../kit/text.ts';

const read = 'GET /client/setting/system/originAllow';
const write = 'PUT /client/setting/system/originAllow';
const fields: FormField[] = [
  { name: 'ranges', kind: 'lines', help: 'originRanges', initial: [], isOptional: true, placeholder: '10.0.0.0/8' },
];

/** The button that opens them, for those who may change them. */
export function OriginRanges() {
  const can = useCan();
  const [isOpen, setOpen] = useState(false);
  if (!can(write)) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t('origins.open')}</Button>
      {isOpen && <OriginRangesForm onClose={() => setOpen(false)} />}
    </>
  );
}

function OriginRangesForm({ onClose }: { onClose: () => void }) {
  const now = useQuery({ ...query(read), staleTime: 0, gcTime: 0 });
  useEffect(() => {
    if (!now.error) return;
    present(now.error);
    onClose();
  }, [now.error, onClose]);
  if (!now.data) return null;
  const { ranges, environment, version } = now.data;
  return (
    <ResourceForm
      title={t('origins.title')}
      call={write}
      params={{}}
      fields={fields}
      values={{ ranges }}
      isEdit
      version={version}
      success={t('message.updateSuccess')}
      onClose={onClose}
    >
      <p className="ink-2">{t('origins.text')}</p>
      {environment.length > 0 && <p className="ink-2">{t('origins.environment', { ranges: environment.join(', ') })}</p>}
    </ResourceForm>
  );
}
