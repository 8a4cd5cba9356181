/** DNS accounts of a site: with one, names are proven to certificate authorities by DNS. What lets us in goes there and never comes back. */
import { dnsAccountFields, dnsProviders, tsigAlgorithms } from '#contract/limits.ts';
import { later } from '../kit/later.tsx';
import { overlay } from '../kit/overlay.ts';
import { type FormField, options, type Params, resource, type Values } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { t } from '../kit/text.ts';

const DNSZones = later(async () => (await import('./dns-zones.tsx')).DNSZones);

type Provider = (typeof dnsProviders)[number];
const providerOf = (values: Values) => dnsProviders.find(one => one === values['provider']);
const isOne =
  (...providers: Provider[]) =>
  (values: Values) =>
    providers.some(one => one === values['provider']);
const uses = (name: 'server' | 'algorithm') => (values: Values) => {
  const provider = providerOf(values);
  return provider !== undefined && dnsAccountFields[provider].includes(name);
};

/** The same two fields, in the words of who gave them. */
const idField = (label: 'tsigName' | 'dnsTokenID' | 'accessKeyID', ...providers: Provider[]): FormField => ({
  name: 'keyName',
  label,
  kind: 'mono',
  isOptional: false,
  when: isOne(...providers),
});
const secretField = (label: 'tsigSecret' | 'dnsToken' | 'accessKeySecret', ...providers: Provider[]): FormField[] =>
  (['create', 'edit'] as const).map(only => ({
    name: 'credentials',
    label,
    kind: 'password',
    only,
    isOptional: only === 'edit',
    help: only === 'edit' ? 'dnsCredentialsAnew' : label === 'dnsToken' ? 'dnsToken' : 'dnsCredentials',
    when: isOne(...providers),
  }));

/** Left empty they stay; what the provider has no use for is as if nobody had typed it. */
const bodyOf = ({ credentials, ...values }: Values) => {
  const used: readonly string[] = dnsAccountFields[providerOf(values) ?? 'cloudflare'];
  const all = ['server', 'keyName'].filter(name => !used.includes(name)).map(name => [name, '']);
  return { ...values, ...Object.fromEntries(all), ...(credentials ? { credentials } : {}) };
};

const siteDNS = resource<'GET /{area}/site/{siteID}/setting/dns'>({
  name: 'siteDNS',
  note: 'siteDNS',
  list: 'GET /{area}/site/{siteID}/setting/dns',
  defaultSort: '-createdAt',
  rowName: row => row.memo || row.server || t(`dnsProvider.${row.provider}`),
  columns: [
    { name: 'provider', label: 'dnsProvider', kind: 'option', texts: 'dnsProvider', sort: true, link: 'edit', width: 190 },
    { name: 'server', kind: 'mono', width: 220 },
    { name: 'keyName', kind: 'mono', width: 220 },
    { name: 'memo' },
    { name: 'createdAt', kind: 'time', sort: true },
    { name: 'updatedAt', kind: 'time', sort: true, isOptional: true },
  ],
  create: 'POST /{area}/site/{siteID}/setting/dns',
  update: 'PUT /{area}/site/{siteID}/setting/dns',
  remove: 'DELETE /{area}/site/{siteID}/setting/dns',
  fields: [
    { name: 'provider', label: 'dnsProvider', kind: 'select', ...options(dnsProviders, 'dnsProvider'), initial: 'cloudflare' },
    { name: 'server', kind: 'mono', help: 'dnsServer', isOptional: false, when: uses('server') },
    idField('tsigName', 'rfc2136'),
    {
      name: 'algorithm',
      kind: 'select',
      ...options(tsigAlgorithms, 'tsigAlgorithm'),
      initial: 'hmacSHA256',
      isOptional: false,
      when: uses('algorithm'),
    },
    idField('dnsTokenID', 'dnspod'),
    idField('accessKeyID', 'route53', 'aliyun'),
    ...secretField('tsigSecret', 'rfc2136'),
    ...secretField('dnsToken', 'cloudflare', 'dnspod'),
    ...secretField('accessKeySecret', 'route53', 'aliyun'),
    { name: 'memo', kind: 'text', initial: '', isOptional: true },
  ],
  valuesOf: ({ provider, server, keyName, algorithm, memo }) => ({ provider, server, keyName, algorithm, memo, credentials: '' }),
  createBody: bodyOf,
  updateBody: (values, row) => ({ id: row.id, ...bodyOf(values) }),
  actions: [
    {
      name: 'dnsZones',
      call: 'GET /{area}/site/{siteID}/setting/dns/domains',
      run: ([row], { params }) =>
        overlay(close => (
          <DNSZones
            siteID={params['siteID']!}
            dnsID={row!.id}
            title={t(`dnsProvider.${row!.provider}`)}
            onClose={() => close()}
          />
        )),
    },
  ],
});

export const SiteDNS = ({ params }: { params: Params }) => <ResourcePage resource={siteDNS} params={params} isEmbedded />;
