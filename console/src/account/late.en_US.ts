import type { SameAs } from '../kit/text.ts';
import type texts from './late.zh_TW.ts';

export default {
  'field.displayName': 'Display name',
  'field.newPassword': 'New password',
  'field.firstPassword': 'Password',
  'field.client': 'Operator',
  'field.createdBy': 'Created by',

  'action.setRole': 'Set role',
  'action.customers': 'Show customers',

  'help.accountKind': 'A customer has sites of its own; a sub-account helps you manage.',
  'help.role': 'A sub-account may do what its role grants; without a role it sees nothing.',
  'help.firstPassword': 'At least 8 characters. Left empty, the account cannot sign in until a password is set.',
  'help.setPassword': 'At least 8 characters. Saving signs this account out everywhere.',
  'help.accountLanguage': 'Language of mails and system messages.',
  'help.ownLanguage': 'Language of the console, of mails and of system messages.',
  'help.timezone': 'Decides the days and months of reports. Times on screen follow the browser.',
  'help.timezoneClient':
    'Decides the days of reports, the months of traffic and daily limits. Times on screen follow the browser.',
  'help.permissionKeys': 'Whoever may edit may view. You can grant only what you hold yourself.',

  'warning.stopAccount': 'The account is signed out everywhere at once and cannot sign in.',
  'warning.removeRole': 'Sub-accounts with this role lose its permissions.',

  'empty.accountsUser': 'Create sub-accounts so that colleagues can manage sites too.',
  'empty.accountsAdmin': 'Create an operator, who then sets up zones, products and customers.',

  'accountKind.user': 'Customer',
  'accountKind.client': 'Sub-account',
  'languageName.zh_TW': '繁體中文',
  'languageName.zh_CN': '简体中文',
  'languageName.en_US': 'English',

  'account.own': 'This is your own account',
  'account.notBelow': 'Only accounts below yours can be managed',
  'account.wider': 'This account sees more zones or sites than you do',
  'account.moreKeys': 'This account holds more permissions than you do',
  'account.noPassword': 'No password yet',
  'account.subOf': 'Sub-account ({auth})',
  'account.setPasswordTitle': 'Set password: {email}',
  'account.setRoleTitle': 'Set role: {email}',
  'account.changePassword': 'Change password',
  'account.passwordNotYours': 'Not possible while acting for another account',

  'proxy.title': 'Sign in as this account?',
  'proxy.newTab': 'It opens in a new tab.',
  'proxy.replaces': 'Your own session in this browser is replaced; you will have to sign in again afterwards.',

  'role.resource': 'Resource',
  'role.view': 'View',
  'role.edit': 'Edit',
  'role.mayView': '{resource} (view)',
  'role.mayEdit': '{resource}',
  'role.comma': ', ',
  'role.nothing': 'No permissions',

  'resource.accounts': 'Accounts',
  'resource.roles': 'Roles',
  'resource.sites': 'Sites',
  'resource.siteSettings': 'Site settings',
  'resource.modules': 'Modules',
  'resource.domains': 'Domains and origins',
  'resource.cache': 'Cache',
  'resource.firewall': 'Firewall',
  'resource.retention': 'Retention',
  'resource.statistics': 'Statistics',
  'resource.logs': 'Access logs',
  'resource.zones': 'Zones',
  'resource.originAllow': 'Private origins',
  'resource.systemFrequencies': 'Frequencies of all sites',
  'resource.errorPages': 'Error pages',
  'resource.systemErrorPages': 'Error pages of all sites',
  'resource.nodes': 'Nodes',
  'resource.groups': 'Resolution groups',
  'resource.products': 'Products',
} satisfies SameAs<typeof texts>;
