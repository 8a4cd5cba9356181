/** Every tab of a site's settings: one line for each folder. In their order: domains, cache, delivery, modules, protection. */
import { tabs as cache } from '../cache/tabs.ts';
import { tabs as domain } from '../domain/tabs.ts';
import type { Tab } from '../kit/screens.ts';
import { tabs as modules } from '../module/tabs.ts';
import { tabs as protect } from '../protect/tabs.ts';
import { Gzip } from './gzip.tsx';
import { Rates } from './rates.tsx';

/** What is of the site as a whole. */
const site: readonly Tab[] = [
  { name: 'gzip', order: 30, call: 'GET /{area}/site/{siteID}/setting/gzip', Content: Gzip },
  { name: 'rates', order: 35, call: 'GET /{area}/site/{siteID}/setting/rates', Content: Rates },
];

export const tabs: readonly Tab[] = [...cache, ...domain, ...modules, ...protect, ...site].sort((a, b) => a.order - b.order);
