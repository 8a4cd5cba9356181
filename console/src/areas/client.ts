import type { AreaScreens } from '../kit/screens.ts';

export const screens: AreaScreens = {
  area: 'client',
  sections: [
    {
      name: 'dashboard',
      icon: 'dashboard',
      screens: [{ path: 'dashboard', title: 'dashboard', load: () => import('../account/welcome.tsx') }],
    },
  ],
};
