/** The origins of a domain: all of them in one form, saved as what was added, changed and taken away. */
import { useQuery } from '@tanstack/react-query';
import { call, type RowOf } from '../kit/client.ts';
import { ResourceForm } from '../kit/form.tsx';
import { query } from '../kit/query.ts';
import type { FormField, Values } from '../kit/resource.ts';
import { t } from '../kit/text.ts';
import { newUpstream, upstreamFields } from './upstream-fields.ts';

type Upstream = RowOf<'GET /{area}/site/{siteID}/domain/{domainID}/upstreams'>;
type Written = Pick<Upstream, 'address' | 'port' | 'weight' | 'protocol' | 'backup' | 'enabled' | 'maxFails' | 'failTimeout'> & {
  id?: number;
};

const drawerPx = 960;
const fields: FormField[] = [
  {
    name: 'upstreams',
    kind: 'list',
    add: 'addUpstream',
    template: () => ({ ...newUpstream(), enabled: true, maxFails: 1, failTimeout: 10 }),
    fields: [
      ...upstreamFields,
      { name: 'maxFails', kind: 'number', width: 92 },
      { name: 'failTimeout', kind: 'number', unit: 'seconds', width: 96 },
      { name: 'enabled', kind: 'switch', width: 48 },
    ],
  },
];

const written = ({ id, address, port, weight, protocol, backup, enabled, maxFails, failTimeout }: Written): Written => ({
  ...(id === undefined ? {} : { id }),
  ...{ address, port, weight, protocol, backup, enabled, maxFails, failTimeout },
});
const rowsOf = (values: Values) => ((values['upstreams'] ?? []) as Written[]).map(written);
const withoutID = ({ id: _id, ...row }: Written) => row;

interface Props {
  domain: { id: number; domainName: string };
  siteID: number;
  onClose: () => void;
}

export function UpstreamsDrawer({ domain, siteID, onClose }: Props) {
  const at = { siteID, domainID: domain.id };
  const rows = useQuery({
    ...query('GET /{area}/site/{siteID}/domain/{domainID}/upstreams', { ...at, query: { pageSize: 500 } }),
    staleTime: Infinity,
    gcTime: 0,
  });
  if (!rows.data) return null;
  const before = rows.data.data.map(written);

  /** New ones first: at no moment is the domain without an origin. */
  async function send(values: Values) {
    const now = rowsOf(values);
    const added = now.filter(row => row.id === undefined).map(withoutID);
    const changed = now.filter(
      row => row.id !== undefined && JSON.stringify(row) !== JSON.stringify(before.find(old => old.id === row.id)),
    );
    const removed = before.filter(old => !now.some(row => row.id === old.id)).map(old => old.id!);
    if (added.length) await call('POST /{area}/site/{siteID}/domain/{domainID}/upstreams', { ...at, body: { upstreams: added } });
    if (changed.length)
      await call('PUT /{area}/site/{siteID}/domain/{domainID}/upstreams', { ...at, body: { upstreams: changed as never } });
    if (removed.length) await call('DELETE /{area}/site/{siteID}/domain/{domainID}/upstreams', { ...at, body: { ids: removed } });
  }
  return (
    <ResourceForm
      title={`${domain.domainName} · ${t('page.upstreams')}`}
      call="POST /{area}/site/{siteID}/domain/{domainID}/upstreams"
      params={at}
      fields={fields}
      values={{ upstreams: before }}
      body={values => ({ upstreams: rowsOf(values).map(withoutID) })}
      send={send}
      isEdit
      success={t('message.updateSuccess')}
      widthPx={drawerPx}
      onClose={onClose}
    />
  );
}
