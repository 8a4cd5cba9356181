import type { SameAs } from '../kit/text.ts';
import type texts from './text.zh_TW.ts';

export default {
  'page.cacheRules': 'Cache rules',
  'page.purges': 'Purges',

  'noun.cacheRules': 'cache rule',
  'noun.purges': 'purge',

  'empty.cacheRules': 'Without rules the cache follows the headers of the origin.',
  'empty.purges': 'What has been purged appears here.',

  'field.value': 'Match',
  'field.duration': 'Duration',
  'field.progress': 'Progress',

  'help.zeroNoCache': '0 means do not cache.',
  'help.fileType': 'File extensions, separated by commas: jpg,png,css.',

  'tab.cache': 'Cache rules',
  'tab.purge': 'Purge',

  'cacheType.fileType': 'File type',
  'cacheType.prefix': 'Prefix',
  'cacheType.exact': 'Exact',
  'cacheType.regex': 'Regular expression',
  'cacheType.site': 'Whole site',

  'cacheMode.followOrigin': 'Follow origin',
  'cacheMode.forceCache': 'Force cache',

  'purgeType.0': 'Whole site',
  'purgeType.1': 'URL',
  'purgeType.2': 'Prefix',
  'purgeType.3': 'Host',
  'purgeType.4': 'Tag',

  'purge.what': 'What to purge',
  'purge.url': 'URLs',
  'purge.host': 'Host',
  'purge.hostHint': 'One per line: www.example.com or *.example.com',
  'purge.addDomain': 'Add a domain of this site…',
  'purge.noDomain': 'No further domain',
  'purge.prefix': 'Prefixes',
  'purge.site': 'Whole site',
  'purge.hint': 'One full URL per line, for example https://example.com/logo.png',
  'purge.prefixHint': 'One prefix per line, for example https://example.com/images/',
  'purge.line': 'One per line',
  'purge.tasks': 'Purges',
  'purge.progress': '{applied} of {nodes} {nodes, one: node, other: nodes}',
} satisfies SameAs<typeof texts>;
