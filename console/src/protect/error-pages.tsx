/** What visitors see instead of the edge's own page of a status: of one site, and of the operator for all of them. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { errorPageStatuses, errorPageTypes, siteErrorPageStatuses } from '#contract/limits.ts';
import { query } from '../kit/query.ts';
import { type Params, options, resource, type Values } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';

type Base = '/{area}/site/{siteID}' | '/client/setting';

/** Of what a page is made, by its type; an address is no code. */
const codeOf = ({ type }: Values) => (type === 'content' ? 'html' : type === 'javascript' ? 'javascript' : undefined);

/** Both levels have the same columns and fields; removing alone has its own path. */
const errorPages = (
  base: Base,
  remove: 'DELETE /{area}/site/{siteID}/errorPages' | 'DELETE /client/setting/errorPage',
  empty: 'errorPages' | 'systemErrorPages',
  statuses: readonly number[],
  /** statuses that have a page: there is one for each */
  used: readonly number[],
) => {
  const help = empty === 'errorPages' ? 'errorPageCode' : 'systemErrorPageCode';
  const free = statuses.filter(status => !used.includes(status));
  return resource<`GET ${Base}/errorPages`>({
    name: 'errorPages',
    list: `GET ${base}/errorPages`,
    empty,
    note: empty,
    rowName: row => String(row.code),
    columns: [
      { name: 'code', kind: 'mono', link: 'edit', width: 120 },
      { name: 'type', kind: 'option', texts: 'errorPageType', width: 160 },
      {
        name: 'content',
        width: 320,
        // a page may be long: its beginning tells it apart
        render: row => <span className="mono">{row.content.length > 80 ? `${row.content.slice(0, 80)}…` : row.content}</span>,
      },
      { name: 'updatedAt', kind: 'time' },
    ],
    create: `POST ${base}/errorPage`,
    update: `PUT ${base}/errorPage`,
    remove,
    errors: { fields: { duplicated: 'code' } },
    fields: [
      { name: 'code', help, kind: 'select', only: 'create', values: free, initial: free[0] },
      { name: 'code', help, kind: 'select', only: 'edit', values: statuses },
      { name: 'type', kind: 'segments', ...options(errorPageTypes, 'errorPageType'), initial: 'content' },
      { name: 'content', help: 'errorPageContent', kind: 'code', language: codeOf, isOptional: false, initial: '' },
    ],
  });
};

const usedIn = (answer: { data: { code: number }[] } | undefined) => answer?.data.map(page => page.code) ?? [];
const all = { pageSize: 50 } as const;

export function ErrorPages({ params }: { params: Params }) {
  const { data } = useQuery(query('GET /{area}/site/{siteID}/errorPages', { siteID: params['siteID']!, query: all }));
  const of = useMemo(
    () =>
      errorPages(
        '/{area}/site/{siteID}',
        'DELETE /{area}/site/{siteID}/errorPages',
        'errorPages',
        siteErrorPageStatuses,
        usedIn(data),
      ),
    [data],
  );
  return <ResourcePage resource={of} params={params} isEmbedded />;
}

export function SystemErrorPages({ params }: { params: Params }) {
  const { data } = useQuery(query('GET /client/setting/errorPages', { query: all }));
  const of = useMemo(
    () => errorPages('/client/setting', 'DELETE /client/setting/errorPage', 'systemErrorPages', errorPageStatuses, usedIn(data)),
    [data],
  );
  return <ResourcePage resource={of} params={params} isEmbedded />;
}
