/** The domains of a site, among the sections of its settings. */
import type { SettingSection } from '../kit/sections.tsx';
import { withTexts } from '../kit/screens.ts';
import { tabContent } from '../kit/tabs.tsx';

export const tabs: readonly SettingSection[] = [
  {
    name: 'domains',
    order: 10,
    group: 'basic',
    call: 'GET /{area}/site/{siteID}/domains',
    finds: [
      'upstreams',
      'balance',
      'autoSSL',
      'forceSSL',
      'scheme',
      'portMap',
      'originHost',
      'verify',
      'certStatus',
      'cnameStatus',
      'tags',
    ],
    Content: tabContent(async () => (await import('./domains.tsx')).Domains),
  },
  {
    name: 'ports',
    order: 11,
    group: 'basic',
    call: 'GET /{area}/site/{siteID}/ports',
    finds: ['port', 'scheme', 'upstreams'],
    Content: tabContent(withTexts('site', async () => (await import('./ports.tsx')).Ports)),
  },
  {
    name: 'certificates',
    order: 12,
    group: 'basic',
    call: 'GET /{area}/site/{siteID}/certificates',
    finds: ['sslName', 'certificate', 'issuer', 'notAfter'],
    Content: tabContent(async () => (await import('./certificates.tsx')).Certificates),
  },
];
