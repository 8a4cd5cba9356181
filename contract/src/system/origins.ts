/** Where an operator's customers may have origins although the addresses are private. */
import { calls } from '../kit/call.ts';
import { arr, int, obj, str, text } from '../kit/schema.ts';
import * as rules from '../rules.ts';

export const originAllow = calls(
  { base: '/client/setting/system', areas: ['client'], resource: 'originAllow' },
  {
    /** `environment`: what BREAKWATER_ORIGIN_ALLOW allows beside it, for everybody */
    'GET /originAllow': { answer: obj({ ranges: arr(text(50), 100), environment: arr(text(50), 100), version: int() }) },
    'PUT /originAllow': { body: obj({ ranges: arr(str(50), 100).check(rules.zodRule(rules.originRanges)) }) },
  },
);
