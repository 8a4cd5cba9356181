/** What customers see. */
import type { AreaScreens } from '../kit/screens.ts';

export const screens: AreaScreens = {
  area: 'user',
  sections: [
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
  ],
};
