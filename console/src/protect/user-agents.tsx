/** Requests refused for their User-Agent. */
import { blockTypes } from '#contract/limits.ts';
import { type Params, options, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';

const userAgents = resource<'GET /{area}/site/{siteID}/firewall/setting/userAgents'>({
  name: 'userAgents',
  list: 'GET /{area}/site/{siteID}/firewall/setting/userAgents',
  rowName: row => row.userAgentRegex,
  columns: [
    { name: 'userAgentRegex', kind: 'mono', link: 'edit', width: 280 },
    { name: 'urlRegex', kind: 'mono', width: 240 },
    { name: 'blockType', kind: 'option', texts: 'blockType', width: 150 },
    { name: 'enabled', kind: 'bool', width: 110 },
    { name: 'updatedAt', kind: 'time' },
  ],
  create: 'POST /{area}/site/{siteID}/firewall/setting/userAgents',
  update: 'PUT /{area}/site/{siteID}/firewall/setting/userAgents',
  remove: 'DELETE /{area}/site/{siteID}/firewall/setting/userAgents',
  wrap: 'items',
  fields: [
    { name: 'userAgentRegex', kind: 'mono', help: 'userAgentRegex', placeholder: '(curl|python-requests)/' },
    { name: 'urlRegex', kind: 'mono', help: 'urlRegex', initial: '.*' },
    { name: 'blockType', kind: 'segments', ...options(blockTypes, 'blockType'), initial: 'deny' },
    { name: 'enabled', kind: 'switch', initial: true },
  ],
});

export const UserAgents = ({ params }: { params: Params }) => <ResourcePage resource={userAgents} params={params} isEmbedded />;
