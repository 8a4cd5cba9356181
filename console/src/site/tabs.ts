/** Every section of a site's settings: one line for each folder. In their order: domains, cache, delivery, modules, protection. */
import { tabs as cache } from '../cache/tabs.ts';
import { tabs as domain } from '../domain/tabs.ts';
import { withTexts } from '../kit/screens.ts';
import type { SettingSection } from '../kit/sections.tsx';
import { tabContent } from '../kit/tabs.tsx';
import { tabs as modules } from '../module/tabs.ts';
import { tabs as protect } from '../protect/tabs.ts';

/** What is of the site as a whole. */
const site: readonly SettingSection[] = [
  {
    name: 'siteDNS',
    order: 14,
    group: 'basic',
    call: 'GET /{area}/site/{siteID}/setting/dns',
    finds: ['dnsProvider', 'server'],
    Content: tabContent(withTexts('site', async () => (await import('./site-dns.tsx')).SiteDNS)),
  },
  {
    name: 'gzip',
    order: 30,
    group: 'answers',
    call: 'GET /{area}/site/{siteID}/setting/gzip',
    finds: ['types', 'minLength', 'level'],
    Content: tabContent(async () => (await import('./gzip.tsx')).Gzip),
  },
  {
    name: 'rates',
    order: 35,
    group: 'answers',
    call: 'GET /{area}/site/{siteID}/setting/rates',
    finds: ['speed'],
    Content: tabContent(async () => (await import('./rates.tsx')).Rates),
  },
];

export const tabs: readonly SettingSection[] = [...cache, ...domain, ...modules, ...protect, ...site].sort(
  (a, b) => a.order - b.order,
);
