import { blockTypes } from '#contract/limits.ts';
import { type FormField, options, resource } from '../../src/kit/resource.ts';
import { ResourcePage } from '../../src/kit/resource-page.tsx';
import type { Example } from '../pieces.ts';
import { site } from '../fake.ts';
import { long, say } from '../words.ts';

const key = 'GET /{area}/site/{siteID}/firewall/setting/blacklists';
export const fields: FormField[] = [
  { name: 'ips', kind: 'lines', help: 'ips', initial: [] },
  { name: 'blockType', kind: 'segments', ...options(blockTypes, 'blockType'), initial: 'deny' },
  { name: 'expiredAt', kind: 'time', presets: ['hour', 'day', 'month', 'never'], help: 'expiredAt', initial: null },
  { name: 'memo', kind: 'area' },
  { name: 'enabled', kind: 'switch', initial: true },
];
export const blacklists = resource<typeof key>({
  name: 'blacklists',
  list: key,
  rowName: row => row.ips[0]!,
  columns: [
    { name: 'ips', link: 'edit', width: 240, render: row => row.ips.join(', ') },
    { name: 'blockType', kind: 'option', texts: 'blockType' },
    { name: 'enabled', kind: 'bool' },
    { name: 'expiredAt', kind: 'until', sort: true },
    { name: 'memo', width: 200 },
    { name: 'updatedAt', kind: 'time', sort: true },
  ],
  filters: [
    { name: 'keywords', kind: 'search' },
    { name: 'blockType', kind: 'segments', ...options(blockTypes, 'blockType') },
    { name: 'enabled', kind: 'select', values: [1, 0] },
    { name: 'tags', kind: 'tags' },
    { name: 'createdAt', kind: 'range', ends: ['createdStart', 'createdEnd'] },
  ],
  create: 'POST /{area}/site/{siteID}/firewall/setting/blacklists',
  update: 'PUT /{area}/site/{siteID}/firewall/setting/blacklists',
  remove: 'DELETE /{area}/site/{siteID}/firewall/setting/blacklists',
  wrap: 'items',
  fields,
});
const fixed = resource<typeof key>({ ...blacklists, whyFixed: () => say(long) });
const { create: _create, update: _update, remove: _remove, ...readable } = blacklists;
const list = (siteID: number, of = blacklists) => <ResourcePage resource={of} params={{ siteID }} isEmbedded />;

export default [
  {
    state: 'normal',
    show: () => (
      <ResourcePage
        resource={{ ...blacklists, export: 'POST /{area}/site/{siteID}/domains/export' }}
        params={{ siteID: site.some }}
      />
    ),
  },
  { state: 'empty', show: () => list(site.none) },
  { state: 'loading', show: () => list(site.never) },
  { state: 'failed', show: () => list(site.broken) },
  { state: 'disabled', show: () => list(site.forbidden) },
  {
    state: 'disabled',
    note: { zh_TW: '原因寫在每一列的選單', zh_CN: '原因写在每一行的菜单', en_US: 'the reason stands in the menu of each row' },
    show: () => list(site.some, fixed),
  },
  { state: 'readOnly', show: () => list(site.some, readable) },
  { state: 'long', show: () => list(site.long) },
  { state: 'many', show: () => list(site.many) },
] satisfies Example[];
