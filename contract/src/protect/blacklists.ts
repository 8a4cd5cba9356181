/** Blacklists of a site (§3, §5 Blacklist IPs): visitors from these addresses are refused. */
import { bool, one, some, str, text } from '../kit/schema.ts';
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
};
export const blacklists = siteList({
  name: 'blacklists',
  table: 'blacklist',
  most: listRows.rulesMax,
  base: '/{area}/site/{siteID}/firewall/setting',
  resource: 'firewall',
  fields,
});
