import type { SameAs } from '../kit/text.ts';
import type texts from './text.zh_TW.ts';

export default {
  'menu.vNode': 'Virtual nodes',
  'menu.dnsSetting': 'DNS settings',
  'menu.cname': 'CNAME zones',
} satisfies SameAs<typeof texts>;
