/** Domains of a site: made with their origins, switched on and off, balanced. */
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { balances } from '#contract/edge/document.ts';
import { certificateStates, cnameStates } from '#contract/states.ts';
import { mendDomainName } from '#contract/rules/mend.ts';
import type { Api, CallKey, RowOf } from '../kit/client.ts';
import { BatchForm } from '../kit/batch-form.tsx';
import { overlay } from '../kit/overlay.ts';
import { Status } from '../kit/bits.tsx';
import { act, type FormField, type Params, options, resource, type RowAction, type Values } from '../kit/resource.ts';
import { query } from '../kit/query.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { t } from '../kit/text.ts';
import { DomainHeadersDrawer } from '../module/domain-headers.tsx';
import { assignments } from './modules.ts';
import { newUpstream, upstreamFields } from './upstream-fields.ts';
import { UpstreamsDrawer } from './upstreams.tsx';

type Domain = RowOf<'GET /{area}/site/{siteID}/domains'>;
const idsOf = (rows: Domain[]) => rows.map(row => row.id);

const balance: FormField = { name: 'balance', kind: 'segments', ...options(balances, 'balance'), initial: 'roundRobin' };
const originHost: FormField = { name: 'originHost', kind: 'mono', help: 'originHost', initial: '' };
const tags: FormField = { name: 'tags', kind: 'tags', initial: [] };

/** One setting of the chosen domains in a drawer of its own. */
function setting<K extends CallKey>(
  key: K,
  field: FormField,
  valuesOf: (row: Domain) => Values,
  name: RowAction<Domain>['name'] = field.name as 'balance' | 'originHost' | 'tags',
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
          body={values => ({ domainIDs: idsOf(rows), ...values }) as Api[K]['body']}
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
  defaultSort: '-createdAt',
  rowName: domain => domain.domainName,
  columns: [
    { name: 'domainName', sort: true, link: 'upstreams', width: 260 },
    { name: 'status', render: domain => <Status value={domain.status === 1 ? 'enabled' : 'disabled'} />, width: 110 },
    { name: 'upstreamCount', kind: 'number' },
    { name: 'cnameStatus', kind: 'status', texts: 'cnameState', sort: true },
    { name: 'certStatus', kind: 'status', texts: 'certState', sort: true },
    { name: 'forceSSL', kind: 'bool', sort: true, isOptional: true },
    { name: 'balance', kind: 'option', texts: 'balance', sort: true },
    { name: 'originHost', kind: 'mono', isOptional: true },
    { name: 'tags', kind: 'tags' },
    { name: 'createdAt', kind: 'time', sort: true },
    { name: 'updatedAt', kind: 'time', sort: true, isOptional: true },
  ],
  filters: [
    { name: 'keywords', kind: 'search' },
    { name: 'tags', kind: 'tags' },
    { name: 'cnameStatuses', kind: 'select', ...options(cnameStates, 'cnameState') },
    { name: 'certStatus', kind: 'select', ...options(certificateStates, 'certState') },
    { name: 'forceSSL', kind: 'select', ...options([1, 0], 'forced') },
    { name: 'createdAt', kind: 'range', ends: ['createdStart', 'createdEnd'] },
    { name: 'updatedAt', kind: 'range', ends: ['updatedStart', 'updatedEnd'] },
  ],
  create: 'POST /{area}/site/{siteID}/domains',
  remove: 'DELETE /{area}/site/{siteID}/domains',
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
      run: async ([domain], { params }) => {
        await overlay(close => <UpstreamsDrawer domain={domain!} siteID={params['siteID']!} onClose={() => close()} />);
      },
    },
    {
      name: 'domainHeaders',
      call: 'PUT /{area}/site/{siteID}/domain/{domainID}/customHeaders',
      run: async ([domain], { params }) => {
        await overlay(close => <DomainHeadersDrawer domain={domain!} siteID={params['siteID']!} onClose={() => close()} />);
      },
    },
    setting('PATCH /{area}/site/{siteID}/domain/setting/balance', balance, row => ({ balance: row.balance })),
    setting('PATCH /{area}/site/{siteID}/domain/setting/originHost', originHost, row => ({ originHost: row.originHost })),
    setting('PUT /{area}/site/{siteID}/domain/setting/tags', tags, row => ({ tags: row.tags })),
    ...assignments.map(({ type, action, call, field }) =>
      setting(call, field, row => ({ [field.name]: row.moduleIDs[type] ?? field.initial }), action),
    ),
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

/** Who came by the address of a domain finds it open. */
function useNamed(params: Params) {
  const { domainName } = useParams({ strict: false }) as { domainName?: string };
  const siteID = params['siteID']!;
  const found = useQuery({
    ...query('GET /{area}/site/{siteID}/domains', { siteID, query: { keywords: domainName, pageSize: 500 } }),
    enabled: domainName !== undefined,
  });
  const named = found.data?.data.find(one => one.domainName === domainName);
  const opened = useRef<number>(undefined);
  useEffect(() => {
    if (!named || opened.current === named.id) return;
    opened.current = named.id;
    void overlay(close => <UpstreamsDrawer domain={named} siteID={siteID} onClose={() => close()} />);
  }, [named, siteID]);
}

export function Domains({ params }: { params: Params }) {
  useNamed(params);
  return <ResourcePage resource={domains} params={params} isEmbedded />;
}
