import type { SameAs } from '../kit/text.ts';
import type texts from './text.zh_TW.ts';

export default {
  'menu.vNode': '虚拟节点',
  'menu.dnsSetting': 'DNS 设置',
  'menu.cname': 'CNAME 域名',
} satisfies SameAs<typeof texts>;
