/** Sites, as the operator sells them and as the customer uses them. */
import { siteShownStates } from '#contract/states.ts';
import { portTypes } from '#contract/limits.ts';
import { Tag } from 'antd';
import { Status } from '../kit/bits.tsx';
import { BatchForm } from '../kit/batch-form.tsx';
import { call, type RowOf } from '../kit/client.ts';
import { eachRow } from '../kit/each.ts';
import { later } from '../kit/later.tsx';
import { overlay } from '../kit/overlay.ts';
import { act, type Column, type Filter, type FormField, options, resource, type RowAction } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { linkTo } from '../kit/screens.ts';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { number } from '../kit/units.ts';
import { shareNeeds } from './share-needs.ts';
import { stateOf } from './state.ts';
import { terms } from './terms.tsx';

const ShareDrawer = later(async () => (await import('./share.tsx')).ShareDrawer);

type Site = RowOf<'GET /client/sites'>;

const settingsOf = (site: Site) => linkTo('sitesSetting', site.id, site.siteName);
const settings: RowAction<Site> = { name: 'settings', to: settingsOf };
const share: RowAction<Site> = {
  name: 'share',
  call: shareNeeds,
  isBatch: true,
  run: sites => overlay(close => <ShareDrawer sites={sites} onClose={() => close()} />),
};
const nameOf = (site: Site) => site.siteName;
const idsOf = (rows: readonly Site[]) => rows.map(row => row.id);

const siteName: Column<Site> = { name: 'siteName', sort: true, link: settingsOf, width: 160 };
/** What visitors meet: a site whose time is over answers nothing, whatever its status. */
const status: Column<Site> = {
  name: 'status',
  sort: true,
  width: 110,
  render: site => (
    <>
      <Status value={stateOf(site)} />
      {site.forceBackup && <Tag>{t('sites.onBackups')}</Tag>}
    </>
  ),
};
const columns: Column<Site>[] = [
  { name: 'productName', width: 88 },
  { name: 'domainCount', kind: 'number', width: 76 },
  {
    name: 'expired',
    kind: 'time',
    sort: true,
    render: site => (site.expired ? dateTime(site.expired) : <span className="ink-3">{t('preset.never')}</span>),
  },
  { name: 'tags', kind: 'tags', width: 120 },
  { name: 'users', label: 'sharedWith', width: 108, link: 'share', render: site => number(site.users.length) },
  { name: 'revision', kind: 'number', isOptional: true },
  { name: 'createdAt', kind: 'time', sort: true, isOptional: true },
  { name: 'id', kind: 'number', isOptional: true },
];
const search: Filter = { name: 'siteName', kind: 'search' };
const tags: Filter = { name: 'tags', kind: 'tags' };
const tagsInUse = 'GET /user/site/tags';

const expired: FormField = {
  name: 'expired',
  kind: 'time',
  presets: ['month', 'year', 'never'],
  help: 'siteExpired',
  warn: value => (typeof value === 'string' && Date.parse(value) <= Date.now() ? t('warning.expiredNow') : undefined),
};
const setExpired = 'PUT /client/site/expired';
const setClientTags = 'PUT /client/site/tags';

interface FormProps {
  sites: readonly Site[];
  onClose: () => void;
}

/** Until when sites are served: one time for all that were chosen. */
const ExpiredForm = ({ sites, onClose }: FormProps) => (
  <BatchForm
    title={sites.length === 1 ? sites[0]!.siteName : t('confirm.title', { verb: t('field.expired'), count: sites.length })}
    call={setExpired}
    params={{}}
    fields={[{ ...expired, isOptional: false }]}
    rows={sites}
    valuesOf={site => ({ expired: site.expired })}
    // what was overwritten and not chosen yet is not "never"
    body={values => ({ ids: idsOf(sites), expired: values['expired'] })}
    success={t('message.updateSuccess')}
    onClose={onClose}
  />
);

