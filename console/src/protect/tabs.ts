/** The firewall of a site, one tab for each kind of rule. */
import type { SettingSection } from '../kit/sections.tsx';
import { tabContent } from '../kit/tabs.tsx';

export const tabs: readonly SettingSection[] = [
  {
    name: 'whitelists',
    order: 60,
    group: 'protection',
    call: 'GET /{area}/site/{siteID}/firewall/setting/whitelists',
    finds: ['ips', 'urls'],
    Content: tabContent(async () => (await import('./whitelists.tsx')).Whitelists),
  },
  {
    name: 'blacklists',
    order: 65,
    group: 'protection',
    call: 'GET /{area}/site/{siteID}/firewall/setting/blacklists',
    finds: ['ips', 'blockType'],
    Content: tabContent(async () => (await import('./blacklists.tsx')).Blacklists),
  },
  {
    name: 'userAgents',
    order: 70,
    group: 'protection',
    call: 'GET /{area}/site/{siteID}/firewall/setting/userAgents',
    finds: ['userAgentRegex', 'blockType'],
    Content: tabContent(async () => (await import('./user-agents.tsx')).UserAgents),
  },
  {
    name: 'frequencies',
    order: 75,
    group: 'protection',
    call: 'GET /{area}/site/{siteID}/firewall/setting/frequencies',
    finds: ['seconds', 'times', 'frequencyType', 'colour'],
    Content: tabContent(async () => (await import('./frequencies.tsx')).Frequencies),
  },
  {
    name: 'limitReqs',
    order: 80,
    group: 'protection',
    call: 'GET /{area}/site/{siteID}/firewall/setting/limitReqs',
    finds: ['burst'],
    Content: tabContent(async () => (await import('./frequencies.tsx')).LimitReqs),
  },
  {
    name: 'errorPages',
    order: 85,
    group: 'answers',
    call: 'GET /{area}/site/{siteID}/errorPages',
    finds: ['code'],
    Content: tabContent(async () => (await import('./error-pages.tsx')).ErrorPages),
  },
];
