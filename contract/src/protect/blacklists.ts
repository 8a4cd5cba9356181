/** Blacklists of a site (§3, §5 Blacklist IPs): visitors from these addresses are refused. */
import { blacklists as kind } from '../edge/kinds/blacklists.ts';
import { bool, nullable, one, some, str, text, time } from '../kit/schema.ts';
import { siteList } from '../kit/site-list.ts';
import { blockTypes, listRows } from '../limits.ts';
import * as rules from '../rules.ts';

const fields = {
  /** each an address, a CIDR, or a range `a-b` */
  ips: some(str(100), 10_000).check(rules.zodRule(rules.ips)),
  /** deny: 403; drop: the connection is closed without an answer (444) */
  blockType: one(blockTypes),
  memo: text(255),
  enabled: bool(),
  /** it is removed then; null: never */
  expiredAt: nullable(time()),
};
export const blacklists = siteList({
  kind,
  most: listRows.rulesMax,
  base: '/{area}/site/{siteID}/firewall/setting',
  resource: 'firewall',
  fields,
  sort: ['expiredAt'],
});
