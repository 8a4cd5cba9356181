/** How often and how fast: two lists of a site's firewall. */
import { frequencyActions, frequencyColourDefault, frequencyColours, frequencyTypes } from '#contract/limits.ts';
import { type FormField, type Params, options, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { enabled, ruleColumns, ruleFields } from '../kit/rule-parts.ts';
import { t } from '../kit/text.ts';
import { number } from '../kit/units.ts';
import { Label } from './label.tsx';

/** Which requests are counted, and by what. */
const counted = (example: string): FormField[] => [
  { name: 'urlRegex', kind: 'mono', help: 'urlRegex', initial: '.*', placeholder: example },
  {
    name: 'type',
    label: 'frequencyType',
    help: 'frequencyType',
    kind: 'select',
    ...options(frequencyTypes, 'frequencyType'),
    initial: 'ip',
  },
];

type Path = '/{area}/site/{siteID}/firewall/setting/frequencies' | '/client/setting/frequency';

/** Those of a site, and those of the operator that hold beside them. */
const frequencies = (path: Path, empty: 'frequencies' | 'systemFrequencies') =>
  resource<`GET ${Path}`>({
    name: 'frequencies',
    list: `GET ${path}`,
    empty,
    note: empty,
    defaultSort: 'priority',
    rowName: row => row.urlRegex,
    columns: [
      {
        name: 'urlRegex',
        kind: 'mono',
        link: 'edit',
        width: 240,
        render: row => <Label colour={row.colour} text={row.urlRegex} />,
      },
      {
        name: 'times',
        width: 180,
        render: row => t('frequency.says', { times: number(row.times), seconds: number(row.seconds) }),
      },
      { name: 'type', label: 'frequencyType', kind: 'option', texts: 'frequencyType', width: 150 },
      { name: 'action', kind: 'option', texts: 'frequencyAction', width: 150 },
      ...ruleColumns,
    ],
    create: `POST ${path}`,
    update: `PUT ${path}`,
    remove: `DELETE ${path}`,
    wrap: 'items',
    fields: [
      ...counted('^/login'),
      { name: 'seconds', kind: 'number', unit: 'seconds', initial: 10 },
      { name: 'times', kind: 'number', help: 'times', initial: 100 },
      { name: 'action', kind: 'segments', ...options(frequencyActions, 'frequencyAction'), initial: 'limit' },
      { name: 'priority', kind: 'number', help: 'priority', initial: 100 },
      { name: 'colour', kind: 'select', ...options(frequencyColours, 'colour'), initial: frequencyColourDefault },
      enabled,
    ],
  });

const ofSite = frequencies('/{area}/site/{siteID}/firewall/setting/frequencies', 'frequencies');
const ofSystem = frequencies('/client/setting/frequency', 'systemFrequencies');

const limitReqs = resource<'GET /{area}/site/{siteID}/firewall/setting/limitReqs'>({
  name: 'limitReqs',
  list: 'GET /{area}/site/{siteID}/firewall/setting/limitReqs',
  defaultSort: 'priority',
  rowName: row => row.urlRegex,
  columns: [
    { name: 'urlRegex', kind: 'mono', link: 'edit', width: 240 },
    {
      name: 'rate',
      width: 200,
      render: row => t('limitReq.says', { rate: number(row.rate), burst: number(row.burst) }),
    },
    { name: 'type', label: 'frequencyType', kind: 'option', texts: 'frequencyType', width: 150 },
    ...ruleColumns,
  ],
  create: 'POST /{area}/site/{siteID}/firewall/setting/limitReqs',
  update: 'PUT /{area}/site/{siteID}/firewall/setting/limitReqs',
  remove: 'DELETE /{area}/site/{siteID}/firewall/setting/limitReqs',
  wrap: 'items',
  fields: [
    ...counted('^/api/'),
    { name: 'rate', kind: 'number', unit: 'perSecond', initial: 10 },
    { name: 'burst', kind: 'number', help: 'burst', initial: 20 },
    ...ruleFields,
  ],
});

export const Frequencies = ({ params }: { params: Params }) => <ResourcePage resource={ofSite} params={params} isEmbedded />;
export const SystemFrequencies = ({ params }: { params: Params }) => (
  <ResourcePage resource={ofSystem} params={params} isEmbedded />
);
export const LimitReqs = ({ params }: { params: Params }) => <ResourcePage resource={limitReqs} params={params} isEmbedded />;
