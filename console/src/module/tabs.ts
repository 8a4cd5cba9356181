/** Modules of a site, among the tabs of its settings. */
import type { Tab } from '../kit/screens.ts';
import { Cors } from './cors.tsx';
import { CustomHeaders } from './custom-headers.tsx';
import { ProxyRewrites } from './proxy-rewrites.tsx';
import { UrlRedirects } from './url-redirects.tsx';

export const tabs: readonly Tab[] = [
  { name: 'cors', order: 45, call: 'GET /{area}/site/{siteID}/module/cors', Content: Cors },
  { name: 'customHeaders', order: 50, call: 'GET /{area}/site/{siteID}/module/customHeaders', Content: CustomHeaders },
  { name: 'proxyRewrites', order: 55, call: 'GET /{area}/site/{siteID}/module/proxyRewrites', Content: ProxyRewrites },
  { name: 'urlRedirects', order: 40, call: 'GET /{area}/site/{siteID}/module/urlRedirects', Content: UrlRedirects },
];
