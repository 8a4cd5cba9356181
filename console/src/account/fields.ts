import { languages } from '#contract/kit/text.ts';
import { role as roleChosen } from '#contract/rules/values.ts';
import { ofArea } from '../kit/of-area.ts';
import { type FormField, options, type Values } from '../kit/resource.ts';
import { t } from '../kit/text.ts';
import { passwordRules as rules } from './password-rules.tsx';

export const languageField: FormField = {
  name: 'language',
  kind: 'select',
  ...options(languages, 'languageName'),
  help: 'accountLanguage',
};

const kind: FormField = { name: 'auth', kind: 'segments', ...options(['user', 'client'], 'accountKind'), help: 'accountKind' };
const ofVendor: FormField = {
  name: 'auth',
  kind: 'segments',
  ...options(['client', 'admin'], 'auth'),
  help: 'accountOfVendor',
};
/** Roles are given to people of one's own house. */
const takesRole = ofArea({
  user: () => true,
  client: (values: Values) => values['auth'] === 'client',
  admin: (values: Values) => values['auth'] === 'admin',
});

const expired: FormField = {
  name: 'expired',
  kind: 'time',
  presets: ['month', 'year', 'never'],
  help: 'accountExpired',
  warn: value => (typeof value === 'string' && Date.parse(value) <= Date.now() ? t('warning.accountExpiredNow') : undefined),
};

/** An operator makes customers and sub-accounts, the vendor operators and administrators; a customer sub-accounts alone. */
export const createFields: FormField[] = [
  ...ofArea({ user: [], client: [kind], admin: [ofVendor] }),
  { name: 'email', kind: 'text' },
  { name: 'name', kind: 'text' },
  {
    name: 'role',
    kind: 'remote',
    from: 'GET /{area}/metaRoles',
    help: 'role',
    isOptional: false,
    rule: roleChosen,
    when: takesRole,
  },
  { name: 'password', label: 'firstPassword', kind: 'password', help: 'firstPassword', rules },
  languageField,
  expired,
];

export const editFields: FormField[] = [
  { name: 'name', kind: 'text' },
  languageField,
  expired,
  { name: 'maxLogExportTimes', kind: 'number', help: 'maxLogExportTimes' },
];
