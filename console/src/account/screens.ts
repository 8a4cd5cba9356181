/** Pages about accounts, by area. */
import { type Screen, withTexts } from '../kit/screens.ts';

const userInformation: Screen = {
  path: 'userManagement/userInformation',
  title: 'userInformation',
  order: 10,
  load: withTexts('account', () => import('./userInformation.tsx')),
};
/** The specification names it otherwise in the operator's area. */
const accounts = (title: 'users' | 'usersList'): Screen => ({
  path: `userManagement/${title}`,
  title,
  order: 20,
  call: 'GET /{area}/accounts',
  load: withTexts('account', () => import('./accounts.tsx')),
});
const roles: Screen = {
  path: 'userManagement/roles',
  title: 'roles',
  order: 30,
  call: 'GET /{area}/roles',
  load: withTexts('account', () => import('./roles.tsx')),
};

export const user: readonly Screen[] = [userInformation, accounts('usersList'), roles];
export const client: readonly Screen[] = [userInformation, accounts('users'), roles];
export const admin: readonly Screen[] = [
  { path: 'dashboard', title: 'dashboard', order: 10, load: withTexts('account', () => import('./overview.tsx')) },
  userInformation,
  accounts('usersList'),
];
