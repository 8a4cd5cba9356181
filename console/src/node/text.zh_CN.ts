import type { SameAs } from '../kit/text.ts';
import type texts from './text.zh_TW.ts';

export default {
  'menu.zones': '区域',
  'menu.zoneSetting': '区域设置',
  'menu.nodes': '节点',
  'menu.groups': '解析分组',
  'menu.products': '产品',
  'menu.systemUpgrade': '系统升级',
  'menu.autoCertificates': '自动证书',

  'field.version': '版本',

  'action.add': '添加',

  'role.main': '主要',
  'role.backup': '备用',
  'portType.7': '第 7 层',
  'portType.7+4': '第 7 层与第 4 层',
} satisfies SameAs<typeof texts>;
