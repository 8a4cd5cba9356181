/** Zones: fleets of nodes with one set of settings. */
import './fleet.css';
import { Link } from '@tanstack/react-router';
import type { RowOf } from '../kit/client.ts';
import { resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { linkTo } from '../kit/screens.ts';
import { t } from '../kit/text.ts';
import { OriginRanges } from './origin-ranges.tsx';
import { asSearch } from '../kit/search.ts';

type Zone = RowOf<'GET /client/zones'>;

/** "1 / 1 normal": how many of the zone's nodes serve. */
function NodeCount({ zone }: { zone: Zone }) {
  const { nodeCount, normalCount } = zone;
  if (nodeCount === 0) return <span className="ink-3">{t('zone.noNodes')}</span>;
  const tone = normalCount === nodeCount ? 'good' : normalCount === 0 ? 'bad' : 'warn';
  return (
    <Link to={linkTo('nodes')!} search={asSearch({ zoneID: zone.id })} className="status">
      <span className={`status-dot ${tone}`} aria-hidden />
      {t('zone.normal', { normal: normalCount, nodes: nodeCount })}
    </Link>
  );
}

const zones = resource<'GET /client/zones'>({
  name: 'zones',
  list: 'GET /client/zones',
  defaultSort: 'name',
  rowName: zone => zone.name,
  columns: [
    { name: 'name', sort: true, link: 'edit', width: 200 },
    { name: 'nodeCount', label: 'nodes', width: 160, render: zone => <NodeCount zone={zone} /> },
    { name: 'siteCount', kind: 'number' },
    { name: 'memo', width: 220 },
    { name: 'createdAt', kind: 'time', sort: true },
    { name: 'updatedAt', kind: 'time', sort: true, isOptional: true },
    { name: 'id', kind: 'number', isOptional: true },
  ],
  filters: [{ name: 'keyword', kind: 'search' }],
  create: 'POST /client/zone',
  errors: { fields: { zoneNameExists: 'name' } },
  update: 'PUT /client/zone',
  remove: 'DELETE /client/zone',
  removal: 'destructive',
  fields: [
    { name: 'name', kind: 'text', help: 'name' },
    { name: 'memo', kind: 'area' },
  ],
  actions: [
    {
      name: 'zoneSetting',
      call: 'GET /client/zone/{id}/setting/http2',
      to: zone => `${linkTo('zoneSetting')}?zone=${zone.id}`,
    },
    { name: 'nodes', call: 'GET /client/nodes/initialized', to: zone => `${linkTo('nodes')}?zoneID=${zone.id}` },
    { name: 'groups', call: 'GET /client/zone/{zoneId}/groups', to: zone => `${linkTo('groups')}?zone=${zone.id}` },
  ],
});

export default function Zones() {
  return <ResourcePage resource={zones} extra={<OriginRanges />} />;
}
