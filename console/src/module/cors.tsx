/** What pages of other origins may ask of a domain. */
import { corsMethods, ranges } from '#contract/limits.ts';
import { methodValues } from '#contract/rules/values.ts';
import { type Params, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';

const cors = resource<'GET /{area}/site/{siteID}/module/cors'>({
  name: 'cors',
  list: 'GET /{area}/site/{siteID}/module/cors',
  rowName: row => row.name,
  columns: [
    { name: 'name', link: 'edit', width: 200, sort: true },
    { name: 'allowOrigin', kind: 'mono', width: 240 },
    { name: 'maxAge', kind: 'number', width: 130 },
    { name: 'domainCount', kind: 'number', width: 110 },
    { name: 'enabled', kind: 'bool', width: 110 },
    { name: 'memo' },
    { name: 'updatedAt', kind: 'time' },
  ],
  filters: [{ name: 'keyword', kind: 'search' }],
  create: 'POST /{area}/site/{siteID}/module/cors',
  update: 'PUT /{area}/site/{siteID}/module/cors/{moduleID}',
  remove: 'DELETE /{area}/site/{siteID}/module/cors',
  wrap: 'modules',
  idParam: 'moduleID',
  fields: [
    { name: 'name', kind: 'text' },
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
    { name: 'memo', kind: 'area' },
    { name: 'enabled', kind: 'switch', initial: true },
  ],
});

export const Cors = ({ params }: { params: Params }) => <ResourcePage resource={cors} params={params} isEmbedded />;
