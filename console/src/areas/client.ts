/** What operators see. */
import type { AreaScreens } from '../kit/screens.ts';

export const screens: AreaScreens = {
  area: 'client',
  sections: [
    {
      name: 'dashboard',
      icon: 'dashboard',
      screens: [{ path: 'dashboard', title: 'dashboard', load: () => import('../analytics/dashboard.tsx') }],
    },
    {
      name: 'nodeManage',
      icon: 'nodes',
      screens: [
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
          load: () => import('../analytics/access-log.tsx').then(screen => ({ default: screen.ClientLog })),
        },
      ],
    },
  ],
};
