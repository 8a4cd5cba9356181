/** By which schemes a domain is served, where its origins that follow are asked, and what of TLS it takes. */
import { servedSchemes, tlsOptions } from '#contract/limits.ts';
import type { RowOf } from '../kit/client.ts';
import { ResourceForm } from '../kit/form.tsx';
import { type FormField, type Params, options, type Values } from '../kit/resource.ts';
import { t } from '../kit/text.ts';

/** The port map is one object of the call: a mistake in a port of it stands at its switch. */
const isMapped = (values: Values) => values['portMap'] === true;
const fields: FormField[] = [
  { name: 'scheme', kind: 'segments', ...options(servedSchemes, 'servedScheme'), help: 'scheme' },
  { name: 'portMap', kind: 'switch', help: 'portMap' },
  { name: 'httpPort', kind: 'number', help: 'mappedPort', when: isMapped, isOptional: true },
  { name: 'httpsPort', kind: 'number', help: 'mappedPort', when: isMapped, isOptional: true },
  { name: 'tlsOption', kind: 'segments', ...options(['any', ...tlsOptions], 'tlsOption'), help: 'tlsOption' },
];
const portOf = (typed: unknown) => (typed === undefined || typed === '' ? null : typed);

interface Props {
  domain: RowOf<'GET /{area}/site/{siteID}/domains'>;
  params: Params;
  onClose: () => void;
}

export function SchemeForm({ domain, params, onClose }: Props) {
  const { id, domainName, version, portMap, scheme, tlsOption } = domain;
  return (
    <ResourceForm
      title={`${domainName} · ${t('action.scheme')}`}
      call="PUT /{area}/site/{siteID}/domain/{domainID}/scheme"
      params={{ ...params, domainID: id }}
      fields={fields}
      values={{
        scheme,
        portMap: portMap.enabled,
        httpPort: portMap.http ?? undefined,
        httpsPort: portMap.https ?? undefined,
        tlsOption,
      }}
      version={version}
      body={values => ({
        scheme: values['scheme'],
        portMap: { enabled: values['portMap'], http: portOf(values['httpPort']), https: portOf(values['httpsPort']) },
        tlsOption: values['tlsOption'],
      })}
      isEdit
      success={t('message.updateSuccess')}
      onClose={onClose}
    />
  );
}
