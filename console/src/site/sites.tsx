/** Sites, as the operator sells them and as the customer uses them. */
import { siteStates } from '#contract/edge/document.ts';
import { portTypes } from '#contract/limits.ts';
import { Status } from '../kit/bits.tsx';
import type { RowOf } from '../kit/client.ts';
import { act, type Column, type Filter, options, resource, type RowAction } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { linkTo } from '../kit/screens.ts';
import { t } from '../kit/text.ts';
import { stateOf } from './state.ts';

type Site = RowOf<'GET /client/sites'>;

const settingsOf = (site: Site) => linkTo('sitesSetting', site.id, site.siteName);
const settings: RowAction<Site> = { name: 'settings', to: settingsOf };
const idsOf = (rows: Site[]) => rows.map(row => row.id);

const siteName: Column<Site> = { name: 'siteName', sort: true, link: settingsOf, width: 200 };
/** What visitors meet: a site whose time is over answers nothing, whatever its status. */
const status: Column<Site> = {
  name: 'status',
  sort: true,
  width: 110,
  render: site => <Status value={stateOf(site)} />,
};
const columns: Column<Site>[] = [
  { name: 'productName' },
  { name: 'domainCount', kind: 'number' },
  { name: 'tags', kind: 'tags' },
  { name: 'expired', kind: 'time', sort: true },
  { name: 'revision', kind: 'number', isOptional: true },
  { name: 'createdAt', kind: 'time', sort: true },
  { name: 'id', kind: 'number', isOptional: true },
];
const search: Filter = { name: 'siteName', kind: 'search' };
const tags: Filter = { name: 'tags', kind: 'tags' };

const clientSites = resource<'GET /client/sites'>({
  name: 'sites',
  list: 'GET /client/sites',
  defaultSort: '-createdAt',
  rowName: site => site.siteName,
  columns: [siteName, status, { name: 'userEmail', width: 200 }, { name: 'zoneName', width: 120 }, ...columns],
  filters: [
    search,
    { name: 'zoneID', kind: 'select', from: 'GET /client/metaZones' },
    { name: 'statuses', kind: 'select', ...options(siteStates, 'state') },
    tags,
    { name: 'productName', kind: 'text' },
    { name: 'portType', kind: 'select', values: portTypes },
  ],
  create: 'POST /client/site',
  errors: { fields: { duplicated: 'siteName' } },
  update: 'PATCH /client/site',
  remove: 'DELETE /client/site',
  removal: 'destructive',
  said: { created: () => t('message.createSiteSuccess'), removed: () => t('message.removeSiteSuccess') },
  fields: [
    { name: 'siteName', kind: 'text' },
    {
      name: 'userID',
      kind: 'remote',
      from: 'GET /{area}/accounts',
      query: { auth: 'user' },
      searchBy: 'name',
      text: row => String(row['email']),
      only: 'create',
    },
    { name: 'productID', kind: 'remote', from: 'GET /client/metaProducts', only: 'create' },
    { name: 'tags', kind: 'tags', initial: [] },
    { name: 'expired', kind: 'time', help: 'expired' },
  ],
  actions: [
    settings,
    act('PATCH /client/site/status', {
      name: 'resume',
      isBatch: true,
      when: site => site.status === 'pause',
      body: rows => ({ ids: idsOf(rows), status: 'normal' }),
    }),
    act('PATCH /client/site/status', {
      name: 'pause',
      isBatch: true,
      level: 'disruptive',
      warning: 'pauseSite',
      when: site => site.status === 'normal',
      body: rows => ({ ids: idsOf(rows), status: 'pause' }),
    }),
    act('DELETE /client/site/currentCache', {
      name: 'purge',
      isBatch: true,
      level: 'disruptive',
      warning: 'purgeSite',
      body: rows => ({ ids: idsOf(rows) }),
      success: () => t('message.clearSiteSuccess'),
    }),
  ],
});

const userSites = resource<'GET /user/sites'>({
  name: 'sites',
  list: 'GET /user/sites',
  empty: 'sitesUser',
  defaultSort: '-createdAt',
  rowName: site => site.siteName,
  columns: [siteName, status, ...columns],
  filters: [search, { name: 'status', kind: 'segments', ...options(siteStates, 'state') }, tags],
  actions: [settings],
});

export const ClientSites = () => <ResourcePage resource={clientSites} />;
export const UserSites = () => <ResourcePage resource={userSites} />;
