/** Cache rules and purges of a site (§3 Cache rule; decisions.md, Wire: durations in minutes, purge types). */
import { calls } from '../kit/call.ts';
import { crud } from '../kit/crud.ts';
import { arr, bool, id, int, list, obj, one, oneOf, page, record, some, str, text } from '../kit/schema.ts';
import { cacheModes, cacheRuleTypes } from '../edge/document.ts';
import * as rules from '../rules.ts';

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
/** 1 URL, 2 prefix, 3 host, 4 tag */
export const purgeTypes = [1, 2, 3] as const;

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
      body: obj({ type: oneOf(purgeTypes), urls: some(str(4096), 500) }),
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
