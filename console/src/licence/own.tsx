/** What one's own operator holds, and where a licence file is put into force. */
import { useQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { useRef, useState } from 'react';
import { call } from '../kit/client.ts';
import { CopyButton } from '../kit/copy.tsx';
import { ErrorState } from '../kit/empty.tsx';
import { notify } from '../kit/notice.ts';
import { useCan } from '../kit/permissions.ts';
import { present } from '../kit/present.tsx';
import { query, queryClient } from '../kit/query.ts';
import { currentSelf } from '../kit/session.ts';
import { Stale } from '../kit/stale.tsx';
import { t } from '../kit/text.ts';
import { Held } from './held.tsx';

const read = 'GET /client/license';
const fileMax = 8192;

export function OwnLicense() {
  const can = useCan();
  const found = useQuery(query(read));
  const picker = useRef<HTMLInputElement>(null);
  const [isBusy, setBusy] = useState(false);
  if (found.error && !found.data) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  if (!found.data) return <div className="panel tab-wait" aria-busy />;
  const mayPut = can('PUT /offline/license') && currentSelf()?.isRoot === true;

  async function put(file: File | undefined) {
    if (!file) return;
    setBusy(true);
    try {
      // a licence is a few lines: a larger file is none, and the server says so
      await call('PUT /offline/license', { body: { license: (await file.slice(0, fileMax).text()).trim() } });
      notify.success(t('license.registered'));
    } catch (error) {
      present(error);
    } finally {
      setBusy(false);
      void queryClient.invalidateQueries();
    }
  }
  return (
    <section className="panel licence-own" aria-label={t('tab.license')}>
      <Stale found={found} />
      <Held order={found.data} />
      <p className="licence-file">
        <span>{t('license.installation')}</span> <code>{found.data.installationID}</code>
        <CopyButton text={found.data.installationID} />
      </p>
      <p className="ink-3">{t('license.installationHelp')}</p>
      {mayPut && (
        <>
          <input
            ref={picker}
            type="file"
            hidden
            aria-label={t('license.choose')}
            onChange={event => {
              void put(event.target.files?.[0]);
              event.target.value = '';
            }}
          />
          <Button loading={isBusy} onClick={() => picker.current?.click()}>
            {t('license.choose')}
          </Button>
        </>
      )}
    </section>
  );
}
