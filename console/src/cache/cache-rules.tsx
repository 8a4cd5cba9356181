/** Cache rules of a site, tried in the order of their priority. */
import { cacheModes, cacheRuleTypes } from '#contract/edge/document.ts';
import { type Params, options, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { t } from '../kit/text.ts';
import { number } from '../kit/units.ts';

const rules = resource<'GET /{area}/site/{siteID}/setting/cacheRules'>({
  name: 'cacheRules',
  list: 'GET /{area}/site/{siteID}/setting/cacheRules',
  defaultSort: 'priority',
  rowName: rule => rule.value || t(`cacheType.${rule.type}`),
  columns: [
    { name: 'value', kind: 'mono', link: 'edit', width: 240, render: rule => <span className="mono">{rule.value || '*'}</span> },
    { name: 'type', kind: 'option', texts: 'cacheType' },
    { name: 'mode', kind: 'option', texts: 'cacheMode' },
    { name: 'duration', width: 110, render: rule => `${number(rule.duration)} ${t('unit.minutes')}` },
    { name: 'priority', kind: 'number', sort: true },
    { name: 'enabled', kind: 'bool', width: 110 },
    { name: 'updatedAt', kind: 'time', isOptional: true },
  ],
  create: 'POST /{area}/site/{siteID}/setting/cacheRule',
  update: 'PUT /{area}/site/{siteID}/setting/cacheRule',
  remove: 'DELETE /{area}/site/{siteID}/setting/cacheRule',
  wrap: 'items',
  fields: [
    { name: 'type', kind: 'select', ...options(cacheRuleTypes, 'cacheType'), initial: 'fileType' },
    {
      name: 'value',
      kind: 'mono',
      isOptional: false,
      help: 'fileType',
      initial: '',
      when: values => values['type'] === 'fileType',
      placeholder: 'jpg,png,css',
    },
    {
      name: 'value',
      kind: 'mono',
      isOptional: false,
      initial: '',
      when: values => values['type'] !== 'fileType' && values['type'] !== 'site',
      placeholder: '/images/',
    },
    { name: 'mode', kind: 'segments', ...options(cacheModes, 'cacheMode'), initial: 'followOrigin' },
    { name: 'duration', kind: 'number', unit: 'minutes', help: 'zeroNoCache', initial: 60 },
    { name: 'priority', kind: 'number', help: 'priority', initial: 100 },
    { name: 'enabled', kind: 'switch', initial: true },
  ],
  createBody: values => ({ value: '', ...values }),
  updateBody: (values, rule) => ({ value: '', ...values, id: rule.id }),
});

export const CacheRules = ({ params }: { params: Params }) => <ResourcePage resource={rules} params={params} isEmbedded />;
