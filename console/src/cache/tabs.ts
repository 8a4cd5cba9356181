/** The cache of a site, among the tabs of its settings. */
import type { Tab } from '../kit/screens.ts';
import { CacheRules } from './cache-rules.tsx';
import { Purge } from './purge.tsx';

export const tabs: readonly Tab[] = [
  { name: 'cache', order: 20, call: 'GET /{area}/site/{siteID}/setting/cacheRules', Content: CacheRules },
  { name: 'purge', order: 25, call: 'GET /{area}/site/{siteID}/setting/urlCaches', Content: Purge },
];
