import { limitReqs } from '#contract/protect/limit-reqs.ts';
import { siteRows } from '../site/rows.ts';

export const limitReqCalls = siteRows(limitReqs);
