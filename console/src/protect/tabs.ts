/** The firewall of a site, one tab for each kind of rule. */
import type { Tab } from '../kit/screens.ts';
import { Blacklists } from './blacklists.tsx';
import { ErrorPages } from './error-pages.tsx';
import { Frequencies, LimitReqs } from './frequencies.tsx';
import { UserAgents } from './user-agents.tsx';
import { Whitelists } from './whitelists.tsx';

export const tabs: readonly Tab[] = [
  { name: 'whitelists', order: 40, call: 'GET /{area}/site/{siteID}/firewall/setting/whitelists', Content: Whitelists },
  { name: 'blacklists', order: 50, call: 'GET /{area}/site/{siteID}/firewall/setting/blacklists', Content: Blacklists },
  { name: 'userAgents', order: 60, call: 'GET /{area}/site/{siteID}/firewall/setting/userAgents', Content: UserAgents },
  { name: 'frequencies', order: 62, call: 'GET /{area}/site/{siteID}/firewall/setting/frequencies', Content: Frequencies },
  { name: 'limitReqs', order: 64, call: 'GET /{area}/site/{siteID}/firewall/setting/limitReqs', Content: LimitReqs },
  { name: 'errorPages', order: 66, call: 'GET /{area}/site/{siteID}/errorPages', Content: ErrorPages },
];
