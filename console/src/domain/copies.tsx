/** Domains made after others: at another site, or under other names; and one address of their origins put for another. */
import { mendDomainName } from '#contract/rules/mend.ts';
import { BatchForm } from '../kit/batch-form.tsx';
import type { RowOf } from '../kit/client.ts';
import { ResourceForm } from '../kit/form.tsx';
import { ofArea } from '../kit/of-area.ts';
import type { FormField } from '../kit/resource.ts';
import { t } from '../kit/text.ts';

type Domain = RowOf<'GET /{area}/site/{siteID}/domains'>;
interface FormProps {
  domains: readonly Domain[];
  siteID: number;
  onClose: () => void;
}

const idsOf = (domains: readonly Domain[]) => domains.map(domain => domain.id);
/** What a menu says of a form that opens is said of the form without the dots. */
const titleOf = (domains: readonly Domain[], entry: string) => {
  const verb = entry.replace(/…$/, '');
  return domains.length === 1
    ? t('copies.title', { verb, name: domains[0]!.domainName })
    : t('confirm.title', { verb, count: domains.length });
};

const siteField = (siteID: number): FormField => ({
  name: 'siteID',
  label: 'toSite',
  kind: 'remote',
  from: ofArea({ user: 'GET /user/metaSites', client: 'GET /client/metaSites' }),
  help: 'copyToSite',
  // they are there already
  why: row => (row['id'] === siteID ? t('copies.here') : undefined),
});

/** They lie at another site, switched off until they are off here. */
export const CopyToSiteForm = ({ domains, siteID, onClose }: FormProps) => (
  <ResourceForm
    title={titleOf(domains, t('action.copyToSite'))}
    call="POST /{area}/site/{siteID}/domains/copyToSite"
    params={{ siteID }}
    fields={[siteField(siteID)]}
    values={{}}
    body={values => ({ ids: idsOf(domains), siteID: values['siteID'] })}
    isEdit={false}
    success={t('copies.copied')}
    onClose={onClose}
  />
);

const nameFields: FormField[] = [
  {
    name: 'domains',
    label: 'newNames',
    kind: 'lines',
    initial: [],
    placeholder: 'www.example.com',
    help: 'createFrom',
    mendLine: mendDomainName,
  },
];

/** Other names, which have all that this one has. */
export const CreateFromForm = ({ domains: [from], siteID, onClose }: FormProps) => (
  <ResourceForm
    title={t('copies.like', { name: from!.domainName })}
    call="POST /{area}/site/{siteID}/domains/createFrom"
    params={{ siteID }}
    draftOf={from!.id}
    fields={nameFields}
    values={{ domains: [] }}
    body={values => ({ fromDomainID: from!.id, domains: values['domains'] })}
    isEdit={false}
    success={t('message.createSuccess')}
    onClose={onClose}
  />
);

const addressFields: FormField[] = [
  { name: 'from', label: 'addressBefore', kind: 'mono', initial: '', placeholder: '192.0.2.1', help: 'addressBefore' },
  { name: 'to', kind: 'mono', initial: '', placeholder: '192.0.2.2' },
];

/** An origin that moved, wherever these domains have it. */
export const ReplaceOriginForm = ({ domains, siteID, onClose }: FormProps) => (
  <BatchForm
    title={titleOf(domains, t('action.replaceOrigin'))}
    call="PUT /{area}/site/{siteID}/domains/modifyUpstreamIPs"
    params={{ siteID }}
    fields={addressFields}
    rows={domains}
    valuesOf={() => ({ from: '', to: '' })}
    version={domains.length === 1 ? domains[0]!.version : undefined}
    body={values => ({ domainIDs: idsOf(domains), from: values['from'], to: values['to'] })}
    success={t('message.updateSuccess')}
    onClose={onClose}
  />
);
