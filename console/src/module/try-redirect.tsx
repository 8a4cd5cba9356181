/** Which redirect of a module an address meets, by the steps the edge takes (contract/src/module/redirect-table.ts). */
import { Button, Input } from 'antd';
import { useRef, useState } from 'react';
import { redirectLocationMax } from '#contract/limits.ts';
import type { RowOf } from '../kit/client.ts';
import { present } from '../kit/present.tsx';
import { query, queryClient } from '../kit/query.ts';
import { t } from '../kit/text.ts';
import { tried } from './tried.ts';

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
  // an answer about another address than the one that stands there is none
  const asked = useRef('');

  async function attempt() {
    const text = address.trim();
    if (!text) return;
    setBusy(true);
    asked.current = text;
    try {
      const redirects = (await all(params)).filter(row => row.enabled);
      const answer = await tried({ redirects, address: text });
      if (asked.current !== text) return;
      if (answer === 'tooLong' || answer === 'tooMuchWork') return setSaid(t('redirect.stopped'));
      const { met } = answer;
      setSaid(
        !met
          ? t('redirect.none')
          : t(met.location === undefined ? 'redirect.tooLong' : met.isLoop ? 'redirect.loop' : 'redirect.found', {
              source: met.source,
              status: met.statusCode,
              location: met.location ?? '',
              max: redirectLocationMax,
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
            asked.current = '';
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
