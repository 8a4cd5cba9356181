import type { SameAs } from '../kit/text.ts';
import type texts from './text.zh_TW.ts';

export default {
  'menu.logger': '访问日志',

  'page.logger': '访问日志',

  'noun.logger': '日志',

  'empty.logger': '这段时间没有请求。',

  'field.domain': '域名',
  'field.referer': 'Referer',
  'field.userAgent': 'User-Agent',
  'field.reason': '拦截原因',
  'field.requestID': '请求 ID',
  'field.requestTimeMs': '响应时间',
  'field.upstreamTimeMs': '源站响应时间',
  'field.upstreamBytes': '回源流量',
  'field.remoteIP': '访客 IP',
  'field.method': '方法',
  'field.uri': '网址',
  'field.cacheStatus': '缓存状态',
} satisfies SameAs<typeof texts>;
