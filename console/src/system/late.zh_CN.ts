import type { SameAs } from '../kit/text.ts';
import type texts from './late.zh_TW.ts';

export default {
  'system.note': '只影响自己的运营商。',
} satisfies SameAs<typeof texts>;
