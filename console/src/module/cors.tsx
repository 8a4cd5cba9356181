/** What pages of other origins may ask of a domain. */
import { corsMethods, ranges } from '#contract/limits.ts';
import { methodValues } from '#contract/rules/values.ts';
import { type Params, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { assigning } from './assign.tsx';
import { copyAction } from './copy.tsx';
import { lastFields, nameColumn, nameField, ofModules, usedColumns } from './module-parts.ts';

const cors = resource<'GET /{area}/site/{siteID}/module/cors'>({
  ...ofModules,
  name: 'cors',
  list: 'GET /{area}/site/{siteID}/module/cors',
  columns: [
    nameColumn,
    { name: 'allowOrigin', kind: 'mono', width: 240 },
    { name: 'maxAge', kind: 'number', width: 130 },
    ...usedColumns,
    { name: 'memo' },
    { name: 'updatedAt', kind: 'time' },
  ],
  actions: [
    assigning('PUT /{area}/site/{siteID}/domains/module/cors', 'corsID'),
    copyAction('POST /{area}/site/{siteID}/cors/copy'),
  ],
  create: 'POST /{area}/site/{siteID}/module/cors',
  update: 'PUT /{area}/site/{siteID}/module/cors/{moduleID}',
  remove: 'DELETE /{area}/site/{siteID}/module/cors',
  wrap: 'modules',
  idParam: 'moduleID',
  fields: [
    nameField,
    { name: 'allowOrigin', kind: 'mono', help: 'allowOrigin', placeholder: 'https://www.example.com', initial: '*' },
    {
      name: 'allowMethods',
      kind: 'select',
      isMultiple: true,
      isOptional: false,
      values: corsMethods,
      rule: methodValues,
      initial: ['GET', 'HEAD', 'POST'],
    },
    { name: 'allowHeaders', kind: 'lines', initial: [] },
    { name: 'exposeHeaders', kind: 'lines', initial: [] },
    { name: 'allowCredentials', kind: 'switch', help: 'allowCredentials', initial: false },
    { name: 'maxAge', kind: 'number', unit: 'seconds', initial: ranges.corsMaxAgeSecondsMax },
    ...lastFields,
  ],
});

export const Cors = ({ params }: { params: Params }) => <ResourcePage resource={cors} params={params} isEmbedded />;
