/** How fast answers of a site are sent, by URL. */
import { cacheRuleTypes, units } from '#contract/limits.ts';
import { type Params, options, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { t } from '../kit/text.ts';
import { number } from '../kit/units.ts';

const rates = resource<'GET /{area}/site/{siteID}/setting/rates'>({
  name: 'rates',
  list: 'GET /{area}/site/{siteID}/setting/rates',
  defaultSort: 'priority',
  rowName: rule => rule.value || t(`cacheType.${rule.type}`),
  columns: [
    { name: 'value', kind: 'mono', link: 'edit', width: 240, render: rule => <span className="mono">{rule.value || '*'}</span> },
    { name: 'type', kind: 'option', texts: 'cacheType' },
    { name: 'rate', label: 'speed', width: 130, render: rule => `${number(rule.rate)} ${units.rateUnit}` },
    { name: 'priority', kind: 'number', sort: true },
    { name: 'enabled', kind: 'bool', width: 110 },
    { name: 'updatedAt', kind: 'time', isOptional: true },
  ],
  create: 'POST /{area}/site/{siteID}/setting/rate',
  update: 'PUT /{area}/site/{siteID}/setting/rate',
  remove: 'DELETE /{area}/site/{siteID}/setting/rates',
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
      placeholder: 'mp4,zip,iso',
    },
    {
      name: 'value',
      kind: 'mono',
      isOptional: false,
      initial: '',
      when: values => values['type'] !== 'fileType' && values['type'] !== 'site',
      placeholder: '/downloads/',
    },
    { name: 'rate', label: 'speed', kind: 'number', unit: 'rate', help: 'speed', initial: 1000 },
    { name: 'priority', kind: 'number', help: 'priority', initial: 100 },
    { name: 'enabled', kind: 'switch', initial: true },
  ],
  createBody: values => ({ value: '', ...values }),
  updateBody: (values, rule) => ({ value: '', ...values, id: rule.id }),
});

export const Rates = ({ params }: { params: Params }) => <ResourcePage resource={rates} params={params} isEmbedded />;
