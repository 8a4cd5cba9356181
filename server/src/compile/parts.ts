/** The parts of a site's document. */
import type { PartKind } from '#contract/edge/kinds/index.ts';
import { blacklists } from './kinds/blacklists.ts';
import { cacheRules } from './kinds/cacheRules.ts';
import { errorPages } from './kinds/errorPages.ts';
import { frequencies } from './kinds/frequencies.ts';
import { limitReqs } from './kinds/limitReqs.ts';
import { purges } from './kinds/purges.ts';
import { rates } from './kinds/rates.ts';
import { userAgents } from './kinds/userAgents.ts';
import { whitelists } from './kinds/whitelists.ts';
import type { PartSource } from './source.ts';

export const parts = {
  purges,
  cacheRules,
  rates,
  whitelists,
  blacklists,
  userAgents,
  frequencies,
  limitReqs,
  errorPages,
} satisfies {
  [K in PartKind]: PartSource<K, never>;
};
