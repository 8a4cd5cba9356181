/** Addresses that are refused. */
import { blockTypes } from '#contract/limits.ts';
import { mendAddressLine } from '#contract/rules/mend.ts';
import { type Params, options, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { First } from './first.tsx';

const pollMs = 5000;

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
    { name: 'expiredAt', kind: 'until', sort: true },
    { name: 'memo' },
    { name: 'updatedAt', kind: 'time' },
  ],
  // what ends goes by itself
  pollMs: rows => rows.some(row => row.expiredAt !== null) && pollMs,
  create: 'POST /{area}/site/{siteID}/firewall/setting/blacklists',
  update: 'PUT /{area}/site/{siteID}/firewall/setting/blacklists',
  remove: 'DELETE /{area}/site/{siteID}/firewall/setting/blacklists',
  wrap: 'items',
  fields: [
    { name: 'ips', kind: 'lines', help: 'ips', initial: [], mendLine: mendAddressLine },
    { name: 'blockType', kind: 'segments', ...options(blockTypes, 'blockType'), initial: 'deny' },
    { name: 'expiredAt', kind: 'time', presets: ['hour', 'day', 'month', 'never'], help: 'expiredAt', initial: null },
    { name: 'memo', kind: 'area' },
    { name: 'enabled', kind: 'switch', initial: true },
  ],
});

export const Blacklists = ({ params }: { params: Params }) => <ResourcePage resource={blacklists} params={params} isEmbedded />;
