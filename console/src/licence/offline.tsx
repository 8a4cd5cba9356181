/** Licence files: signed here, registered at an installation that asks nobody. */
import { saveFile } from '../kit/csv.ts';
import type { RowOf } from '../kit/client.ts';
import { ResourceForm } from '../kit/form.tsx';
import { NewButton } from '../kit/new-button.tsx';
import { overlay } from '../kit/overlay.ts';
import { useCan } from '../kit/permissions.ts';
import { act, type FormField, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { t } from '../kit/text.ts';
import { days, Limit, limitFields, monitor } from './fields.tsx';

type Offline = RowOf<'GET /admin/license/offlines'>;
const installation: FormField = {
  name: 'installationID',
  kind: 'mono',
  placeholder: 'ABCDE-ABCDE-ABCDE-ABCDE',
  help: 'installationID',
  isOptional: true,
};
const issueFields: FormField[] = [
  { name: 'name', kind: 'text', help: 'offlineName' },
  { name: 'licenseID', kind: 'remote', from: 'GET /admin/license', searchBy: 'keyword', help: 'offlineLicense' },
  installation,
];
const orNone = (value: unknown) => (value === '' || value === undefined ? null : value);

const issue = () =>
  overlay(close => (
    <ResourceForm
      title={t('license.offlineTitle')}
      call="POST /admin/license/offline/issuing"
      params={{}}
      fields={issueFields}
      values={{}}
      body={values => ({ ...values, installationID: orNone(values['installationID']) })}
      isEdit={false}
      success={t('message.createOfflineLicenseSuccess')}
      onClose={() => close()}
    />
  ));

const keep = (one: Offline) =>
  saveFile(`breakwater-${one.serial.slice(0, 8)}-${one.revision}.license`, new Blob([`${one.file}\n`]));

const offlines = resource<'GET /admin/license/offlines'>({
  name: 'offlineLicenses',
  list: 'GET /admin/license/offlines',
  defaultSort: '-createdAt',
  rowName: one => one.name,
  columns: [
    { name: 'name', sort: true, link: 'edit', width: 170 },
    {
      name: 'installationID',
      kind: 'mono',
      width: 220,
      render: one => one.installationID ?? <span className="ink-3">{t('license.unregistered')}</span>,
    },
    { name: 'registeredAt', kind: 'time', sort: true, width: 150 },
    { name: 'expiredAt', kind: 'until', sort: true, width: 150 },
    { name: 'siteLimit', label: 'licenseSites', kind: 'number', width: 100, render: one => <Limit value={one.siteLimit} /> },
    { name: 'nodeLimit', label: 'licenseNodes', kind: 'number', width: 100, render: one => <Limit value={one.nodeLimit} /> },
    {
      name: 'domainLimit',
      label: 'licenseDomains',
      kind: 'number',
      width: 100,
      render: one => <Limit value={one.domainLimit} />,
    },
    { name: 'portType', kind: 'option', texts: 'portType', width: 110 },
    { name: 'revision', kind: 'number', width: 90 },
    { name: 'serial', kind: 'mono', width: 300, isOptional: true },
    { name: 'createdAt', kind: 'time', sort: true, isOptional: true },
    { name: 'updatedAt', kind: 'time', sort: true, isOptional: true },
  ],
  filters: [{ name: 'keyword', kind: 'search' }],
  update: 'PUT /admin/license/offline',
  updateBody: (values, row) => ({ ...values, id: row.id, installationID: orNone(values['installationID']) }),
  remove: 'DELETE /admin/license/offline',
  removal: 'destructive',
  said: { updated: () => t('message.updateLicenseSuccess'), removed: () => t('message.removeLicenseSuccess') },
  fields: [{ name: 'name', kind: 'text' }, days, installation, ...limitFields, monitor],
  actions: [
    { name: 'saveLicense', run: ([one]) => keep(one!) },
    act<Offline, 'DELETE /admin/license/offline/register'>('DELETE /admin/license/offline/register', {
      name: 'unregister',
      isBatch: true,
      level: 'disruptive',
      warning: 'unregister',
      when: one => one.installationID !== null,
      body: rows => ({ ids: rows.map(one => one.id) }),
    }),
  ],
});

function Issue() {
  const can = useCan();
  if (!can('POST /admin/license/offline/issuing')) return null;
  return <NewButton text={t('action.issue')} onPress={() => void issue()} />;
}

export default function OfflineLicenses() {
  return <ResourcePage resource={offlines} extra={<Issue />} emptyAction={<Issue />} />;
}
