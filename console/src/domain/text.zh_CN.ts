import type { SameAs } from '../kit/text.ts';
import type texts from './text.zh_TW.ts';

export default {
  'page.domains': '域名',
  'page.upstreams': '源站',

  'noun.domains': '域名',
  'noun.upstreams': '源站',

  'empty.domains': '新建域名并填写源站，就会开始服务访客。',
  'empty.upstreams': '至少需要一个源站。',

  'field.domainName': '域名',
  'field.balance': '负载均衡',
  'field.originHost': '回源 Host',
  'field.cnameStatus': 'CNAME',
  'field.cnameStatuses': 'CNAME',
  'field.certStatus': '证书',
  'field.forceSSL': '强制 HTTPS',
  'field.upstreamCount': '源站数',
  'field.upstreams': '源站',
  'field.address': 'IP 或域名',
  'field.weight': '权重',
  'field.maxFails': '失败次数上限',
  'field.failTimeout': '失败暂停时间',

  'help.originHost': '留空时使用访客的 Host。',

  'action.addUpstream': '新建源站',
  'action.upstreams': '源站',
  'action.originHost': '回源 Host',
  'action.balance': '负载均衡',

  'tab.domains': '域名',

  'balance.roundRobin': '轮询',
  'balance.ipHash': 'IP 哈希',
  'balance.urlHash': 'URL 哈希',

  'cnameState.unset': '未设置',
  'cnameState.wrong': '错误',
  'cnameState.active': '已生效',

  'certState.unset': '未设置',
  'certState.pending': '等待中',
  'certState.processing': '申请中',
  'certState.success': '已签发',
  'certState.fail': '失败',
  'certState.applyFailed': '申请失败',
  'certState.enabled': '已启用',
  'certState.disabled': '已禁用',

  'forced.1': '已强制 HTTPS',
  'forced.0': '未强制 HTTPS',

  'protocol.http': 'HTTP',
  'protocol.https': 'HTTPS',
  'protocol.follow': '跟随',
} satisfies SameAs<typeof texts>;
