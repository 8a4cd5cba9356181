import type { SameAs } from '../kit/text.ts';
import type texts from './text.zh_TW.ts';

export default {
  'page.blacklists': 'Blacklist',
  'page.whitelists': 'Whitelist',
  'page.userAgents': 'User-Agent rules',

  'noun.blacklists': 'blacklist entry',
  'noun.whitelists': 'whitelist entry',
  'noun.userAgents': 'User-Agent rule',

  'empty.blacklists': 'Visitors from the addresses listed are refused.',
  'empty.whitelists': 'Addresses and URLs listed here skip every protection.',
  'empty.userAgents': 'Refuse requests by their User-Agent.',

  'field.ips': 'IPs',
  'field.blockType': 'Action',
  'field.urlRegex': 'URL pattern',
  'field.userAgentRegex': 'User-Agent pattern',

  'help.ips': 'One per line: an address, a CIDR, or a range a-b.',
  'help.urlsOfWhitelist': 'One URL per line.',
  'help.urlRegex': 'A regular expression on path and query; .* means every URL.',
  'help.userAgentRegex': 'A regular expression on the User-Agent header.',

  'tab.blacklists': 'Blacklist',
  'tab.whitelists': 'Whitelist',
  'tab.userAgents': 'User-Agent rules',

  'blockType.deny': 'Deny (403)',
  'blockType.drop': 'Drop (444)',

  'page.frequencies': 'Frequency limits',
  'page.limitReqs': 'Request rate limits',
  'noun.frequencies': 'frequency limit',
  'noun.limitReqs': 'request rate limit',
  'empty.frequencies': 'Visitors who send too many requests within a span of time are refused.',
  'empty.limitReqs': 'Limit requests per second, with room for short bursts.',
  'tab.frequencies': 'Frequency limits',
  'tab.limitReqs': 'Request rate limits',
  'field.seconds': 'Within',
  'field.times': 'Requests',
  'field.frequencyType': 'Counted by',
  'field.action': 'Beyond that',
  'field.colour': 'Label',
  'field.rate': 'Rate',
  'field.burst': 'Burst',
  'help.times': 'Requests that pass within that time; what comes beyond meets the action below.',
  'help.burst': 'Requests that may come at once beyond the rate.',
  'help.frequencyType': 'Which requests are counted together.',
  'frequencyType.ip': 'IP',
  'frequencyType.ipURL': 'IP + URL',
  'frequencyType.ipUserAgent': 'IP + User-Agent',
  'frequencyType.site': 'Whole site',
  'frequencyAction.limit': 'Refuse (929)',
  'frequencyAction.drop': 'Drop (444)',
  'colour.grey': 'Grey',
  'colour.red': 'Red',
  'colour.orange': 'Orange',
  'colour.yellow': 'Yellow',
  'colour.green': 'Green',
  'colour.blue': 'Blue',
  'colour.purple': 'Purple',
  'frequency.says': '{times} in {seconds} s',
  'limitReq.says': '{rate}/s, burst {burst}',

  'menu.errorSetting': 'Error settings',
  'page.errorPages': 'Error pages',
  'noun.errorPages': 'error page',
  'empty.errorPages': "Until a page is made here, visitors see the operator's page of a status, or the edge's own.",
  'note.errorPages':
    "The site's own page counts; for a status it has none for, the operator's page does, and without that the edge's own.",
  'note.systemErrorPages':
    'These hold on the sites of all your zones; where a site has its own page for a status, that one counts. Zones have no error pages of their own.',
  'note.frequencies':
    "The operator's frequency limits hold on this site too; they count by themselves, and going over any one of them is enough.",
  'note.systemFrequencies':
    "These hold on the sites of all your zones, beside the sites' own; each counts by itself, and going over any one of them is enough. Zones have no frequency limits of their own.",
  'empty.systemErrorPages': 'Pages made here hold on every site that has none of its own for that status.',
  'empty.systemFrequencies': 'Frequency limits made here hold on every site, beside those of the site itself.',
  'tab.errorPages': 'Error pages',
  'field.code': 'Status code',
  'field.content': 'Content',
  'help.errorPageCode': "One page for each status; it comes before the operator's. 929: too many requests.",
  'help.systemErrorPageCode': 'One page for each status. 903: no site of that name; 929: too many requests.',
  'help.errorPageContent': 'HTML, an address or a script, by the type. {{requestID}} becomes the number of the request.',
  'errorPageType.content': 'HTML',
  'errorPageType.urlRedirect': 'Redirect',
  'errorPageType.javascript': 'JavaScript',

  'field.expiredAt': 'Ends',
  'help.expiredAt': 'It is removed by itself at this time, on all nodes within a second. Left empty, it stays.',
} satisfies SameAs<typeof texts>;
