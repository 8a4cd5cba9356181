import type { SameAs } from '../kit/text.ts';
import type texts from './text.zh_TW.ts';

export default {
  'menu.zones': '区域',
  'menu.zoneSetting': '区域设置',
  'menu.nodes': '节点',
  'menu.groups': '解析分组',
  'menu.products': '产品',
  'menu.autoCertificates': '自动证书',

  'page.zones': '区域',
  'page.nodes': '节点',
  'page.groups': '解析分组',
  'page.products': '产品',
  'page.autoCertificates': '自动证书',

  'noun.zones': '区域',
  'noun.nodes': '节点',
  'noun.groups': '分组',
  'noun.products': '产品',
  'noun.autoCertificates': '自动证书',

  'empty.zones': '区域是一组共用设置的节点，请先新建一个。',
  'empty.nodes': '用“加入节点”获取命令，在机器上执行后节点就会出现。',
  'empty.line': '加入节点之后，这条线路就会返回它们的地址。',
  'empty.groups': '分组决定域名解析到哪些节点。',
  'empty.products': '产品是您销售的内容：一个分组与它的上限。',

  'field.nodeCount': '节点数',
  'field.productCount': '产品数',
  'field.addresses': '地址',
  'field.version': '版本',
  'field.lastBeat': '最后上报',
  'field.startedAt': '启动时间',
  'field.behind': '尚未应用',
  'field.aside': '未计入的日志',
  'field.refused': '拒绝的配置',
  'field.groupID': '分组',
  'field.groupName': '分组',
  'field.siteLimit': '站点上限',
  'field.domainLimit': '域名上限',
  'field.autoSSLLimit': '自动证书上限',
  'field.sellType': '销售方式',
  'field.trafficPrice': '每 GB 单价',
  'field.defaultState': '默认状态',
  'field.lines': '自定义解析线路',
  'field.cidrs': '网段',
  'field.asns': 'ASN',
  'field.line': '解析线路',

  'help.lines': '供来自这些网段或运营商（ASN）的访客使用；其他访客使用默认线路。',
  'help.trafficPrice': '发往访客的流量每 GB（10⁹ 字节）的价格，币种由您决定。',

  'warning.pauseNode': '暂停的节点不再提供服务。',
  'warning.deinitialize': '节点会离开它的区域。',

  'action.add': '添加',
  'action.addLine': '新建线路',
  'action.groups': '解析',
  'action.zoneSetting': '设置',
  'action.join': '加入节点',
  'action.initialize': '初始化',
  'action.deinitialize': '移出区域',
  'action.assignNodes': '线路节点',

  'tab.initialized': '已初始化',
  'tab.uninitialized': '未初始化',

  'sellType.plan': '包月',
  'sellType.usage': '按用量',

  'nodeType.edge': '边缘',
  'nodeType.relay': '中转',

  'lineKind.default': '默认线路',

  'role.main': '主要',
  'role.backup': '备用',

  'join.title': '加入节点',
  'join.text': '在要加入的机器上以 root 执行下面的命令。执行后，节点会出现在“未初始化”，或直接进入选择的区域。',
  'join.make': '生成命令',
  'join.until': '有效至 {time}，只能使用一次。',
  'join.later': '稍后再决定',
} satisfies SameAs<typeof texts>;
