/** What visitors see instead of the edge's own page of a status: of one site, and of the operator for all of them. */
import { errorPageStatuses, errorPageTypes } from '#contract/limits.ts';
import { type Params, options, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';

type Base = '/{area}/site/{siteID}' | '/client/setting';

/** Both levels have the same columns and fields; removing alone has its own path. */
const errorPages = (
  base: Base,
  remove: 'DELETE /{area}/site/{siteID}/errorPages' | 'DELETE /client/setting/errorPage',
  empty: 'errorPages' | 'systemErrorPages',
) =>
  resource<`GET ${Base}/errorPages`>({
    name: 'errorPages',
    list: `GET ${base}/errorPages`,
    empty,
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
    fields: [
      {
        name: 'code',

        help: 'errorPageCode',
        kind: 'select',
        values: errorPageStatuses,
        initial: errorPageStatuses[0],
      },
      { name: 'type', kind: 'segments', ...options(errorPageTypes, 'errorPageType'), initial: 'content' },
      { name: 'content', help: 'errorPageContent', kind: 'area', isOptional: false, initial: '' },
    ],
  });

const ofSite = errorPages('/{area}/site/{siteID}', 'DELETE /{area}/site/{siteID}/errorPages', 'errorPages');
const ofSystem = errorPages('/client/setting', 'DELETE /client/setting/errorPage', 'systemErrorPages');

export const ErrorPages = ({ params }: { params: Params }) => <ResourcePage resource={ofSite} params={params} isEmbedded />;
export const SystemErrorPages = ({ params }: { params: Params }) => (
  <ResourcePage resource={ofSystem} params={params} isEmbedded />
);
