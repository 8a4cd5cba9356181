/** Whitelists of a site (§3, §5 Whitelist URLs): who comes from here skips every protection. */
import { calls } from '../kit/call.ts';
import { crud } from '../kit/crud.ts';
import { arr, bool, opt, str, text } from '../kit/schema.ts';
import * as rules from '../rules.ts';

const fields = {
  /** each an address, a CIDR, or a range `a-b` */
  ips: arr(str(100), 10_000).check(rules.zodRule(rules.optionalIPs)),
  /** addresses of the site below which the entry holds; none: all of it */
  urls: arr(text(2048), 1000).check(rules.zodRule(rules.whitelistURLs)),
  memo: opt(text(255)),
  enabled: bool(),
};
export const whitelists = calls(
  { base: '/{area}/site/{siteID}/firewall/setting', areas: ['user', 'client'], resource: 'firewall' },
  crud('/whitelists', { fields, check: item => item.check(rules.zodRule(rules.whitelist)) }),
);
