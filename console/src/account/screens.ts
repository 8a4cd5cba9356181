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

/** Which area's log it is (u, c, a), the page knows by where it stands. */
const logOperation: Screen = {
  path: 'userManagement/logOperation',
  title: 'logOperation',
  order: 40,
  call: 'POST /{area}/auditLogs',
  load: withTexts('account', () => import('./audit.tsx')),
};
const apiTokens: Screen = {
  path: 'userManagement/apiTokenSetting',
  title: 'apiTokenSetting',
  order: 50,
  call: 'GET /{area}/apiTokens',
  load: withTexts('account', () => import('./api-tokens.tsx')),
};
const apiDoc: Screen = {
  path: 'userManagement/apiDoc',
  title: 'apiDoc',
  order: 60,
  call: 'GET /{area}/apiDoc',
  load: withTexts('account', () => import('./api-doc.tsx')),
};

export const user: readonly Screen[] = [userInformation, accounts('usersList'), roles, logOperation, apiTokens, apiDoc];
export const client: readonly Screen[] = [userInformation, accounts('users'), roles, logOperation, apiTokens, apiDoc];
export const admin: readonly Screen[] = [
  { path: 'dashboard', title: 'dashboard', order: 10, load: withTexts('account', () => import('./overview.tsx')) },
  userInformation,
  accounts('usersList'),
  roles,
  logOperation,
  apiTokens,
  apiDoc,
];
