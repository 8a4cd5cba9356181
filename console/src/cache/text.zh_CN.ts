import type { SameAs } from '../kit/text.ts';
import type texts from './text.zh_TW.ts';

export default {
  'page.cacheRules': '缓存规则',
  'page.purges': '清除缓存',

  'noun.cacheRules': '缓存规则',
  'noun.purges': '清除任务',

  'empty.cacheRules': '没有规则时，缓存遵循源站的响应头。',
  'empty.purges': '清除缓存的记录会显示在这里。',

  'field.value': '内容',
  'field.duration': '缓存时间',
  'field.progress': '进度',

  'help.zeroNoCache': '0 代表不缓存。',
  'help.fileType': '扩展名，以逗号分隔，例如 jpg,png,css。',

  'tab.cache': '缓存规则',
  'tab.purge': '清除缓存',

  'cacheType.fileType': '文件类型',
  'cacheType.prefix': '前缀',
  'cacheType.exact': '完全匹配',
  'cacheType.regex': '正则表达式',
  'cacheType.site': '整个站点',

  'cacheMode.followOrigin': '遵循源站',
  'cacheMode.forceCache': '强制缓存',

  'purgeType.0': '整个站点',
  'purgeType.1': '网址',
  'purgeType.2': '前缀',
  'purgeType.3': '主机',
  'purgeType.4': '标签',

  'purge.what': '清除什么',
  'purge.url': '网址',
  'purge.host': '主机',
  'purge.hostHint': '每行一个：www.example.com 或 *.example.com',
  'purge.addDomain': '加入这个站点的域名…',
  'purge.noDomain': '没有其他域名',
  'purge.prefix': '前缀',
  'purge.site': '整个站点',
  'purge.hint': '一行一个完整网址，例如 https://example.com/logo.png',
  'purge.prefixHint': '一行一个前缀，例如 https://example.com/images/',
  'purge.line': '一行一条',
  'purge.tasks': '清除记录',
  'purge.progress': '{nodes} 个节点中的 {applied} 个',
} satisfies SameAs<typeof texts>;
