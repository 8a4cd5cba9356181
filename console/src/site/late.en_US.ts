import type { SameAs } from '../kit/text.ts';
import type texts from './late.zh_TW.ts';

export default {
  'field.sharedWith': 'Shared with',
  'action.share': 'Share…',
  'action.expired': 'Set expiry…',

  'help.siteExpired':
    'Once it has expired, all its domains answer 904 and no origin is asked. Settings, domains and cache are kept: with a later time, or never, it is served again.',
  'help.siteTags': 'At most 50. Tags that are in use already are offered.',
  'warning.expiredNow': 'This time has passed: with it, the site answers 904 at once.',
  'share.title': 'Share {name}',
  'share.titleMany': 'Share {count} {count, one: site, other: sites}',
  'share.visible':
    'A sub-account sees only the sites that are shared with it. What it may view or edit there is what its role says; without a role it sees nothing. The customer’s main account always sees all of its sites.',
  'share.withdrawing': 'Once a site is withdrawn, the sub-account no longer sees it, at once. The site itself goes on as it is.',
  'share.of': 'Sub-accounts of {email}',
  'share.comma': ', ',
  'share.choose': 'Choose sub-accounts to share with',
  'share.give': 'Share',
  'share.take': 'Withdraw',
  'share.withdrawn': 'Withdrawn.',
  'share.already': 'already shared',
  'share.some': '{count} of the {total} chosen sites',
  'share.noRole': 'No role: it sees nothing',
  'share.nobody': 'Shared with no sub-account yet: only the main account sees it.',
  'share.noAccounts': 'There is no sub-account to share with.',

  'empty.ports': 'Add a port that the zone has, and the domains are served beyond 80 and 443.',
  'note.ports':
    'All domains of the site are served at these ports, from the origins of the port or, without any, from those of the domain. Each port has a cache of its own.',
  'field.portVisitors': 'Who may connect',
  'help.sitePort': 'Ports that the zone has; ask the operator for more.',
  'help.portVisitors': 'One a line: an IP, a CIDR, or a range with “-”. Empty: everybody may connect; who may not gets 903.',
  'help.portMapOfPort': 'Where origins of this port are asked that follow the protocol; it stays on while there is one.',
  'action.asDomain': 'Use the domain’s origins',
  'warning.asDomain': 'The port’s own origins are deleted; from now on those of the domain answer.',
  'ports.asDomain': 'those of the domain',
  'ports.everybody': 'everybody',
  'ports.origins': 'For requests at this port alone; without any, the origins of the domain are asked.',
  'ports.follow': 'Origins that follow are asked over {scheme} at {port}.',
  'portScheme.http': 'HTTP',
  'portScheme.https': 'HTTPS',
  'portScheme.tcp': 'TCP (layer 4)',
  'portScheme.udp': 'UDP (layer 4)',
} satisfies SameAs<typeof texts>;
