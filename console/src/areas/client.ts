/** What operators see. */
import { type AreaScreens, withTexts } from '../kit/screens.ts';

export const screens: AreaScreens = {
  area: 'client',
  sections: [
    {
      name: 'dashboard',
      icon: 'dashboard',
      screens: [
        { path: 'dashboard', title: 'dashboard', load: withTexts('analytics', () => import('../analytics/dashboard.tsx')) },
      ],
    },
    {
      name: 'nodeManage',
      icon: 'nodes',
      screens: [
        {
          path: 'nodeManage/zonesList',
          title: 'zones',
          call: 'GET /client/zones',
          load: withTexts('node', () => import('../node/zones.tsx')),
        },
        {
          path: 'nodeManage/nodesList',
          title: 'nodes',
          call: 'GET /client/nodes',
          load: withTexts('node', () => import('../node/nodes.tsx')),
        },
        {
          path: 'nodeManage/resolutionTitle',
          title: 'groups',
          call: ['GET /client/metaZones', 'GET /client/zone/{zoneId}/groups'],
          load: withTexts('node', () => import('../node/groups.tsx')),
        },
        {
          path: 'nodeManage/productsList',
          title: 'products',
          call: 'GET /client/products',
          load: withTexts('node', () => import('../node/products.tsx')),
        },
        {
          path: 'nodeManage/sitesList',
          title: 'sites',
          call: 'GET /client/sites',
          load: () => import('../site/sites.tsx').then(screen => ({ default: screen.ClientSites })),
        },
        {
          path: 'nodeManage/sitesSetting/{-$id}/{-$name}/{-$domainName}',
          title: 'sitesSetting',
          call: 'GET /client/site/{siteID}',
          hidden: true,
          below: 'sites',
          load: () => import('../site/settings.tsx'),
        },
      ],
    },
    {
      name: 'dataAnalysis',
      icon: 'chart',
      screens: [
        {
          path: 'dataAnalysis/logger',
          title: 'logger',
          call: 'POST /{area}/logs/access',
          load: withTexts('analytics', () => import('../analytics/access-log.tsx')),
        },
      ],
    },
    {
      name: 'userManagement',
      icon: 'people',
      screens: [
        {
          path: 'userManagement/userInformation',
          title: 'userInformation',
          load: withTexts('account', () => import('../account/userInformation.tsx')),
        },
        {
          path: 'userManagement/users',
          title: 'users',
          call: 'GET /{area}/accounts',
          load: withTexts('account', () => import('../account/accounts.tsx')),
        },
        {
          path: 'userManagement/roles',
          title: 'roles',
          call: 'GET /{area}/roles',
          load: withTexts('account', () => import('../account/roles.tsx')),
        },
      ],
    },
  ],
};
