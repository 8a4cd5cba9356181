/** What customers see. */
import { type AreaScreens, withTexts } from '../kit/screens.ts';

export const screens: AreaScreens = {
  area: 'user',
  sections: [
    {
      name: 'dashboard',
      icon: 'dashboard',
      screens: [
        { path: 'dashboard', title: 'dashboard', load: withTexts('analytics', () => import('../analytics/dashboard.tsx')) },
      ],
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
          path: 'userManagement/usersList',
          title: 'usersList',
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
