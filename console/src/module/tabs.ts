/** Modules of a site, among the sections of its settings. */
import type { SettingSection } from '../kit/sections.tsx';
import { tabContent } from '../kit/tabs.tsx';

export const tabs: readonly SettingSection[] = [
  {
    name: 'cors',
    order: 45,
    group: 'modules',
    call: 'GET /{area}/site/{siteID}/module/cors',
    finds: ['allowOrigin', 'allowMethods', 'allowHeaders', 'exposeHeaders', 'maxAge'],
    Content: tabContent(async () => (await import('./cors.tsx')).Cors),
  },
  {
    name: 'customHeaders',
    order: 50,
    group: 'modules',
    call: 'GET /{area}/site/{siteID}/module/customHeaders',
    finds: ['request', 'response', 'headerName'],
    Content: tabContent(async () => (await import('./custom-headers.tsx')).CustomHeaders),
  },
  {
    name: 'proxyRewrites',
    order: 55,
    group: 'modules',
    call: 'GET /{area}/site/{siteID}/module/proxyRewrites',
    Content: tabContent(async () => (await import('./proxy-rewrites.tsx')).ProxyRewrites),
  },
  {
    name: 'urlRedirects',
    order: 40,
    group: 'modules',
    call: 'GET /{area}/site/{siteID}/module/urlRedirects',
    finds: ['redirectTarget', 'statusCode', 'keepQuery'],
    Content: tabContent(async () => (await import('./url-redirects.tsx')).UrlRedirects),
  },
];
