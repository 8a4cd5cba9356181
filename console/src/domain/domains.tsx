/** Domains of a site: made with their origins, switched on and off, balanced. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { Button } from 'antd';
import { useEffect, useMemo, useRef, useState } from 'react';
import { acmeProviders, balances, hstsLimits } from '#contract/limits.ts';
import { certificateStates } from '#contract/states.ts';
import { mendDomainName, mendHost } from '#contract/rules/mend.ts';
import type { Api, CallKey, RowOf } from '../kit/client.ts';
import { BatchForm } from '../kit/batch-form.tsx';
import { inPlace, later } from '../kit/later.tsx';
import { queryOf } from '../kit/list-state.ts';
import { notify } from '../kit/notice.ts';
import { overlay } from '../kit/overlay.ts';
import { act, type FormField, type Params, options, resource, type RowAction, type Values } from '../kit/resource.ts';
import { query } from '../kit/query.ts';
import { useCan } from '../kit/permissions.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { withTexts } from '../kit/screens.ts';
import { t } from '../kit/text.ts';
import { checkNames } from './check-names.ts';
import { assignments } from './modules.ts';
import { DomainState, NameState } from './name-state.tsx';
import { nameStates, stateQuery } from './name-states.ts';
import { removeNeeds } from './remove-needs.ts';
import { newUpstream, upstreamFields } from './upstream-fields.ts';
import { asSearch } from '../kit/search.ts';

type Domain = RowOf<'GET /{area}/site/{siteID}/domains'>;
const idsOf = (rows: Domain[]) => rows.map(row => row.id);

const balance: FormField = { name: 'balance', kind: 'segments', ...options(balances, 'balance'), initial: 'roundRobin' };
const originHost: FormField = {
  name: 'originHost',
  kind: 'mono',
  help: 'originHost',
  initial: '',
  mend: typed => ({ originHost: mendHost(typed) }),
};
const forceSSL: FormField = { name: 'forceSSL', kind: 'switch', help: 'forceSSL', initial: false };
const autoSSLFields: FormField[] = [
  { name: 'autoSSL', kind: 'switch', help: 'autoSSL', initial: true },
  {
    name: 'provider',
    kind: 'select',
    isOptional: true,
    when: values => values['autoSSL'] === true,
    ...options(acmeProviders, 'acmeProvider'),
  },
];
const hstsFields: FormField[] = [
  { name: 'enabled', kind: 'switch', help: 'hsts', initial: false },
  { name: 'maxAge', kind: 'number', unit: 'seconds', help: 'hstsAge', initial: hstsLimits.maxAgeDefault },
  { name: 'includeSubDomains', kind: 'switch', help: 'includeSubDomains', initial: false },
  { name: 'preload', kind: 'switch', help: 'preload', initial: false },
];
const tags: FormField = { name: 'tags', kind: 'tags', initial: [] };

const UpstreamsDrawer = later(async () => (await import('./upstreams.tsx')).UpstreamsDrawer);
const DomainHeadersDrawer = later(async () => (await import('../module/domain-headers.tsx')).DomainHeadersDrawer);
const OriginTLSForm = later(async () => (await import('./origin-tls.tsx')).OriginTLSForm);
const OriginCheckForm = later(async () => (await import('./origin-check.tsx')).OriginCheckForm);
const OriginTimeoutsForm = later(async () => (await import('./origin-check.tsx')).OriginTimeoutsForm);
const SchemeForm = later(async () => (await import('./scheme.tsx')).SchemeForm);
const HttpsSteps = inPlace(
  withTexts(
    'site',
    withTexts('tasks', async () => (await import('./https-steps.tsx')).HttpsSteps),
  ),
);
const CnameTarget = later(withTexts('site', async () => (await import('./cname-target.tsx')).CnameTarget));
const copies = (form: 'CopyToSiteForm' | 'CreateFromForm' | 'ReplaceOriginForm') =>
  later(async () => (await import('./copies.tsx'))[form]);
const [CopyToSiteForm, CreateFromForm, ReplaceOriginForm] = [
  copies('CopyToSiteForm'),
  copies('CreateFromForm'),
  copies('ReplaceOriginForm'),
];
/** What is made of the chosen ones, or of their origins, in a form of its own. */
const form = (
  name: RowAction<Domain>['name'],
  key: CallKey,
  Form: ReturnType<typeof copies>,
  isBatch: boolean,
): RowAction<Domain> => ({
  name,
  call: key,
  isBatch,
  run: async (rows, { params }) => {
    await overlay(close => <Form domains={rows} siteID={params['siteID']!} onClose={() => close()} />);
  },
});
const RemoveNames = later(async () => (await import('./remove-names.tsx')).RemoveNames);

