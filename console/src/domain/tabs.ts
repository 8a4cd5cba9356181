/** The domains of a site, among the tabs of its settings. */
import type { Tab } from '../kit/screens.ts';
import { Domains } from './domains.tsx';

export const tabs: readonly Tab[] = [{ name: 'domains', order: 10, call: 'GET /{area}/site/{siteID}/domains', Content: Domains }];
