/** The cache of a site, among the sections of its settings. */
import type { SettingSection } from '../kit/sections.tsx';
import { tabContent } from '../kit/tabs.tsx';

export const tabs: readonly SettingSection[] = [
  {
    name: 'cache',
    order: 20,
    group: 'cache',
    call: 'GET /{area}/site/{siteID}/setting/cacheRules',
    finds: ['duration', 'mode'],
    Content: tabContent(async () => (await import('./cache-rules.tsx')).CacheRules),
  },
  {
    name: 'purge',
    order: 25,
    group: 'cache',
    call: 'GET /{area}/site/{siteID}/setting/urlCaches',
    Content: tabContent(async () => (await import('./purge.tsx')).Purge),
  },
];
