/** The firewall of a site, one tab for each kind of rule. */
import type { Tab } from '../site/settings.tsx';
import { Blacklists } from './blacklists.tsx';
import { UserAgents } from './user-agents.tsx';
import { Whitelists } from './whitelists.tsx';

export const firewallTabs: Tab[] = [
  { name: 'whitelists', call: 'GET /{area}/site/{siteID}/firewall/setting/whitelists', Content: Whitelists },
  { name: 'blacklists', call: 'GET /{area}/site/{siteID}/firewall/setting/blacklists', Content: Blacklists },
  { name: 'userAgents', call: 'GET /{area}/site/{siteID}/firewall/setting/userAgents', Content: UserAgents },
];
