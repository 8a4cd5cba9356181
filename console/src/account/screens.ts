/** Pages about accounts, by area. */
import { type Screen, withTexts } from '../kit/screens.ts';

export const user: readonly Screen[] = [
  {
    path: 'userManagement/userInformation',
    title: 'userInformation',
    order: 10,
    load: withTexts('account', () => import('./userInformation.tsx')),
  },
  {
    path: 'userManagement/usersList',
    title: 'usersList',
    order: 20,
    call: 'GET /{area}/accounts',
    load: withTexts('account', () => import('./accounts.tsx')),
  },
  {
    path: 'userManagement/roles',
    title: 'roles',
    order: 30,
    call: 'GET /{area}/roles',
    load: withTexts('account', () => import('./roles.tsx')),
  },
];

export const client: readonly Screen[] = [
  {
    path: 'userManagement/userInformation',
    title: 'userInformation',
    order: 10,
    load: withTexts('account', () => import('./userInformation.tsx')),
  },
  {
    path: 'userManagement/users',
    title: 'users',
    order: 20,
    call: 'GET /{area}/accounts',
    load: withTexts('account', () => import('./accounts.tsx')),
  },
  {
    path: 'userManagement/roles',
    title: 'roles',
    order: 30,
    call: 'GET /{area}/roles',
    load: withTexts('account', () => import('./roles.tsx')),
  },
];

export const admin: readonly Screen[] = [
  { path: 'dashboard', title: 'dashboard', order: 10, load: () => import('./overview.tsx') },
  {
    path: 'userManagement/userInformation',
    title: 'userInformation',
    order: 10,
    load: withTexts('account', () => import('./userInformation.tsx')),
  },
  {
    path: 'userManagement/usersList',
    title: 'usersList',
    order: 20,
    call: 'GET /{area}/accounts',
    load: withTexts('account', () => import('./accounts.tsx')),
  },
];