/** One setting of the chosen domains in a drawer of its own. */
function setting<K extends CallKey>(
  key: K,
  field: FormField,
  valuesOf: (row: Domain) => Values,
  name: RowAction<Domain>['name'] = field.name as 'balance' | 'originHost' | 'tags' | 'forceSSL',
  /** the call is told which versions the person saw */
  hasVersions = false,
): RowAction<Domain> {
  return {
    name,
    call: key,
    isBatch: true,
    run: async (rows, { params }) => {
      await overlay(close => (
        <BatchForm
          title={
            rows.length === 1
              ? rows[0]!.domainName
              : t('confirm.title', { verb: t(`field.${field.label ?? field.name}`), count: rows.length })
          }
          call={key}
          params={params}
          fields={[field]}
          rows={rows}
          valuesOf={valuesOf}
          version={hasVersions && rows.length === 1 ? rows[0]!.version : undefined}
          body={values =>
            ({
              domainIDs: idsOf(rows),
              ...values,
              ...(hasVersions && rows.length > 1 ? { versions: rows.map(row => row.version) } : {}),
            }) as Api[K]['body']
          }
          success={t('message.updateSuccess')}
          onClose={() => close()}
        />
      ));
    },
  };
}

const domains = resource<'GET /{area}/site/{siteID}/domains'>({
  name: 'domains',
  list: 'GET /{area}/site/{siteID}/domains',
  input: state => ({ query: stateQuery(queryOf(state)) }),
  defaultSort: '-createdAt',
  rowName: domain => domain.domainName,
  columns: [
    { name: 'domainName', sort: true, link: 'upstreams', width: 260 },
    { name: 'status', render: domain => <DomainState domain={domain} />, width: 110, isState: true },
    { name: 'upstreamCount', kind: 'number' },
    {
      name: 'cnameStatus',
      kind: 'status',
      texts: 'cnameState',
      sort: true,
      width: 210,
      render: row => <NameState domain={row} />,
    },
    { name: 'cname', label: 'cnameTarget', kind: 'mono', isOptional: true, width: 260 },
    { name: 'cnameCheckedAt', kind: 'time', isOptional: true },
    { name: 'certStatus', kind: 'status', texts: 'certState', sort: true },
    { name: 'autoSSL', kind: 'bool', isOptional: true },
    { name: 'forceSSL', kind: 'bool', sort: true, isOptional: true },
    { name: 'scheme', kind: 'option', texts: 'servedScheme', isOptional: true },
    { name: 'tlsOption', kind: 'option', texts: 'tlsOption', isOptional: true },
    { name: 'balance', kind: 'option', texts: 'balance', sort: true },
    { name: 'originHost', kind: 'mono', isOptional: true },
    { name: 'tags', kind: 'tags' },
    { name: 'createdAt', kind: 'time', sort: true },
    { name: 'updatedAt', kind: 'time', sort: true, isOptional: true },
  ],
  filters: [
    { name: 'keywords', kind: 'search' },
    { name: 'tags', kind: 'tags' },
    { name: 'cnameStatuses', kind: 'select', ...options(nameStates, 'nameState') },
    { name: 'certStatus', kind: 'select', ...options(certificateStates, 'certState') },
    { name: 'forceSSL', kind: 'select', ...options([1, 0], 'forced') },
    { name: 'createdAt', kind: 'range', ends: ['createdStart', 'createdEnd'] },
    { name: 'updatedAt', kind: 'range', ends: ['updatedStart', 'updatedEnd'] },
  ],
  create: 'POST /{area}/site/{siteID}/domains',
  remove: 'DELETE /{area}/site/{siteID}/domains',
  history: true,
  export: 'POST /{area}/site/{siteID}/domains/export',
  one: { call: 'GET /{area}/site/{siteID}/domain/{domainID}', param: 'domainID' },
  drawer: (domain, { params, onClose }) => <UpstreamsDrawer domain={domain} siteID={params['siteID']!} onClose={onClose} />,
  wrap: 'domains',
  errors: { fields: { duplicateDomains: 'domainName' } },
  fields: [
    {
      name: 'domainName',
      kind: 'mono',
      placeholder: 'www.example.com',
      mend: typed => ({ domainName: mendDomainName(typed) }),
    },
    {
      name: 'upstreams',
      kind: 'list',
      add: 'addUpstream',
      template: newUpstream,
      fields: upstreamFields,
      initial: [newUpstream()],
    },
    balance,
    originHost,
    tags,
  ],
  actions: [
    {
      name: 'upstreams',
      call: 'GET /{area}/site/{siteID}/domain/{domainID}/upstreams',
      run: ([domain], { edit }) => edit(domain!.id),
    },
    {
      name: 'domainHeaders',
      call: 'PUT /{area}/site/{siteID}/domain/{domainID}/customHeaders',
      run: async ([domain], { params }) => {
        await overlay(close => <DomainHeadersDrawer domain={domain!} siteID={params['siteID']!} onClose={() => close()} />);
      },
    },
    {
      name: 'cname',
      call: 'GET /{area}/site/{siteID}/domain/{domainID}',
      run: async ([domain], { params }) => {
        await overlay(close => <CnameTarget domain={domain!} siteID={params['siteID']!} onClose={() => close()} />);
      },
    },
    checkNames,
    setting('PATCH /{area}/site/{siteID}/domain/setting/balance', balance, row => ({ balance: row.balance })),
    setting('PATCH /{area}/site/{siteID}/domain/setting/originHost', originHost, row => ({ originHost: row.originHost })),
    {
      name: 'originCheck',
      call: 'PUT /{area}/site/{siteID}/domain/{domainID}/originCheck',
      run: async ([domain], { params }) => {
        await overlay(close => <OriginCheckForm domain={domain!} siteID={params['siteID']!} onClose={() => close()} />);
      },
    },
    {
      name: 'originTimeouts',
      call: 'PUT /{area}/site/{siteID}/domain/{domainID}/originTimeouts',
      run: async ([domain], { params }) => {
        await overlay(close => <OriginTimeoutsForm domain={domain!} siteID={params['siteID']!} onClose={() => close()} />);
      },
    },
    {
      name: 'originTLS',
      call: 'PUT /{area}/site/{siteID}/domain/{domainID}/originTLS',
      run: async ([domain], { params }) => {
        await overlay(close => <OriginTLSForm domain={domain!} siteID={params['siteID']!} onClose={() => close()} />);
      },
    },
    setting('PATCH /{area}/site/{siteID}/domain/setting/forceSSL', forceSSL, row => ({ forceSSL: row.forceSSL })),
    {
      name: 'autoSSL',
      call: 'PATCH /{area}/site/{siteID}/domain/setting/autoSSL',
      isBatch: true,
      run: async (rows, { params }) => {
        await overlay(close => (
          <BatchForm
            title={
              rows.length === 1 ? rows[0]!.domainName : t('confirm.title', { verb: t('action.autoSSL'), count: rows.length })
            }
            call="PATCH /{area}/site/{siteID}/domain/setting/autoSSL"
            params={params}
            fields={autoSSLFields}
            rows={rows}
            valuesOf={row => ({ autoSSL: row.autoSSL })}
            version={rows.length === 1 ? rows[0]!.version : undefined}
            body={({ autoSSL, provider }) => {
              const chosen = autoSSL === true ? acmeProviders.find(one => one === provider) : undefined;
              return { domainIDs: idsOf(rows), enabled: autoSSL === true, ...(chosen && { provider: chosen }) };
            }}
            success={t('message.updateSuccess')}
            onClose={() => close()}
          />
        ));
      },
    },
    {
      name: 'hsts',
      call: 'PATCH /{area}/site/{siteID}/domain/setting/hsts',
      isBatch: true,
      run: async (rows, { params }) => {
        await overlay(close => (
          <BatchForm
            title={rows.length === 1 ? rows[0]!.domainName : t('confirm.title', { verb: t('action.hsts'), count: rows.length })}
            call="PATCH /{area}/site/{siteID}/domain/setting/hsts"
            params={params}
            fields={hstsFields}
            rows={rows}
            valuesOf={row => row.hsts}
            version={rows.length === 1 ? rows[0]!.version : undefined}
            body={({ enabled, maxAge, includeSubDomains, preload }) =>
              // as the form's fields are
              ({
                domainIDs: idsOf(rows),
                hsts: { enabled, maxAge, includeSubDomains, preload },
              }) as Api['PATCH /{area}/site/{siteID}/domain/setting/hsts']['body']
            }
            success={t('message.updateSuccess')}
            onClose={() => close()}
          />
        ));
      },
    },
    {
      name: 'scheme',
      call: 'PUT /{area}/site/{siteID}/domain/{domainID}/scheme',
      run: async ([row], { params }) => {
        await overlay(close => <SchemeForm domain={row!} params={params} onClose={() => close()} />);
      },
    },
    setting('PUT /{area}/site/{siteID}/domain/setting/tags', tags, row => ({ tags: row.tags }), 'tags', true),
    ...assignments.map(({ type, action, call, field }) =>
      setting(call, field, row => ({ [field.name]: row.moduleIDs[type] ?? field.initial }), action),
    ),
    form('createFrom', 'POST /{area}/site/{siteID}/domains/createFrom', CreateFromForm, false),
    form('replaceOrigin', 'PUT /{area}/site/{siteID}/domains/modifyUpstreamIPs', ReplaceOriginForm, true),
    form('copyToSite', 'POST /{area}/site/{siteID}/domains/copyToSite', CopyToSiteForm, true),
    act('PATCH /{area}/site/{siteID}/domain/setting/status', {
      name: 'enable',
      isBatch: true,
      when: domain => domain.status === 0,
      body: rows => ({ domainIDs: idsOf(rows), status: 1 }),
    }),
    act('PATCH /{area}/site/{siteID}/domain/setting/status', {
      name: 'disable',
      isBatch: true,
      level: 'disruptive',
      when: domain => domain.status === 1,
      body: rows => ({ domainIDs: idsOf(rows), status: 0 }),
    }),
  ],
});

