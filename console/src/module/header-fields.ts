/** Headers as a form asks for them: of a module, and of one domain. */
import { headerNames } from '#contract/rules/lists.ts';
import { errorCodes } from '#contract/errors/codes.ts';
import type { FormField } from '../kit/resource.ts';

const header: FormField[] = [
  { name: 'name', kind: 'mono', width: 200, label: 'headerName', placeholder: 'X-Frame-Options' },
  { name: 'value', kind: 'mono', label: 'headerValue', isOptional: true, initial: '' },
];
const list = (name: 'request' | 'response'): FormField => ({
  name,
  kind: 'list',
  add: 'addHeader',
  help: name === 'request' ? 'requestHeaders' : 'responseHeaders',
  template: () => ({ name: '', value: '' }),
  fields: header,
  initial: [],
  rule: headerNames,
});
export const headerFields: FormField[] = [list('request'), list('response')];
export const headerDrawerPx = 720;
/** A form says itself that a name stands twice (§8: 10102502 is suppressed here). */
export const headerErrors = { suppress: [errorCodes.duplicateKeys[0]] };
