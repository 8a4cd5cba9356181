/** What an operator was given by ZeroSSL, so that certificates are ordered there. */
import { useQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { useEffect, useState } from 'react';
import { ResourceForm } from '../kit/form.tsx';
import { useCan } from '../kit/permissions.ts';
import { present } from '../kit/present.tsx';
import { query } from '../kit/query.ts';
import type { FormField } from '../kit/resource.ts';
import { t } from '../kit/text.ts';
import { Trial } from '../kit/trial.tsx';

const read = 'GET /client/setting/system/zeroSSL';
const write = 'PUT /client/setting/system/zeroSSL';
const fields: FormField[] = [
  { name: 'eabKID', kind: 'mono', initial: '', isOptional: true },
  { name: 'eabHmacKey', kind: 'password', help: 'eabHmacKey', initial: '', isOptional: true },
];

/** The button that opens it, for those who may change it. */
export function ZeroSSL() {
  const can = useCan();
  const [isOpen, setOpen] = useState(false);
  if (!can(write)) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t('zeroSSL.title')}</Button>
      {isOpen && <ZeroSSLForm onClose={() => setOpen(false)} />}
    </>
  );
}

function ZeroSSLForm({ onClose }: { onClose: () => void }) {
  const now = useQuery({ ...query(read), staleTime: 0, gcTime: 0 });
  useEffect(() => {
    if (!now.error) return;
    present(now.error);
    onClose();
  }, [now.error, onClose]);
  if (!now.data) return null;
  const { eabKID, eabHmacKeyIsSet, version } = now.data;
  return (
    <ResourceForm
      title={t('zeroSSL.title')}
      call={write}
      params={{}}
      fields={fields}
      values={{ eabKID, eabHmacKey: '' }}
      // left empty it stays, and goes with the number it belongs to
      body={({ eabKID: kid, eabHmacKey: key }) => ({
        eabKID: String(kid ?? ''),
        ...(key ? { eabHmacKey: String(key) } : kid ? {} : { eabHmacKey: null }),
      })}
      isEdit
      version={version}
      success={t('message.updateSuccess')}
      onClose={onClose}
    >
      <p className="ink-2">{t('zeroSSL.text')}</p>
      <p className="ink-2">{t(eabHmacKeyIsSet ? 'zeroSSL.set' : 'zeroSSL.unset')}</p>
      <div style={{ marginBottom: 16 }}>
        <Trial
          call="POST /client/setting/system/zeroSSL/test"
          label={t('zeroSSL.test')}
          success={t('zeroSSL.taken')}
          isReady={eabHmacKeyIsSet && eabKID !== ''}
        />
      </div>
    </ResourceForm>
  );
}
