/** Cache rules of a site, tried in the order of their priority. */
import { cacheModes } from '#contract/limits.ts';
import { type Params, options, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { ruleColumns, ruleFields } from '../kit/rule-parts.ts';
import { t } from '../kit/text.ts';
import { number } from '../kit/units.ts';
import { urlColumns, urlFields, urlRule } from './url-rules.tsx';

const rules = resource<'GET /{area}/site/{siteID}/setting/cacheRules'>({
  ...urlRule,
  name: 'cacheRules',
  list: 'GET /{area}/site/{siteID}/setting/cacheRules',
  columns: [
    ...urlColumns,
    { name: 'mode', kind: 'option', texts: 'cacheMode' },
    { name: 'duration', width: 110, render: rule => `${number(rule.duration)} ${t('unit.minutes')}` },
    ...ruleColumns,
  ],
  create: 'POST /{area}/site/{siteID}/setting/cacheRule',
  update: 'PUT /{area}/site/{siteID}/setting/cacheRule',
  remove: 'DELETE /{area}/site/{siteID}/setting/cacheRule',
  fields: [
    ...urlFields({ fileTypes: 'jpg,png,css', path: '/images/' }),
    { name: 'mode', kind: 'segments', ...options(cacheModes, 'cacheMode'), initial: 'followOrigin' },
    { name: 'duration', kind: 'number', unit: 'minutes', help: 'zeroNoCache', initial: 60 },
    ...ruleFields,
  ],
});

export const CacheRules = ({ params }: { params: Params }) => <ResourcePage resource={rules} params={params} isEmbedded />;
