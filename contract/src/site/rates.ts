/** How fast answers of a site are sent, by URL (calls.md, §5 of the calls: rate setting; §9: K/s). */
import { cacheRuleTypes, rateMax } from '../limits.ts';
import { calls } from '../kit/call.ts';
import { crud } from '../kit/crud.ts';
import { bool, int, one, text } from '../kit/schema.ts';
import * as rules from '../rules.ts';

const fields = {
  type: one(cacheRuleTypes),
  /** as in a cache rule. file type: `mp4,zip`; prefix and exact: a path; regex: a pattern on the path; site: empty */
  value: text(2048),
  /** K/s of each answer, K = `units.rateUnitBytes` */
  rate: int(1, rateMax),
  /** smaller comes first */
  priority: int(1, 100_000),
  enabled: bool(),
};

const { 'DELETE /rate': remove, ...rest } = crud('/rate', {
  list: '/rates',
  fields,
  check: schema => schema.check(rules.zodRule(rules.cacheRule)),
});

export const rates = calls(
  { base: '/{area}/site/{siteID}/setting', areas: ['user', 'client'], resource: 'siteSettings' },
  { ...rest, 'DELETE /rates': remove },
);
