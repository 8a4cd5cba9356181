import type { SameAs } from '../kit/text.ts';
import type texts from './late.zh_TW.ts';

export default {
  'system.note': 'It concerns your own operator alone.',
} satisfies SameAs<typeof texts>;
