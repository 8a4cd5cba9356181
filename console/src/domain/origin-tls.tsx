/** Whether the certificates of a domain's origins are verified: by whose authorities, and for which name. */
import { useQuery } from '@tanstack/react-query';
import { verifications } from '#contract/limits.ts';
import { ResourceForm } from '../kit/form.tsx';
import { historyOfSetting } from '../kit/history-of.ts';
import { query } from '../kit/query.ts';
import { type FormField, options } from '../kit/resource.ts';
import { t } from '../kit/text.ts';

const read = 'GET /{area}/site/{siteID}/domain/{domainID}/originTLS';
const fields: FormField[] = [
  { name: 'verify', kind: 'segments', ...options(verifications, 'verification'), help: 'verify' },
  { name: 'ca', kind: 'area', help: 'originCA', when: values => values['verify'] === 'own' },
  { name: 'sni', kind: 'mono', help: 'sni', isOptional: true },
];

interface Props {
  domain: { id: number; domainName: string; originHost: string };
  siteID: number;
  onClose: () => void;
}

export function OriginTLSForm({ domain, siteID, onClose }: Props) {
  const at = { siteID, domainID: domain.id };
  const found = useQuery({ ...query(read, at), staleTime: Infinity, gcTime: 0 });
  if (!found.data) return null;
  const { verify, ca, sni, version } = found.data;
  return (
    <ResourceForm
      title={`${domain.domainName} · ${t('action.originTLS')}`}
      call="PUT /{area}/site/{siteID}/domain/{domainID}/originTLS"
      params={at}
      fields={fields}
      values={{ verify, ca, sni }}
      body={values => ({
        verify: values['verify'],
        ca: values['verify'] === 'own' ? values['ca'] : '',
        sni: values['sni'] ?? '',
      })}
      isEdit
      version={version}
      history={historyOfSetting(read, at)}
      success={t('message.updateSuccess')}
      onClose={onClose}
    >
      <p className="ink-2">{t('originTLS.name', { name: sni || domain.originHost || domain.domainName })}</p>
    </ResourceForm>
  );
}
