/** Where the palette looks beside the pages. */
import type { Area } from '../kit/area.ts';
import { call, type CallKey } from '../kit/client.ts';
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
