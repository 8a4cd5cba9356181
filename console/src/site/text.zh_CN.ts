import type { SameAs } from '../kit/text.ts';
import type texts from './text.zh_TW.ts';

export default {
  'menu.sites': '站点',
  'menu.sitesSetting': '站点设置',

  'page.sites': '站点',

  'noun.sites': '站点',

  'tab.gzip': 'HTTP 压缩',
  'page.rates': '下载速率',
  'noun.rates': '下载速率规则',
  'tab.rates': '下载速率',
  'empty.rates': '没有规则时，以线路允许的最快速度发送。',
  'field.speed': '速率',
  'help.speed': '每个响应的速率；1 K 为 1,000 字节。同时打开多个连接时，每个连接分别计算。',
  'field.types': '媒体类型',
  'field.minLength': '最小长度',
  'field.level': '压缩级别',
  'help.mediaTypes': '一行一个，例如 text/css 或 image/svg+xml。',
  'help.compression': '更改只应用于之后从源站获取的内容；要立即应用到全部内容，请清除缓存。',
  'help.minLength': '较短的响应不压缩。',
  'help.compressionLevel': '1 最快，9 最小。',

  'empty.sites': '站点由产品开通；新建之后，客户就能加入域名。',
  'empty.sitesUser': '运营商为您开通站点之后，会显示在这里。',

  'field.siteName': '站点名称',
  'field.statuses': '状态',
  'field.productID': '产品',
  'field.productName': '产品',
  'field.portType': '端口类型',
  'field.userID': '客户',
  'field.userEmail': '客户',
  'field.domainCount': '域名数',
  'field.revision': '版本',

  'warning.pauseSite': '暂停期间，站点的所有域名都返回 904。',

  'applied.all': '已应用：{nodes} 个节点中的 {applied} 个，{time}',
  'applied.allNoTime': '已应用：{nodes} 个节点中的 {applied} 个',
  'applied.some': '应用中：{nodes} 个节点中的 {applied} 个',
  'applied.none': '这个区域还没有节点',
  'applied.errors': '{count} 个部分无法应用',
  'applied.refused': '不接受其中 {count} 个部分',
  'applied.unknownFields': '不认识 {count} 个字段：请更新此节点',
  'appliedError.nodeRefused': '节点 {node} 不接受：{why}',
  'appliedError.originRefused': '节点不连接 {domain} 的源站 {address}（端口 {port}）',
  'appliedKind.module': '模块',
  'appliedKind.certificate': '证书',
  'appliedKind.challenge': '证书验证回应',
  'appliedKind.port': '端口',
  'appliedKind.site': '站点',
  'appliedKind.domain': '域名',
  'appliedKind.zone': '区域',
  'appliedKind.origin': '源站',

  'group.basic': '基本',
  'group.cache': '缓存',
  'group.answers': '响应',
  'group.modules': '模块',
  'group.protection': '防护',
  'site.switch': '切换站点',
  'site.backToList': '返回站点',
} satisfies SameAs<typeof texts>;
