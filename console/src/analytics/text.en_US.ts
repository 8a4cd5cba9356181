import type { SameAs } from '../kit/text.ts';
import type texts from './text.zh_TW.ts';

export default {
  'menu.logger': 'Access log',

  'page.logger': 'Access log',

  'noun.logger': 'log line',

  'empty.logger': 'No requests in this period.',

  'field.domain': 'Domain',
  'field.referer': 'Referer',
  'field.userAgent': 'User-Agent',
  'field.reason': 'Blocked by',
  'field.requestID': 'Request ID',
  'field.requestTimeMs': 'Response time',
  'field.upstreamTimeMs': 'Origin time',
  'field.upstreamBytes': 'From origin',
  'field.remoteIP': 'Visitor IP',
  'field.method': 'Method',
  'field.uri': 'URI',
  'field.cacheStatus': 'Cache',
} satisfies SameAs<typeof texts>;
