/** Whitelists of a site (§3, §5 Whitelist URLs): who comes from here skips every protection. */
import { whitelists as kind } from '../edge/kinds/whitelists.ts';
import { arr, bool, nullable, str, text, time } from '../kit/schema.ts';
import { siteList } from '../kit/site-list.ts';
import { listRows } from '../limits.ts';
import * as rules from '../rules.ts';

const fields = {
  /** each an address, a CIDR, or a range `a-b` */
  ips: arr(str(100), 10_000).check(rules.zodRule(rules.optionalIPs)),
  /** addresses of the site below which the entry holds; none: all of it */
  urls: arr(text(2048), 1000).check(rules.zodRule(rules.whitelistURLs)),
  memo: text(255),
  enabled: bool(),
  /** it is removed then; null: never */
  expiredAt: nullable(time()),
};
export const whitelists = siteList({
  kind,
  most: listRows.rulesMax,
  base: '/{area}/site/{siteID}/firewall/setting',
  resource: 'firewall',
  fields,
  sort: ['expiredAt'],
  check: item => item.check(rules.zodRule(rules.whitelist)),
});
