/** Which module of each type holds for a domain: one line for each type. */
import { moduleNone } from '#contract/limits.ts';
import type { CallKey } from '../kit/client.ts';
import type { FormField } from '../kit/resource.ts';
import { t } from '../kit/text.ts';

interface Assignment {
  /** of the module, as the domain's `moduleIDs` has it */
  type: string;
  action: 'cors' | 'customHeaders' | 'proxyRewrites' | 'urlRedirects';
  call: CallKey;
  field: FormField;
}
const one = (
  type: string,
  action: Assignment['action'],
  idField: 'corsID' | 'moduleID',
  call: CallKey,
  from: CallKey,
): Assignment => ({
  type,
  action,
  call,
  field: {
    name: idField,
    label: action,
    kind: 'remote',
    from,
    query: { pageSize: 500 },
    // the whole list comes at once: a site has at most 200 of a type
    none: { value: moduleNone, text: () => t('choice.none') },
    initial: moduleNone,
  },
});

export const assignments: readonly Assignment[] = [
  one('cors', 'cors', 'corsID', 'PUT /{area}/site/{siteID}/domains/module/cors', 'GET /{area}/site/{siteID}/module/cors'),
  one(
    'customHeader',
    'customHeaders',
    'moduleID',
    'PUT /{area}/site/{siteID}/domains/module/customHeader',
    'GET /{area}/site/{siteID}/module/customHeaders',
  ),
  one(
    'proxyRewrite',
    'proxyRewrites',
    'moduleID',
    'PUT /{area}/site/{siteID}/domains/module/proxyRewrite',
    'GET /{area}/site/{siteID}/module/proxyRewrites',
  ),
  one(
    'urlRedirect',
    'urlRedirects',
    'moduleID',
    'PUT /{area}/site/{siteID}/domains/module/urlRedirect',
    'GET /{area}/site/{siteID}/module/urlRedirects',
  ),
];
