/** What the vendor sees. */
import { type AreaScreens, withTexts } from '../kit/screens.ts';

export const screens: AreaScreens = {
  area: 'admin',
  sections: [
    {
      name: 'dashboard',
      icon: 'dashboard',
      screens: [{ path: 'dashboard', title: 'dashboard', load: () => import('../account/overview.tsx') }],
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
      ],
    },
  ],
};
