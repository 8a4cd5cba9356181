import { languages } from '#contract/kit/text.ts';
import { area } from '../kit/area.ts';
import { type FormField, options } from '../kit/resource.ts';

export const languageField: FormField = {
  name: 'language',
  kind: 'select',
  ...options(languages, 'languageName'),
  help: 'accountLanguage',
};

/** An operator makes customers and sub-accounts; everybody else one kind alone. */
export const createFields: FormField[] = [
  ...(area === 'client'
    ? [
        {
          name: 'auth',
          kind: 'segments',
          ...options(['user', 'client'], 'accountKind'),
          help: 'accountKind',
        } satisfies FormField,
      ]
    : []),
  { name: 'email', kind: 'text' },
  { name: 'name', kind: 'text' },
  {
    name: 'role',
    kind: 'remote',
    from: 'GET /{area}/metaRoles',
    help: 'role',
    when: values => area === 'user' || values['auth'] === 'client',
  },
  { name: 'password', label: 'firstPassword', kind: 'password', help: 'firstPassword' },
  languageField,
];

export const editFields: FormField[] = [
  { name: 'name', kind: 'text' },
  languageField,
  { name: 'maxLogExportTimes', kind: 'number', help: 'maxLogExportTimes' },
];
