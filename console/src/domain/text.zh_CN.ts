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

  'warning.removeDomains': '这些域名与它们的源站、设置会一并删除，访客立即得到 903。',
  'domains.noSuch': '找不到域名“{name}”：可能已被删除，或不属于这个站点。',
  'domains.removeByNames': '按名称删除…',
  'domains.namesTitle': '按名称删除域名',
  'domains.pasteNames': '一行一个域名；粘贴网址也可以。只会删除这个站点里找得到的域名，提交之前每一行都会先标示。',
  'domains.judged': '各行的结果',
  'domains.removeFound': '删除 {count} 个域名',
  'domains.removing': '删除中：{total} 个中的 {done} 个',
  'domains.removed': '已删除 {count} 个域名。',
  'nameVerdict.found': '会删除',
  'nameVerdict.notFound': '不在这个站点',
  'nameVerdict.wrong': '不是域名',
  'nameVerdict.twice': '重复',
  'nameVerdicts.found': '{count} 个会删除',
  'nameVerdicts.notFound': '{count} 个不在这个站点',
  'nameVerdicts.wrong': '{count} 行不是域名',
  'nameVerdicts.twice': '{count} 行重复',
} satisfies SameAs<typeof texts>;
