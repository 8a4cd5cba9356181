import type { SameAs } from '../kit/text.ts';
import type texts from './late.zh_TW.ts';

export default {
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
} satisfies SameAs<typeof texts>;
