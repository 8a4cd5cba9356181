/** Under which path the origin is asked. */
import { matchTypes } from '#contract/limits.ts';
import { type FormField, type Params, options, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';

const rule: FormField[] = [
  { name: 'matchType', kind: 'select', ...options(matchTypes, 'matchType'), width: 150 },
  { name: 'source', kind: 'mono', placeholder: '/old/' },
  { name: 'target', kind: 'mono', placeholder: '/new/' },
];

const proxyRewrites = resource<'GET /{area}/site/{siteID}/module/proxyRewrites'>({
  name: 'proxyRewrites',
  list: 'GET /{area}/site/{siteID}/module/proxyRewrites',
  rowName: row => row.name,
  columns: [
    { name: 'name', link: 'edit', width: 200, sort: true },
    { name: 'rules', kind: 'mono', render: ({ rules }) => rules.map(one => `${one.source} → ${one.target}`).join(', ') },
    { name: 'domainCount', kind: 'number', width: 110 },
    { name: 'enabled', kind: 'bool', width: 110 },
    { name: 'updatedAt', kind: 'time' },
  ],
  filters: [{ name: 'keyword', kind: 'search' }],
  create: 'POST /{area}/site/{siteID}/module/proxyRewrites',
  update: 'PUT /{area}/site/{siteID}/module/proxyRewrite',
  remove: 'DELETE /{area}/site/{siteID}/module/proxyRewrites',
  wrap: 'items',
  updateBody: (values, row) => ({ ...values, id: row.id }),
  drawerPx: 800,
  fields: [
    { name: 'name', kind: 'text' },
    {
      name: 'rules',
      kind: 'list',
      add: 'addRewrite',
      help: 'rewriteRules',
      template: () => ({ matchType: 'prefix', source: '', target: '' }),
      fields: rule,
      initial: [{ matchType: 'prefix', source: '', target: '' }],
    },
    { name: 'memo', kind: 'area' },
    { name: 'enabled', kind: 'switch', initial: true },
  ],
});

export const ProxyRewrites = ({ params }: { params: Params }) => (
  <ResourcePage resource={proxyRewrites} params={params} isEmbedded />
);
