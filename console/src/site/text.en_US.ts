import type { SameAs } from '../kit/text.ts';
import type texts from './text.zh_TW.ts';

export default {
  'menu.sites': 'Sites',
  'menu.sitesSetting': 'Site settings',

  'page.sites': 'Sites',

  'noun.sites': 'site',

  'tab.gzip': 'HTTP compression',
  'page.rates': 'Download rates',
  'noun.rates': 'download rate',
  'tab.rates': 'Download rates',
  'empty.rates': 'Without rules answers are sent as fast as the line allows.',
  'field.speed': 'Rate',
  'help.speed': 'Of each answer; 1 K is 1,000 bytes. A visitor who opens several connections gets this on each.',
  'field.types': 'Media types',
  'field.minLength': 'Minimum length',
  'field.level': 'Level',
  'help.mediaTypes': 'One per line, for example text/css or image/svg+xml.',
  'help.compression': 'A change holds for what is fetched from then on. Purge the cache to apply it to everything.',
  'help.minLength': 'Shorter answers are sent as they are.',
  'help.compressionLevel': '1 is fastest, 9 is smallest.',

  'empty.sites': 'A site is made from a product. Once there, its customer can add domains.',
  'empty.sitesUser': 'Sites that the operator opens for you appear here.',

  'field.siteName': 'Site name',
  'field.statuses': 'Status',
  'field.productID': 'Product',
  'field.productName': 'Product',
  'field.portType': 'Ports',
  'field.userID': 'Customer',
  'field.userEmail': 'Customer',
  'field.domainCount': 'Domains',
  'field.revision': 'Revision',

  'warning.pauseSite': 'While paused, every domain of the site answers 904.',

  'applied.all': 'applied: {applied} of {nodes} {nodes, one: node, other: nodes}, {time}',
  'applied.allNoTime': 'applied: {applied} of {nodes} {nodes, one: node, other: nodes}',
  'applied.some': 'applying: {applied} of {nodes} {nodes, one: node, other: nodes}',
  'applied.none': 'this zone has no nodes yet',
  'applied.errors': '{count} {count, one: part, other: parts} could not be applied',
  'applied.refused': 'does not take {count} {count, one: part, other: parts}',
  'applied.unknownFields': 'does not know {count} {count, one: field, other: fields}: update this node',
  'appliedError.nodeRefused': 'node {node} does not take it: {why}',
  'appliedError.originRefused': 'nodes do not connect to {address} port {port} of {domain}',
  'appliedKind.module': 'Module',
  'appliedKind.certificate': 'Certificate',
  'appliedKind.challenge': 'Answer for a certificate authority',
  'appliedKind.port': 'port',
  'appliedKind.site': 'Site',
  'appliedKind.domain': 'Domain',
  'appliedKind.zone': 'Zone',
  'appliedKind.origin': 'Origin',

  'group.basic': 'Basics',
  'group.cache': 'Cache',
  'group.answers': 'Responses',
  'group.modules': 'Modules',
  'group.protection': 'Protection',
  'site.switch': 'Switch site',
  'site.backToList': 'Back to sites',
} satisfies SameAs<typeof texts>;
