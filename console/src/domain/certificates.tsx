/** Certificates of a site: uploaded as PEM, given to the domains they name, and how long each is good. */
import { certificateLimits } from '#contract/limits.ts';
import { PemInput } from '../kit/pieces.ts';
import { ResourceForm } from '../kit/form.tsx';
import { overlay } from '../kit/overlay.ts';
import { type FormField, resource, type Params, type Values } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { Status } from '../kit/bits.tsx';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';

/** Whoever has both in one text need not take it apart. */
const keyBlocks = /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----[\s\S]*?-----END (?:[A-Z]+ )?PRIVATE KEY-----/g;
function divided(values: Values): Values {
  const { certificate, ...rest } = values;
  const text = typeof certificate === 'string' ? certificate.trim() : '';
  if (!text) return rest;
  const privateKey = text.match(keyBlocks)?.join('\n');
  return { ...rest, certificate: text.replaceAll(keyBlocks, '').trim(), ...(privateKey ? { privateKey } : {}) };
}

const pem = (more: Pick<FormField, 'only' | 'help' | 'isOptional' | 'when'>): FormField => ({
  name: 'certificate',
  kind: 'custom',
  ...more,
  render: ({ value, onChange, id }) => (
    <PemInput
      {...(id ? { id } : {})}
      aria-label={t('field.certificate')}
      value={typeof value === 'string' ? value : ''}
      onChange={onChange}
    />
  ),
});

const domains = 'GET /{area}/site/{siteID}/metaDomains';
const assigned: FormField[] = [
  { name: 'domainIDs', kind: 'remote', isMultiple: true, isOptional: true, from: domains, help: 'certificateDomains' },
];

const certificates = resource<'GET /{area}/site/{siteID}/certificates'>({
  name: 'certificates',
  list: 'GET /{area}/site/{siteID}/certificates',
  defaultSort: '-createdAt',
  rowName: row => row.sslName,
  columns: [
    { name: 'sslName', sort: true, link: 'edit', width: 200 },
    { name: 'names', kind: 'tags', width: 260 },
    {
      name: 'notAfter',
      sort: true,
      width: 190,
      render: ({ notAfter, daysLeft: days }) => {
        const state = days < 0 ? 'expired' : days < certificateLimits.warnDays ? 'warning' : 'success';
        return (
          <span title={dateTime(notAfter)}>
            <Status value={state} texts="certificateTime" />{' '}
            <span className="ink-3">{t('certificate.days', { days: Math.max(0, days) })}</span>
          </span>
        );
      },
    },
    {
      name: 'isWhole',
      render: row => <Status value={row.isWhole ? 'success' : 'warning'} texts="certificateChain" />,
      width: 130,
    },
    { name: 'ocspUntil', kind: 'time', isOptional: true },
    { name: 'domainIDs', label: 'domainCount', render: row => String(row.domainIDs.length), width: 110 },
    { name: 'type', kind: 'option', texts: 'certificateType', sort: true, isOptional: true },
    { name: 'issuer', sort: true },
    { name: 'keyBits', render: row => `${row.keyType.toUpperCase()} ${row.keyBits}`, isOptional: true },
    { name: 'serial', kind: 'mono', isOptional: true },
    { name: 'fingerprint', kind: 'mono', isOptional: true },
    { name: 'createdAt', kind: 'time', sort: true },
    { name: 'updatedAt', kind: 'time', sort: true, isOptional: true },
  ],
  filters: [{ name: 'sslName', kind: 'search' }],
  create: 'POST /{area}/site/{siteID}/certificates',
  update: 'PUT /{area}/site/{siteID}/certificate/{certificateID}',
  remove: 'DELETE /{area}/site/{siteID}/certificates',
  idParam: 'certificateID',
  fields: [
    { name: 'sslName', kind: 'text' },
    pem({ only: 'create', help: 'certificatePem' }),
    // one that makes itself is renewed by itself: the server takes no other in its place
    pem({ only: 'edit', help: 'certificateAnew', isOptional: true, when: values => values['type'] === 'manual' }),
  ],
  valuesOf: row => ({ sslName: row.sslName, certificate: '', type: row.type }),
  createBody: divided,
  updateBody: divided,
  actions: [
    {
      name: 'assignDomains',
      call: ['PATCH /{area}/site/{siteID}/certificate/{certificateID}/domains', domains],
      run: ([row], { params }) =>
        overlay(close => (
          <ResourceForm
            title={t('certificate.assign', { name: row!.sslName })}
            call="PATCH /{area}/site/{siteID}/certificate/{certificateID}/domains"
            params={{ ...params, certificateID: row!.id }}
            draftOf={row!.id}
            fields={assigned}
            values={{ domainIDs: row!.domainIDs }}
            body={({ domainIDs }) => ({ domainIDs: domainIDs ?? [] })}
            isEdit
            success={t('message.updateSuccess')}
            errors={{ fields: { invalidCertificateName: 'domainIDs' } }}
            onClose={() => close()}
          />
        )),
    },
  ],
});

export const Certificates = ({ params }: { params: Params }) => (
  <ResourcePage resource={certificates} params={params} isEmbedded />
);
