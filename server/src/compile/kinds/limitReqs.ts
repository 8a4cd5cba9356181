import type { frequencyTypes } from '#contract/limits.ts';
import { byID, siteList } from '../source.ts';

export interface LimitReqRow {
  id: number;
  urlRegex: string;
  rate: number;
  burst: number;
  type: (typeof frequencyTypes)[number];
  priority: number;
}
export const limitReqs = siteList<'limitReqs', LimitReqRow>(
  'limitReq',
  ['id', 'urlRegex', 'rate', 'burst', 'type', 'priority'],
  (rows, head) => ({
    ...head,
    limitReqs: rows
      .sort(byID)
      .map(({ id, urlRegex, rate, burst, type, priority }) => ({ id, urlRegex, rate, burst, by: type, priority })),
  }),
);
