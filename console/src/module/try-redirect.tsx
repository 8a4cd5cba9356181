/** Which redirect of a module an address meets, by the steps the edge takes (contract/src/module/redirect-table.ts). */
import { Button, Input } from 'antd';
import { useState } from 'react';
import { locationMax, RedirectTable, resolve } from '#contract/module/redirect-table.ts';
import type { RowOf } from '../kit/client.ts';
import { present } from '../kit/present.tsx';
import { query, queryClient } from '../kit/query.ts';
import { t } from '../kit/text.ts';

const list = 'GET /{area}/site/{siteID}/module/urlRedirect/{moduleID}/redirects';
type Redirect = RowOf<typeof list>;
const pageSize = 500;

/** All of them, in the order they were made. */
async function all(params: { siteID: number; moduleID: number }): Promise<Redirect[]> {
  const rows: Redirect[] = [];
  for (let page = 1; ; page++) {
    const answer = await queryClient.fetchQuery(
      query(list, { ...params, query: { page, pageSize, sortBy: 'id', orderBy: 'asc' } }),
    );
    rows.push(...answer.data);
    if (page * pageSize >= answer.total) return rows;
  }
}

export function TryRedirect({ params }: { params: { siteID: number; moduleID: number } }) {
  const [address, setAddress] = useState('');
  const [said, setSaid] = useState('');
  const [isBusy, setBusy] = useState(false);

  async function attempt() {
    const text = address.trim();
    if (!text) return;
    setBusy(true);
    try {
      const table = new RedirectTable((await all(params)).filter(row => row.enabled));
      const url = resolve(/^(?:https?:\/)?\//i.test(text) ? text : `/${text}`, {
        scheme: 'https',
        authority: 'this.host',
        path: '/',
        args: '',
      });
      const found = table.find(url);
      setSaid(
        !found
          ? t('redirect.none')
          : t(found.location === undefined ? 'redirect.tooLong' : found.isLoop ? 'redirect.loop' : 'redirect.found', {
              source: found.redirect.source,
              status: found.redirect.statusCode,
              location: found.location ?? '',
              max: locationMax,
            }),
      );
    } catch (error) {
      present(error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <form
      className="panel panel-padded redirect-try"
      onSubmit={event => {
        event.preventDefault();
        void attempt();
      }}
    >
      <div className="redirect-try-line">
        <Input
          className="mono"
          aria-label={t('redirect.try')}
          placeholder={t('redirect.tryHint')}
          value={address}
          onChange={event => {
            setAddress(event.target.value);
            setSaid('');
          }}
        />
        <Button htmlType="submit" loading={isBusy}>
          {t('redirect.try')}
        </Button>
      </div>
      <output aria-live="polite">{said}</output>
    </form>
  );
}
