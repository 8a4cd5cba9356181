import type { SameAs } from '../kit/text.ts';
import type texts from './text.zh_TW.ts';

export default {
  'menu.licenses': 'Licenses',
  'menu.offlineLicense': 'Offline licenses',
} satisfies SameAs<typeof texts>;
