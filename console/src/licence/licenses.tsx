/** Licences the vendor sells, and which operator holds what. */
import { zeroMeans } from '#contract/limits.ts';
import { ResourceForm } from '../kit/form.tsx';
import { overlay } from '../kit/overlay.ts';
import { Page } from '../kit/page.tsx';
import { type FormField, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import type { Tab } from '../kit/screens.ts';
import { Tabs } from '../kit/tabs.tsx';
import { t } from '../kit/text.ts';
import { days, Limit, limitFields, monitor, portType } from './fields.tsx';
import { editOrder } from './order.tsx';

const operator: FormField = {
  name: 'userID',
  label: 'operator',
  kind: 'remote',
  from: 'GET /{area}/accounts',
  query: { auth: 'client' },
  searchBy: 'name',
  text: row => String(row['email']),
};
const issueFields: FormField[] = [{ ...operator, help: 'issueTo' }];
const issueToFields: FormField[] = [
  { name: 'licenseID', kind: 'remote', from: 'GET /admin/license', searchBy: 'keyword', help: 'issueTo' },
];

/** One of both is known where it is opened. */
function issue(known: { licenseID: number } | { userID: number }, name: string) {
  void overlay(close => (
    <ResourceForm
      title={t('license.issueTitle', { name })}
      call="POST /admin/license/issuing"
      params={{}}
      fields={'licenseID' in known ? issueFields : issueToFields}
      values={{}}
      body={values => ({ ...values, ...known })}
      isEdit={false}
      success={t('message.issueLicenseSuccess')}
      widthPx={480}
      onClose={() => close()}
    />
  ));
}

const licenses = resource<'GET /admin/license'>({
  name: 'licenses',
  list: 'GET /admin/license',
  defaultSort: 'name',
  rowName: one => one.name,
  columns: [
    { name: 'name', sort: true, link: 'edit', width: 180 },
    {
      name: 'days',
      sort: true,
      width: 110,
      render: one => (one.days === 0 ? t('unit.never') : t('license.days', { days: one.days })),
    },
    { name: 'siteLimit', label: 'licenseSites', kind: 'number', width: 100, render: one => <Limit value={one.siteLimit} /> },
    { name: 'nodeLimit', label: 'licenseNodes', kind: 'number', width: 100, render: one => <Limit value={one.nodeLimit} /> },
    { name: 'zoneLimit', label: 'licenseZones', kind: 'number', width: 100, render: one => <Limit value={one.zoneLimit} /> },
    {
      name: 'domainLimit',
      label: 'licenseDomains',
      kind: 'number',
      width: 100,
      render: one => <Limit value={one.domainLimit} />,
    },
    {
      name: 'autoSSLLimit',
      label: 'licenseAutoSSL',
      kind: 'number',
      width: 120,
      render: one => <Limit value={one.autoSSLLimit} />,
    },
    { name: 'portType', kind: 'option', texts: 'portType', width: 120 },
    {
      name: 'nodeMonitorSeconds',
      kind: 'number',
      width: 130,
      isOptional: true,
      render: one => <Limit value={one.nodeMonitorSeconds} zero={zeroMeans.nodeMonitorSeconds} />,
    },
    { name: 'holders', kind: 'number', width: 100 },
    { name: 'createdAt', kind: 'time', sort: true, isOptional: true },
    { name: 'updatedAt', kind: 'time', sort: true, isOptional: true },
  ],
  filters: [{ name: 'keyword', kind: 'search' }],
  create: 'POST /admin/license',
  update: 'PUT /admin/license',
  remove: 'DELETE /admin/license',
  errors: { fields: { duplicated: 'name' } },
  said: {
    created: () => t('message.createLicenseSuccess'),
    updated: () => t('message.updateLicenseSuccess'),
    removed: () => t('message.removeLicenseSuccess'),
  },
  fields: [{ name: 'name', kind: 'text' }, days, ...limitFields, portType, monitor],
  actions: [
    {
      name: 'issue',
      call: 'POST /admin/license/issuing',
      run: ([one]) => issue({ licenseID: one!.id }, one!.name),
    },
  ],
});

const orders = resource<'GET /admin/license/orders'>({
  name: 'licenseOrders',
  list: 'GET /admin/license/orders',
  defaultSort: 'email',
  rowName: one => one.email,
  columns: [
    { name: 'email', sort: true, link: 'order', width: 240 },
    { name: 'name', sort: true, width: 160 },
    { name: 'kind', label: 'license', width: 220, render: one => (one.license ? one.license : t(`licenseKind.${one.kind}`)) },
    { name: 'state', label: 'licenseState', kind: 'status', texts: 'licenseState', width: 130 },
    { name: 'expiredAt', kind: 'until', width: 160 },
    { name: 'createdAt', kind: 'time', sort: true, isOptional: true },
  ],
  filters: [{ name: 'keyword', kind: 'search' }],
  actions: [
    { name: 'order', call: 'GET /admin/license/{userId}/order', run: ([one]) => editOrder(one!) },
    { name: 'issue', call: 'POST /admin/license/issuing', run: ([one]) => issue({ userID: one!.id }, one!.email) },
  ],
});

const tabs: readonly Tab[] = [
  { name: 'licenses', order: 10, call: 'GET /admin/license', Content: () => <ResourcePage resource={licenses} isEmbedded /> },
  {
    name: 'licenseOrders',
    order: 20,
    call: 'GET /admin/license/orders',
    Content: () => <ResourcePage resource={orders} isEmbedded />,
  },
];
const nothing = {};

export default function Licenses() {
  return (
    <Page>
      <Tabs tabs={tabs} params={nothing} label={t('menu.licenses')} />
    </Page>
  );
}
