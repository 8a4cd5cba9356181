import type { SameAs } from '../kit/text.ts';
import type texts from './text.zh_TW.ts';

export default {
  'menu.userInformation': 'My account',
  'menu.usersList': 'Accounts',
  'menu.users': 'Accounts',
  'menu.roles': 'Roles',

  'page.accounts': 'Accounts',
  'page.roles': 'Roles',

  'noun.accounts': 'account',
  'noun.roles': 'role',

  'empty.accounts': 'Create a customer, then open a site for them.',
  'empty.roles': 'A role is a set of permissions for sub-accounts.',

  'field.email': 'E-mail',
  'field.maxLogExportTimes': 'Log exports a day',
  'field.timezone': 'Time zone',
  'field.roleID': 'Role',
  'field.role': 'Role',
  'field.permissionKeys': 'Permissions',

  'help.maxLogExportTimes': 'How many log exports the account may start each day.',

  'action.setPassword': 'Set password',
  'action.unlock': 'Unlock',
  'action.lock': 'Lock',

  'auth.user': 'Customer',
  'auth.client': 'Operator',
  'auth.admin': 'Administrator',

  'language.zh_TW': '繁體中文',
  'language.zh_CN': '简体中文',
  'language.en_US': 'English',

  'account.saved': 'Changes take full effect at the next sign-in.',

  'page.apiTokens': 'API tokens',
  'noun.apiTokens': 'API token',
  'empty.apiTokens': 'A token lets a program act for you, within the permissions and networks you give it.',
  'menu.apiTokenSetting': 'API tokens',
  'menu.apiDoc': 'API documentation',
  'field.networks': 'Allowed networks',
  'field.ending': 'Ends with',
  'field.lastUsedAt': 'Last used',
  'field.lastIP': 'Last address',
  'field.accountName': 'Owner',

  'menu.logOperation': 'Audit log',
  'page.audit': 'Audit log',
  'noun.audit': 'entry',
  'empty.audit': 'Nothing has been done yet.',
} satisfies SameAs<typeof texts>;
