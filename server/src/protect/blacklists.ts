import { blacklists } from '#contract/protect/blacklists.ts';
import { siteRows } from '../site/rows.ts';

export const blacklistCalls = siteRows(blacklists);
