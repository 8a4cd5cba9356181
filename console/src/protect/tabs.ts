/** The firewall of a site, one tab for each kind of rule. */
import type { Tab } from '../kit/screens.ts';
import { Blacklists } from './blacklists.tsx';
import { ErrorPages } from './error-pages.tsx';
import { Frequencies, LimitReqs } from './frequencies.tsx';
import { UserAgents } from './user-agents.tsx';
import { Whitelists } from './whitelists.tsx';

export const tabs: readonly Tab[] = [
  { name: 'whitelists', order: 60, call: 'GET /{area}/site/{siteID}/firewall/setting/whitelists', Content: Whitelists },
  { name: 'blacklists', order: 65, call: 'GET /{area}/site/{siteID}/firewall/setting/blacklists', Content: Blacklists },
  { name: 'userAgents', order: 70, call: 'GET /{area}/site/{siteID}/firewall/setting/userAgents', Content: UserAgents },
  { name: 'frequencies', order: 75, call: 'GET /{area}/site/{siteID}/firewall/setting/frequencies', Content: Frequencies },
  { name: 'limitReqs', order: 80, call: 'GET /{area}/site/{siteID}/firewall/setting/limitReqs', Content: LimitReqs },
  { name: 'errorPages', order: 85, call: 'GET /{area}/site/{siteID}/errorPages', Content: ErrorPages },
];
