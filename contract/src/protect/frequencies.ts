/** How often (§3 frequencies, §5 Frequency; decisions, "Rules and modules"): more than `times` requests within `seconds` meet the action. */
import { frequencies as kind } from '../edge/kinds/frequencies.ts';
import { bool, int, one, str } from '../kit/schema.ts';
import { siteList } from '../kit/site-list.ts';
import { frequencyActions, frequencyBounds, frequencyColours, frequencyTypes, listRows } from '../limits.ts';
import * as rules from '../rules.ts';

export const frequencyFields = {
  /** pattern on path and query */
  urlRegex: str(1024).check(rules.zodRule(rules.urlRegex)),
  seconds: int(1, frequencyBounds.secondsMax),
  /** requests that pass within `seconds` */
  times: int(1, frequencyBounds.timesMax),
  /** whose requests are counted together */
  type: one(frequencyTypes),
  /** limit: 929; drop: the connection is closed without an answer (444) */
  action: one(frequencyActions),
  /** smaller comes first: it is the one a refused request names */
  priority: int(1, 100_000),
  colour: one(frequencyColours),
  enabled: bool(),
};
export const frequencies = siteList({
  kind,
  most: listRows.countersMax,
  base: '/{area}/site/{siteID}/firewall/setting',
  resource: 'firewall',
  fields: frequencyFields,
  sort: ['priority'],
});
