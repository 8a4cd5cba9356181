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

  'note.siteDNS':
    'With the DNS account that holds a domain, wildcards and names that HTTP cannot prove get certificates: a record is put there, and taken away once it is seen.',
  'empty.siteDNS': 'Add a DNS account, and wildcards get certificates by themselves too.',

  'field.keyName': 'Key name or ID',
  'field.credentials': 'Key or token',
  'field.tsigName': 'TSIG key name',
  'field.algorithm': 'TSIG algorithm',
  'field.tsigSecret': 'TSIG key (base64)',
  'field.dnsTokenID': 'Token ID',
  'field.dnsToken': 'API token',
  'field.accessKeyID': 'Access key ID',
  'field.accessKeySecret': 'Access key secret',

  'help.dnsServer':
    'The primary name server, which takes dynamic updates (RFC 2136); with its port if that is not 53, such as ns1.example.com:5353.',
  'help.dnsCredentials': 'Kept encrypted and never shown again. It needs the right to change records of these domains, no more.',
  'help.dnsToken': 'Kept encrypted and never shown again. It needs the rights to list zones and to change DNS records, no more.',
  'help.dnsCredentialsAnew': 'Left empty, it stays as it is; another provider needs its own.',

  'action.dnsZones': 'Check domains',

  'dnsProvider.rfc2136': 'Own name server (RFC 2136)',
  'dnsProvider.cloudflare': 'Cloudflare',
  'dnsProvider.dnspod': 'DNSPod',
  'dnsProvider.route53': 'Amazon Route 53',
  'dnsProvider.aliyun': 'Alibaba Cloud DNS',

  'tsigAlgorithm.hmacSHA256': 'HMAC-SHA256',
  'tsigAlgorithm.hmacSHA384': 'HMAC-SHA384',
  'tsigAlgorithm.hmacSHA512': 'HMAC-SHA512',
  'tsigAlgorithm.hmacSHA1': 'HMAC-SHA1',

  'dnsZones.title': '{name}: domains it can prove',
  'dnsZones.text': 'What the provider answered just now: which of the domains lie in zones of this account.',
  'dnsZones.none': 'The site has no domains yet.',
  'dnsZone.success': 'Can be proven',
  'dnsZone.warning': 'Not in this account',

  'https.title': '{name}: what is missing for https',
  'https.done': '{name} is served over https',
  'https.stepDone': 'Done',
  'https.dns': 'DNS',
  'https.leads.here': 'The name leads to the edge.',
  'https.leads.elsewhere':
    'The name leads to {addresses}, which is no node of ours. Point it to the edge. If a device of your own stands between, it may be right as it is: the next step tells.',
  'https.leads.none': 'The name has no address yet. Point it to the edge.',
  'https.leads.unknown': 'Where the name leads cannot be told at the moment. The next step tells whether it is right.',
  'https.proof': 'Proof for the authority',
  'https.proof.off': 'Auto SSL is off: nobody asks for a certificate.',
  'https.proof.byHand': 'Not needed: the certificate was put there by hand.',
  'https.proof.waits': 'It is about to be asked for.',
  'https.proof.runs': 'Under way.',
  'https.proof.seen': 'The authority has seen that the domain is yours.',
  'https.proof.failed': 'It did not come about.',
  'https.again': 'Tried again {time}.',
  'https.switchOn': 'Switch on Auto SSL',
  'https.certificate': 'Certificate',
  'https.shown.none': 'None yet. It is shown as soon as there is one, and nothing is to be done for it.',
  'https.shown.shown': 'Shown to visitors, good until {until}.',
  'https.shown.ended': 'It ended {until}: browsers warn visitors.',
} satisfies SameAs<typeof texts>;
