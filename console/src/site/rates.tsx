/** How fast answers of a site are sent, by URL. */
import { units } from '#contract/limits.ts';
import { urlColumns, urlFields, urlRule } from '../cache/url-rules.tsx';
import { type Params, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { ruleColumns, ruleFields } from '../kit/rule-parts.ts';
import { number } from '../kit/units.ts';

const rates = resource<'GET /{area}/site/{siteID}/setting/rates'>({
  ...urlRule,
  name: 'rates',
  list: 'GET /{area}/site/{siteID}/setting/rates',
  columns: [
    ...urlColumns,
    { name: 'rate', label: 'speed', width: 130, render: rule => `${number(rule.rate)} ${units.rateUnit}` },
    ...ruleColumns,
  ],
  create: 'POST /{area}/site/{siteID}/setting/rate',
  update: 'PUT /{area}/site/{siteID}/setting/rate',
  remove: 'DELETE /{area}/site/{siteID}/setting/rates',
  fields: [
    ...urlFields({ fileTypes: 'mp4,zip,iso', path: '/downloads/' }),
    { name: 'rate', label: 'speed', kind: 'number', unit: 'rate', help: 'speed', initial: 1000 },
    ...ruleFields,
  ],
});

export const Rates = ({ params }: { params: Params }) => <ResourcePage resource={rates} params={params} isEmbedded />;
