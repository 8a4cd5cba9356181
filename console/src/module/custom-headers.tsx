/** Headers that are set or taken away on the way to the origin and back. */
import { type Params, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { assigning } from './assign.tsx';
import { copyAction } from './copy.tsx';
import { headerDrawerPx, headerFields } from './header-fields.ts';
import { lastFields, nameColumn, nameField, ofModules, usedColumns } from './module-parts.ts';

const customHeaders = resource<'GET /{area}/site/{siteID}/module/customHeaders'>({
  ...ofModules,
  name: 'customHeaders',
  list: 'GET /{area}/site/{siteID}/module/customHeaders',
  columns: [
    nameColumn,
    { name: 'request', render: row => row.request.map(one => one.name).join(', ') },
    { name: 'response', render: row => row.response.map(one => one.name).join(', ') },
    ...usedColumns,
    { name: 'updatedAt', kind: 'time' },
  ],
  actions: [
    assigning('PUT /{area}/site/{siteID}/domains/module/customHeader'),
    copyAction('POST /{area}/site/{siteID}/customHeader/copy'),
  ],
  create: 'POST /{area}/site/{siteID}/module/customHeaders',
  update: 'PUT /{area}/site/{siteID}/module/customHeader/{moduleID}',
  remove: 'DELETE /{area}/site/{siteID}/module/customHeaders',
  wrap: 'modules',
  idParam: 'moduleID',
  drawerPx: headerDrawerPx,
  fields: [nameField, ...headerFields, ...lastFields],
});

export const CustomHeaders = ({ params }: { params: Params }) => (
  <ResourcePage resource={customHeaders} params={params} isEmbedded />
);
