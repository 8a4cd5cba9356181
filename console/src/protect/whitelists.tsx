/** Addresses that skip every protection. */
import { mendAddressLine } from '#contract/rules/mend.ts';
import { type Params, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { First } from './first.tsx';

const pollMs = 5000;

const whitelists = resource<'GET /{area}/site/{siteID}/firewall/setting/whitelists'>({
  name: 'whitelists',
  list: 'GET /{area}/site/{siteID}/firewall/setting/whitelists',
  rowName: row => row.ips[0] ?? row.urls[0] ?? String(row.id),
  columns: [
    { name: 'ips', link: 'edit', width: 280, render: row => <First values={row.ips} otherwise="*" /> },
    { name: 'urls', width: 260, render: row => <First values={row.urls} otherwise="*" /> },
    { name: 'enabled', kind: 'bool', width: 110 },
    { name: 'expiredAt', kind: 'until', sort: true },
    { name: 'memo' },
    { name: 'updatedAt', kind: 'time' },
  ],
  // what ends goes by itself
  pollMs: rows => rows.some(row => row.expiredAt !== null) && pollMs,
  create: 'POST /{area}/site/{siteID}/firewall/setting/whitelists',
  update: 'PUT /{area}/site/{siteID}/firewall/setting/whitelists',
  remove: 'DELETE /{area}/site/{siteID}/firewall/setting/whitelists',
  wrap: 'items',
  fields: [
    { name: 'ips', kind: 'lines', help: 'ips', initial: [], mendLine: mendAddressLine },
    { name: 'urls', kind: 'lines', help: 'urlsOfWhitelist', initial: [] },
    { name: 'expiredAt', kind: 'time', presets: ['hour', 'day', 'month', 'never'], help: 'expiredAt', initial: null },
    { name: 'memo', kind: 'area' },
    { name: 'enabled', kind: 'switch', initial: true },
  ],
});

export const Whitelists = ({ params }: { params: Params }) => <ResourcePage resource={whitelists} params={params} isEmbedded />;
