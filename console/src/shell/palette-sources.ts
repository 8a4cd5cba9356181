/** Where the palette looks beside the pages. */
import { type Area, area } from '../kit/area.ts';
import { call, type CallKey } from '../kit/client.ts';
import type { Can } from '../kit/permissions.ts';
import { currentScreens, screensOf } from '../kit/screens.ts';
import { lastSelected } from '../kit/session.ts';
import { t } from '../kit/text.ts';

export interface Found {
  kind: string;
  name: string;
  to: string;
}
interface Source {
  call: CallKey;
  find: (keyword: string) => Promise<Found[]>;
}
const site = (base: string) => (row: { id: number; siteName: string }) => ({
  kind: t('field.site'),
  name: row.siteName,
  to: `${base}/${row.id}/${encodeURIComponent(row.siteName)}`,
});

export const sources: Record<Area, Source[]> = {
  user: [
    {
      call: 'GET /user/metaSites',
      find: async keyword =>
        (await call('GET /user/metaSites', { query: { keyword } })).map(site('/user/sitesManagement/sitesSetting')),
    },
  ],
  client: [
    {
      call: 'GET /client/metaSites',
      find: async keyword =>
        (await call('GET /client/metaSites', { query: { keyword } })).map(site('/client/nodeManage/sitesSetting')),
    },
    {
      call: 'GET /client/metaNodes',
      find: async keyword =>
        (await call('GET /client/metaNodes', { query: { keyword } })).map(row => ({
          kind: t('field.node'),
          name: row.name,
          to: `/client/nodeManage/nodesList?keyword=${encodeURIComponent(row.name)}`,
        })),
    },
    {
      call: 'GET /client/metaZones',
      find: async keyword =>
        (await call('GET /client/metaZones', { query: { keyword } })).map(row => ({
          kind: t('field.zone'),
          name: row.name,
          to: `/client/nodeManage/zonesList?edit=${row.id}`,
        })),
    },
  ],
  admin: [],
};

/** Sections of the settings of the site that was open last: by their names, and by the fields one has to know they are about. */
export async function sectionsOf(word: string, can: Can): Promise<Found[]> {
  if (!lastSelected.site.get()) return [];
  const pages = screensOf(currentScreens()).filter(screen => screen.hasSections && can(screen.call));
  const found = await Promise.all(
    pages.map(async ({ path, title, load }) =>
      ((await load()).sections ?? [])
        .filter(
          ({ call, name, finds = [] }) =>
            can(call) &&
            [t(`tab.${name}`), ...finds.map(one => t(`field.${one}`))].some(text => text.toLowerCase().includes(word)),
        )
        .map(({ name }) => ({
          kind: t(`menu.${title}`),
          name: t(`tab.${name}`),
          to: `/${area}/${path.split('/{-$')[0]}?tab=${name}`,
        })),
    ),
  );
  return found.flat();
}
