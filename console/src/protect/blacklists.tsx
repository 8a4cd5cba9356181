/** Addresses that are refused. */
import { blockTypes } from '#contract/edge/document.ts';
import { type Params, options, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { First } from './first.tsx';

const blacklists = resource<'GET /{area}/site/{siteID}/firewall/setting/blacklists'>({
  name: 'blacklists',
  list: 'GET /{area}/site/{siteID}/firewall/setting/blacklists',
  rowName: row => row.ips[0] ?? String(row.id),
  columns: [
    {
      name: 'ips',
      link: 'edit',
      width: 280,
      render: row => <First values={row.ips} />,
    },
    { name: 'blockType', kind: 'option', texts: 'blockType', width: 150 },
    { name: 'enabled', kind: 'bool', width: 110 },
    { name: 'memo' },
    { name: 'updatedAt', kind: 'time' },
  ],
  create: 'POST /{area}/site/{siteID}/firewall/setting/blacklists',
  update: 'PUT /{area}/site/{siteID}/firewall/setting/blacklists',
  remove: 'DELETE /{area}/site/{siteID}/firewall/setting/blacklists',
  wrap: 'items',
  fields: [
    { name: 'ips', kind: 'lines', help: 'ips', initial: [] },
    { name: 'blockType', kind: 'segments', ...options(blockTypes, 'blockType'), initial: 'deny' },
    { name: 'memo', kind: 'area' },
    { name: 'enabled', kind: 'switch', initial: true },
  ],
});

export const Blacklists = ({ params }: { params: Params }) => <ResourcePage resource={blacklists} params={params} isEmbedded />;