/** Who came by the address of a domain finds it open: its name is looked up once, and its id stands in the address from then on. */
function useNamed(params: Params) {
  const { domainName } = useParams({ strict: false }) as { domainName?: string };
  const navigate = useNavigate();
  const found = useQuery({
    ...query('GET /{area}/site/{siteID}/metaDomains', { siteID: params['siteID']!, query: { keyword: domainName } }),
    enabled: domainName !== undefined,
  });
  const named = found.data?.find(one => one.name === domainName)?.id;
  const opened = useRef<number | string>(undefined);
  const isAnswered = found.data !== undefined;
  useEffect(() => {
    // one that was open and is deleted from here needs no word
    if (isAnswered && named === undefined && domainName !== undefined && opened.current === undefined) {
      opened.current = domainName;
      return notify.error(t('domains.noSuch', { name: domainName }));
    }
    if (named === undefined || opened.current === named) return undefined;
    opened.current = named;
    void navigate({ to: '.', search: asSearch((search: object) => ({ ...search, edit: named })), replace: true });
    return undefined;
  }, [isAnswered, named, domainName, navigate]);
}

function RemoveByNames({ params }: { params: Params }) {
  const can = useCan();
  if (!can(removeNeeds)) return null;
  const open = () => overlay(close => <RemoveNames siteID={params['siteID']!} onClose={() => close()} />);
  return <Button onClick={() => void open()}>{t('domains.removeByNames')}</Button>;
}

const httpsKey = 'GET /{area}/site/{siteID}/domain/{domainID}/https';
export function Domains({ params }: { params: Params }) {
  useNamed(params);
  const can = useCan();
  /** whose way to https stands above the list */
  const [followed, follow] = useState<string>();
  const canFollow = can(httpsKey);
  const shown = useMemo(
    () => ({
      ...domains,
      ...(canFollow && { made: ({ domainName }: Values) => follow(String(domainName)) }),
      actions: [
        { name: 'https', call: httpsKey, run: ([row]) => follow(row!.domainName) } satisfies RowAction<Domain>,
        ...domains.actions!,
      ],
    }),
    [canFollow],
  );
  return (
    <>
      {followed !== undefined && (
        <HttpsSteps key={followed} siteID={params['siteID']!} name={followed} onClose={() => follow(undefined)} />
      )}
      <ResourcePage resource={shown} params={params} isEmbedded extra={<RemoveByNames params={params} />} />
    </>
  );
}
