/** Rules on the User-Agent header of a site (§3 userAgents, §5 Non-empty): both patterns must match. */
import { userAgents as kind } from '../edge/kinds/userAgents.ts';
import { bool, one, str } from '../kit/schema.ts';
import { siteList } from '../kit/site-list.ts';
import { blockTypes, listRows } from '../limits.ts';
import * as rules from '../rules.ts';

const fields = {
  /** pattern on path and query */
  urlRegex: str(1024).check(rules.zodRule(rules.urlRegex)),
  userAgentRegex: str(1024).check(rules.zodRule(rules.userAgentRegex)),
  /** deny: 403; drop: the connection is closed without an answer (444) */
  blockType: one(blockTypes),
  enabled: bool(),
};
export const userAgents = siteList({
  kind,
  most: listRows.rulesMax,
  base: '/{area}/site/{siteID}/firewall/setting',
  resource: 'firewall',
  fields,
});
