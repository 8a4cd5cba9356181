import type { SameAs } from '../kit/text.ts';
import type texts from './text.zh_TW.ts';

export default {
  'menu.licenses': '授权',
  'menu.offlineLicense': '离线授权',
} satisfies SameAs<typeof texts>;
