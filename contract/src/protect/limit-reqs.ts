/** How fast (§3 limitReqs): `rate` requests a second, and up to `burst` more at once. */
import { limitReqs as kind } from '../edge/kinds/limitReqs.ts';
import { bool, int, one, str } from '../kit/schema.ts';
import { siteList } from '../kit/site-list.ts';
import { frequencyBounds, frequencyTypes, listRows } from '../limits.ts';
import * as rules from '../rules.ts';

const fields = {
  /** pattern on path and query */
  urlRegex: str(1024).check(rules.zodRule(rules.urlRegex)),
  /** requests per second */
  rate: int(1, frequencyBounds.rateMax),
  /** requests that may come at once beyond that; they are paid back by the rate */
  burst: int(0, frequencyBounds.burstMax),
  /** whose requests are counted together */
  type: one(frequencyTypes),
  /** smaller comes first: it is the one a refused request names */
  priority: int(1, 100_000),
  enabled: bool(),
};
export const limitReqs = siteList({
  kind,
  most: listRows.countersMax,
  base: '/{area}/site/{siteID}/firewall/setting',
  resource: 'firewall',
  fields,
  sort: ['priority'],
});
