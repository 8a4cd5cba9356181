/** Cache rules and purges of a site (§3 Cache rule; decisions.md, Wire: durations in minutes, purge types). */
import { calls } from '../kit/call.ts';
import { crud } from '../kit/crud.ts';
import { arr, bool, id, int, list, obj, one, oneOf, page, record, some, str, text } from '../kit/schema.ts';
import { cacheModes, cacheRuleTypes, purgeTypes } from '../limits.ts';
import * as rules from '../rules.ts';
import { purgeType } from '../rules/purge.ts';

export const cacheRuleFields = {
  type: one(cacheRuleTypes),
  /** file type: `jpg,png`; prefix and exact: a path; regex: a pattern on the path; site: empty */
  value: text(2048),
  /** minutes; 0: do not cache */
  duration: int(0, 525_600),
  mode: one(cacheModes),
  /** smaller comes first */
  priority: int(1, 100_000),
  enabled: bool(),
};
/** A tag is refused with its reason: what is stored has no tags (edge/README.md, What is cached). */
const type = oneOf([purgeTypes.url, purgeTypes.prefix, purgeTypes.host, purgeTypes.tag]).check(rules.zodRule(purgeType));

export const cache = calls(
  { base: '/{area}/site/{siteID}/setting', areas: ['user', 'client'], resource: 'cache' },
  {
    ...crud('/cacheRule', {
      list: '/cacheRules',
      fields: cacheRuleFields,
      check: schema => schema.check(rules.zodRule(rules.cacheRule)),
    }),
    'DELETE /currentCache': {},
    'DELETE /urlCache': {
      body: obj({ type, urls: some(str(4096), 500) }),
      answer: obj({ ids: arr(id()) }),
      errors: ['multiple'],
    },
    'GET /urlCaches': {
      query: list({}),
      answer: page(
        obj({
          ...record,
          kind: one(['clear', 'preload']),
          type: int(0, 4),
          url: text(4096),
          status: one(['processing', 'completed', 'failed']),
          nodes: int(),
          applied: int(),
        }),
      ),
    },
  },
);
