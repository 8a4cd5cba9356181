/** Redirects of visitors: modules, and within one of them its redirects, a field that pastes many, and one that tries an address. */
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { Button } from 'antd';
import { matchTypes, redirectStatuses } from '#contract/limits.ts';
import type { RowOf } from '../kit/client.ts';
import { useCan } from '../kit/permissions.ts';
import { ResourceForm } from '../kit/form.tsx';
import { overlay } from '../kit/overlay.ts';
import { query } from '../kit/query.ts';
import { act, type Params, options, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { t } from '../kit/text.ts';
import { assigning } from './assign.tsx';
import { copyAction } from './copy.tsx';
import { lastFields, nameField, ofModules, usedColumns } from './module-parts.ts';
import { redirectLines, redirectOf } from './redirect-lines.ts';
import { TryRedirect } from './try-redirect.tsx';
import { asSearch } from '../kit/search.ts';

const add = 'POST /{area}/site/{siteID}/module/urlRedirect/{moduleID}/redirects';
const change = 'PUT /{area}/site/{siteID}/module/urlRedirect/{moduleID}/redirects';

const modules = resource<'GET /{area}/site/{siteID}/module/urlRedirects'>({
  ...ofModules,
  name: 'urlRedirects',
  list: 'GET /{area}/site/{siteID}/module/urlRedirects',
  columns: [
    {
      name: 'name',
      width: 240,
      sort: true,
      render: row => (
        <Link to="." search={asSearch({ tab: 'urlRedirects', module: row.id })}>
          {row.name}
        </Link>
      ),
    },
    { name: 'redirectCount', kind: 'number', width: 120 },
    ...usedColumns,
    { name: 'memo' },
    { name: 'updatedAt', kind: 'time' },
  ],
  actions: [
    assigning('PUT /{area}/site/{siteID}/domains/module/urlRedirect'),
    copyAction('POST /{area}/site/{siteID}/urlRedirect/copy'),
  ],
  create: 'POST /{area}/site/{siteID}/module/urlRedirects',
  update: 'PUT /{area}/site/{siteID}/module/urlRedirect/{moduleID}',
  remove: 'DELETE /{area}/site/{siteID}/module/urlRedirects',
  wrap: 'modules',
  idParam: 'moduleID',
  fields: [nameField, ...lastFields],
});

type Redirect = RowOf<'GET /{area}/site/{siteID}/module/urlRedirect/{moduleID}/redirects'>;
const switched = (enabled: boolean) => ({
  isBatch: true,
  when: (row: Redirect) => row.enabled !== enabled,
  body: (rows: Redirect[]) => ({ items: rows.map(({ id }) => ({ id, enabled })) }),
});
const redirects = resource<'GET /{area}/site/{siteID}/module/urlRedirect/{moduleID}/redirects'>({
  name: 'redirects',
  list: 'GET /{area}/site/{siteID}/module/urlRedirect/{moduleID}/redirects',
  rowName: row => row.source,
  columns: [
    { name: 'source', kind: 'mono', link: 'edit', width: 280, sort: true },
    { name: 'target', label: 'redirectTarget', kind: 'mono', width: 300, sort: true },
    { name: 'matchType', kind: 'option', texts: 'matchType', width: 150, sort: true },
    { name: 'statusCode', kind: 'number', width: 110, sort: true },
    { name: 'keepQuery', kind: 'bool', width: 120 },
    { name: 'enabled', kind: 'bool', width: 110, sort: true },
  ],
  filters: [
    { name: 'keyword', kind: 'search' },
    { name: 'matchType', kind: 'segments', ...options(matchTypes, 'matchType') },
  ],
  actions: [act(change, { name: 'enable', ...switched(true) }), act(change, { name: 'disable', ...switched(false) })],
  create: add,
  update: change,
  remove: 'DELETE /{area}/site/{siteID}/module/urlRedirect/{moduleID}/redirects',
  wrap: 'items',
  updateWrap: 'items',
  updateBody: (values, row) => ({ items: [{ id: row.id, ...values }] }),
  fields: [
    { name: 'matchType', kind: 'segments', ...options(matchTypes, 'matchType'), initial: 'exact' },
    { name: 'source', kind: 'mono', help: 'redirectSource', placeholder: '/old' },
    { name: 'target', label: 'redirectTarget', kind: 'mono', help: 'redirectTarget', placeholder: '/new' },
    { name: 'statusCode', kind: 'segments', values: redirectStatuses, help: 'redirectStatus', initial: 301 },
    { name: 'keepQuery', kind: 'switch', help: 'keepQuery', initial: true },
    { name: 'enabled', kind: 'switch', initial: true },
  ],
});

const paste = (params: Params) =>
  overlay(close => (
    <ResourceForm
      title={t('redirect.paste')}
      call={add}
      params={params}
      fields={[{ name: 'items', label: 'redirectLines', kind: 'lines', help: 'redirectLines', rule: redirectLines }]}
      values={{ items: [] }}
      body={values => ({ items: ((values['items'] as string[] | undefined) ?? []).map(redirectOf) })}
      isEdit={false}
      success={t('message.createSuccess')}
      onClose={() => close()}
    />
  ));

export function UrlRedirects({ params }: { params: Params }) {
  const search = useSearch({ strict: false }) as { module?: number | string };
  const moduleID = Number(search.module);
  if (!Number.isInteger(moduleID) || moduleID < 1) return <ResourcePage resource={modules} params={params} isEmbedded />;
  return <Redirects key={moduleID} params={{ ...params, moduleID }} />;
}

function Redirects({ params }: { params: Params }) {
  const can = useCan();
  const { siteID, moduleID } = params as { siteID: number; moduleID: number };
  const found = useQuery(query('GET /{area}/site/{siteID}/module/urlRedirects', { siteID, query: { pageSize: 500 } }));
  const name = found.data?.data.find(row => row.id === moduleID)?.name;
  return (
    <>
      <div className="redirects-head">
        <Link to="." search={asSearch({ tab: 'urlRedirects' })}>
          ← {t('redirect.back')}
        </Link>
        <strong>{name}</strong>
        <span className="grow" />
        {can(add) && <Button onClick={() => void paste(params)}>{t('redirect.paste')}</Button>}
      </div>
      <TryRedirect params={{ siteID, moduleID }} />
      <ResourcePage resource={redirects} params={params} isEmbedded />
    </>
  );
}
