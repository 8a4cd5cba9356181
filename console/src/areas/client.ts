/** What operators see. */
import type { AreaScreens } from '../kit/screens.ts';

export const screens: AreaScreens = {
  area: 'client',
  sections: [
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
  ],
};
