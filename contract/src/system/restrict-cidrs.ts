/** From which networks the people and API tokens of an operator may come (§3 restrict group CIDRs; decisions.md). None: from everywhere. */
import { calls } from '../kit/call.ts';
import { arr, int, obj, str, text } from '../kit/schema.ts';
import * as rules from '../rules.ts';

export const restrictCIDRsMax = 100;
export const restrictGroupCIDRs = calls(
  { base: '/client/setting/system', areas: ['client'], resource: 'restrictGroupCIDRs' },
  {
    /** `address`: where this very question comes from */
    'GET /restrictGroupCIDRs': { answer: obj({ cidrs: arr(text(64), restrictCIDRsMax), address: text(64), version: int() }) },
    /** Refused where whoever asks would be out, and where a sub-account lets less in than before: that is its root's to say. */
    'PUT /restrictGroupCIDRs': { body: obj({ cidrs: arr(str(64), restrictCIDRsMax).check(rules.zodRule(rules.networks)) }) },
  },
);