const clientSites = resource<'GET /client/sites'>({
  name: 'sites',
  list: 'GET /client/sites',
  defaultSort: '-createdAt',
  rowName: nameOf,
  columns: [siteName, status, { name: 'userEmail', width: 160 }, { name: 'zoneName', width: 90 }, ...columns],
  filters: [
    search,
    { name: 'zoneID', kind: 'select', from: 'GET /client/metaZones' },
    { name: 'statuses', kind: 'select', ...options(siteShownStates, 'state') },
    { ...tags, suggest: 'GET /client/site/tags' },
    { name: 'productName', kind: 'text' },
    { name: 'portType', kind: 'select', values: portTypes, width: 104 },
  ],
  create: 'POST /client/site',
  errors: { fields: { duplicated: 'siteName' } },
  update: 'PATCH /client/site',
  remove: 'DELETE /client/site',
  one: { call: 'GET /client/site/{siteID}', param: 'siteID' },
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
    expired,
  ],
  actions: [
    settings,
    share,
    {
      name: 'expired',
      call: setExpired,
      isBatch: true,
      run: sites => overlay(close => <ExpiredForm sites={sites} onClose={() => close()} />),
    },
    {
      name: 'tags',
      call: setClientTags,
      isBatch: true,
      run: sites => overlay(close => <ClientTagsForm sites={sites} onClose={() => close()} />),
    },
    ...terms,
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

const setTags = 'PUT /user/site/{siteID}/tags';

/** The operator's call is of as many as are named. */
const ClientTagsForm = ({ sites, onClose }: FormProps) => (
  <BatchForm
    title={sites.length === 1 ? sites[0]!.siteName : t('confirm.title', { verb: t('field.tags'), count: sites.length })}
    call={setClientTags}
    params={{}}
    fields={[{ name: 'tags', kind: 'tags', suggest: 'GET /client/site/tags', help: 'siteTags' }]}
    rows={sites}
    valuesOf={row => ({ tags: row.tags })}
    body={({ tags }) => ({ ids: idsOf(sites), tags: tags ?? [], versions: sites.map(row => row.version) })}
    success={t('message.updateSuccess')}
    onClose={onClose}
  />
);

/** The call is of one site: of several each has its own. */
function TagsForm({ sites, onClose }: FormProps) {
  const [site] = sites as [Site];
  const isOne = sites.length === 1;
  return (
    <BatchForm
      title={isOne ? site.siteName : t('confirm.title', { verb: t('field.tags'), count: sites.length })}
      call={setTags}
      params={{ siteID: site.id }}
      fields={[{ name: 'tags', kind: 'tags', suggest: tagsInUse, help: 'siteTags' }]}
      rows={sites}
      valuesOf={row => ({ tags: row.tags })}
      body={({ tags }) => ({ tags: tags ?? [] })}
      version={isOne ? site.version : undefined}
      send={
        isOne
          ? undefined
          : ({ tags }) =>
              eachRow(sites, nameOf, row =>
                call(setTags, { siteID: row.id, body: { tags: (tags ?? []) as string[] } }, { version: row.version }),
              )
      }
      success={t('message.updateSuccess')}
      onClose={onClose}
    />
  );
}

const userSites = resource<'GET /user/sites'>({
  name: 'sites',
  list: 'GET /user/sites',
  empty: 'sitesUser',
  defaultSort: '-createdAt',
  rowName: nameOf,
  columns: [siteName, status, ...columns],
  filters: [search, { name: 'status', kind: 'segments', ...options(siteShownStates, 'state') }, { ...tags, suggest: tagsInUse }],
  actions: [
    settings,
    share,
    {
      name: 'tags',
      call: setTags,
      isBatch: true,
      run: sites => overlay(close => <TagsForm sites={sites} onClose={() => close()} />),
    },
  ],
});

export const ClientSites = () => <ResourcePage resource={clientSites} />;
export const UserSites = () => <ResourcePage resource={userSites} />;
