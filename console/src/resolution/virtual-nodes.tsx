/** Virtual nodes: named sets of records that lines answer with beside nodes. */
import { useQuery } from '@tanstack/react-query';
import { Drawer, Segmented } from 'antd';
import { useMemo, useState } from 'react';
import { ipVersions } from '#contract/limits.ts';
import { mendDomainName } from '#contract/rules/mend.ts';
import { Status } from '../kit/bits.tsx';
import type { RowOf } from '../kit/client.ts';
import { overlay } from '../kit/overlay.ts';
import { query } from '../kit/query.ts';
import { options, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { t } from '../kit/text.ts';

type VirtualNode = RowOf<'GET /client/virtualNodes'>;
type Kind = Exclude<VirtualNode['kind'], 'empty'>;
const kinds = ['node', 'cname'] as const satisfies readonly Kind[];
const widthPx = 720;

const recordsOf = (zoneID: number, kind: Kind) =>
  resource<'GET /client/virtualNode/{id}/records'>({
    name: 'virtualNodeRecords',
    list: 'GET /client/virtualNode/{id}/records',
    rowName: row => `${row.type} ${row.nodeName || (row.values[0] ?? '')}`,
    columns: [
      { name: 'type', label: 'recordType', kind: 'mono', width: 80 },
      {
        name: 'values',
        label: 'recordValues',
        render: row =>
          row.values.length ? (
            <span className="address-list">
              {row.values.map(one => (
                <span key={one} className="mono">
                  {one}
                </span>
              ))}
            </span>
          ) : (
            <span className="ink-3">{t('record.noAddress')}</span>
          ),
      },
      { name: 'nodeName', label: 'nodeIDs', width: 140, render: row => row.nodeName || '—' },
      { name: 'status', width: 110, render: row => (row.status === null ? '—' : <Status value={row.status} />) },
    ],
    create: kind === 'node' ? 'POST /client/virtualNode/{id}/record/node' : 'POST /client/virtualNode/{id}/record/cname',
    remove: 'DELETE /client/virtualNode/{id}/record',
    history: true,
    errors: { fields: { duplicated: 'nodeIDs', groupNodesExceeded: 'nodeIDs', invalidGroupNode: 'nodeIDs' } },
    fields:
      kind === 'node'
        ? [
            {
              name: 'nodeIDs',
              kind: 'remote',
              isMultiple: true,
              help: 'recordNodes',
              from: 'GET /client/nodes/initialized',
              query: { zoneID, sortBy: 'name', orderBy: 'asc' },
              searchBy: 'keyword',
            },
            {
              name: 'ipVersions',
              kind: 'select',
              isMultiple: true,
              ...options(ipVersions, 'ipVersion'),
              initial: [...ipVersions],
            },
          ]
        : [
            {
              name: 'target',
              label: 'recordTarget',
              kind: 'mono',
              placeholder: 'customer.other-cdn.example',
              help: 'recordTarget',
              mend: typed => ({ target: mendDomainName(typed) }),
            },
          ],
  });

/** Of one that has records only their kind can follow: a name that leads on has nothing beside it. */
function Records({ row, onClose }: { row: VirtualNode; onClose: () => void }) {
  const { data } = useQuery(query('GET /client/virtualNodes', { query: { ids: [row.id] } }));
  const [chosen, choose] = useState<Kind>('node');
  const now = data?.data[0]?.kind ?? row.kind;
  const kind = now === 'empty' ? chosen : now;
  const records = useMemo(() => recordsOf(row.zoneID, kind), [row.zoneID, kind]);
  const params = useMemo(() => ({ id: row.id }), [row.id]);
  return (
    <Drawer open title={t('record.title', { name: row.name })} size={widthPx} mask={{ blur: false }} onClose={onClose}>
      {now === 'empty' && (
        <Segmented
          aria-label={t('record.kind')}
          value={chosen}
          options={kinds.map(value => ({ value, label: t(`virtualKind.${value}`) }))}
          onChange={choose}
        />
      )}
      <ResourcePage key={kind} resource={records} params={params} isEmbedded list="record" />
    </Drawer>
  );
}

const virtualNodes = resource<'GET /client/virtualNodes'>({
  name: 'virtualNodes',
  note: 'virtualNodes',
  list: 'GET /client/virtualNodes',
  defaultSort: 'name',
  rowName: row => row.name,
  columns: [
    { name: 'name', sort: true, link: 'records', width: 200 },
    { name: 'kind', label: 'virtualKind', kind: 'option', texts: 'virtualKind', width: 140 },
    { name: 'recordCount', kind: 'number' },
    { name: 'lineCount', kind: 'number' },
    { name: 'zoneName', width: 160 },
    { name: 'memo', width: 220 },
    { name: 'createdAt', kind: 'time', sort: true },
    { name: 'updatedAt', kind: 'time', sort: true, isOptional: true },
    { name: 'id', kind: 'number', isOptional: true },
  ],
  filters: [
    { name: 'keyword', kind: 'search' },
    { name: 'zoneID', kind: 'select', from: 'GET /client/metaZones' },
  ],
  create: 'POST /client/virtualNode',
  errors: { fields: { duplicated: 'name' } },
  update: 'PUT /client/virtualNode',
  remove: 'DELETE /client/virtualNode',
  removal: 'disruptive',
  fields: [
    { name: 'name', kind: 'text', help: 'name' },
    { name: 'zoneID', kind: 'remote', from: 'GET /client/metaZones', only: 'create' },
    { name: 'memo', kind: 'area' },
  ],
  actions: [
    {
      name: 'records',
      call: 'GET /client/virtualNode/{id}/records',
      run: ([row]: VirtualNode[]) => overlay(close => <Records row={row!} onClose={() => close()} />),
    },
  ],
});

export default function VirtualNodes() {
  return <ResourcePage resource={virtualNodes} />;
}
