/** Headers that are set or taken away on the way to the origin and back. */
import { type Params, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { headerDrawerPx, headerFields } from './header-fields.ts';

const customHeaders = resource<'GET /{area}/site/{siteID}/module/customHeaders'>({
  name: 'customHeaders',
  list: 'GET /{area}/site/{siteID}/module/customHeaders',
  rowName: row => row.name,
  columns: [
    { name: 'name', link: 'edit', width: 200, sort: true },
    { name: 'request', render: row => row.request.map(one => one.name).join(', ') },
    { name: 'response', render: row => row.response.map(one => one.name).join(', ') },
    { name: 'domainCount', kind: 'number', width: 110 },
    { name: 'enabled', kind: 'bool', width: 110 },
    { name: 'updatedAt', kind: 'time' },
  ],
  filters: [{ name: 'keyword', kind: 'search' }],
  create: 'POST /{area}/site/{siteID}/module/customHeaders',
  update: 'PUT /{area}/site/{siteID}/module/customHeader/{moduleID}',
  remove: 'DELETE /{area}/site/{siteID}/module/customHeaders',
  wrap: 'modules',
  idParam: 'moduleID',
  drawerPx: headerDrawerPx,
  fields: [
    { name: 'name', kind: 'text' },
    ...headerFields,
    { name: 'memo', kind: 'area' },
    { name: 'enabled', kind: 'switch', initial: true },
  ],
});

export const CustomHeaders = ({ params }: { params: Params }) => (
  <ResourcePage resource={customHeaders} params={params} isEmbedded />
);
