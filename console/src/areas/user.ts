/** What customers see. */
import type { AreaScreens } from '../kit/screens.ts';

export const screens: AreaScreens = {
  area: 'user',
  sections: [
    {
      name: 'dashboard',
      icon: 'dashboard',
      screens: [{ path: 'dashboard', title: 'dashboard', load: () => import('../analytics/dashboard.tsx') }],
    },
    {
      name: 'sitesManagement',
      icon: 'globe',
      screens: [
        {
          path: 'sitesManagement/sites',
          title: 'sites',
          call: 'GET /user/sites',
          load: () => import('../site/sites.tsx').then(screen => ({ default: screen.UserSites })),
        },
        {
          path: 'sitesManagement/sitesSetting/{-$id}/{-$name}',
          title: 'sitesSetting',
          call: 'GET /user/site/{siteID}',
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
          load: () => import('../analytics/access-log.tsx').then(screen => ({ default: screen.UserLog })),
        },
      ],
    },
  ],
};
