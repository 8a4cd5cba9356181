/** Under which path the origin is asked. */
import { matchTypes } from '#contract/limits.ts';
import { type FormField, type Params, options, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { assigning } from './assign.tsx';
import { copyAction } from './copy.tsx';
import { lastFields, nameColumn, nameField, ofModules, usedColumns } from './module-parts.ts';

const rule: FormField[] = [
  { name: 'matchType', kind: 'select', ...options(matchTypes, 'matchType'), width: 150 },
  { name: 'source', kind: 'mono', placeholder: '/old/' },
  { name: 'target', kind: 'mono', placeholder: '/new/' },
];

const proxyRewrites = resource<'GET /{area}/site/{siteID}/module/proxyRewrites'>({
  ...ofModules,
  name: 'proxyRewrites',
  list: 'GET /{area}/site/{siteID}/module/proxyRewrites',
  columns: [
    nameColumn,
    { name: 'rules', kind: 'mono', render: ({ rules }) => rules.map(one => `${one.source} → ${one.target}`).join(', ') },
    ...usedColumns,
    { name: 'updatedAt', kind: 'time' },
  ],
  actions: [
    assigning('PUT /{area}/site/{siteID}/domains/module/proxyRewrite'),
    copyAction('POST /{area}/site/{siteID}/proxyRewrite/copy'),
  ],
  create: 'POST /{area}/site/{siteID}/module/proxyRewrites',
  update: 'PUT /{area}/site/{siteID}/module/proxyRewrite',
  remove: 'DELETE /{area}/site/{siteID}/module/proxyRewrites',
  wrap: 'items',
  updateBody: (values, row) => ({ ...values, id: row.id }),
  drawerPx: 800,
  fields: [
    nameField,
    {
      name: 'rules',
      kind: 'list',
      add: 'addRewrite',
      help: 'rewriteRules',
      template: () => ({ matchType: 'prefix', source: '', target: '' }),
      fields: rule,
      initial: [{ matchType: 'prefix', source: '', target: '' }],
    },
    ...lastFields,
  ],
});

export const ProxyRewrites = ({ params }: { params: Params }) => (
  <ResourcePage resource={proxyRewrites} params={params} isEmbedded />
);
