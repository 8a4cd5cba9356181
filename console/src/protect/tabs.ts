/** The firewall of a site, one tab for each kind of rule. */
import type { Tab } from '../site/settings.tsx';
import { Blacklists } from './blacklists.tsx';

export const firewallTabs: Tab[] = [
  { name: 'blacklists', call: 'GET /{area}/site/{siteID}/firewall/setting/blacklists', Content: Blacklists },
];
