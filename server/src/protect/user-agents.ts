import { userAgents } from '#contract/protect/user-agents.ts';
import { siteRows } from '../site/rows.ts';

export const userAgentCalls = siteRows(userAgents);
