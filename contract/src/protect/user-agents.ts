/** Rules on the User-Agent header of a site (§3 userAgents, §5 Non-empty): both patterns must match. */
import { calls } from '../kit/call.ts';
import { crud } from '../kit/crud.ts';
import { bool, one, str } from '../kit/schema.ts';
import { blockTypes } from '../edge/document.ts';
import * as rules from '../rules.ts';

const fields = {
  /** pattern on path and query */
  urlRegex: str(1024).check(rules.zodRule(rules.urlRegex)),
  userAgentRegex: str(1024).check(rules.zodRule(rules.userAgentRegex)),
  /** deny: 403; drop: the connection is closed without an answer (444) */
  blockType: one(blockTypes),
  enabled: bool(),
};
export const userAgents = calls(
  { base: '/{area}/site/{siteID}/firewall/setting', areas: ['user', 'client'], resource: 'firewall' },
  crud('/userAgents', { fields }),
);
