import { whitelists } from '#contract/protect/whitelists.ts';
import { siteRows } from '../site/rows.ts';

export const whitelistCalls = siteRows(whitelists);
