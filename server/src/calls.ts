/** Every implementation, and what the ids of paths mean. A new resource is one import and one line. */
import { groups } from '#contract/index.ts';
import { accountCalls, roleCalls } from './account/accounts.ts';
import { sessionCalls } from './account/session.ts';
import { logCalls, statisticsCalls } from './analytics/analytics.ts';
import { cacheCalls } from './cache/cache.ts';
import { domainCalls } from './domain/domains.ts';
import type { Implementation } from './kit/implement.ts';
import { createServer, type MountOptions } from './kit/mount.ts';
import { nodeCalls, nodeSelfCalls } from './node/nodes.ts';
import { groupCalls, productCalls, zoneCalls } from './node/zones.ts';
import { blacklistCalls } from './protect/blacklists.ts';
import { userAgentCalls } from './protect/user-agents.ts';
import { whitelistCalls } from './protect/whitelists.ts';
import { appliedCalls, clientSiteCalls, userSiteCalls } from './site/sites.ts';
import { siteTable } from './site/tables.ts';
import { retentionCalls } from './system/retention.ts';
import { originAllowCalls } from './system/origins.ts';
import { statusCalls } from './system/status.ts';
import { resourceInfoCalls } from './site/resource-info.ts';

export const implementations: readonly Implementation[] = [
  sessionCalls,
  accountCalls,
  roleCalls,
  zoneCalls,
  groupCalls,
  productCalls,
  nodeCalls,
  nodeSelfCalls,
  clientSiteCalls,
  userSiteCalls,
  resourceInfoCalls,
  appliedCalls,
  domainCalls,
  cacheCalls,
  blacklistCalls,
  whitelistCalls,
  userAgentCalls,
  statisticsCalls,
  logCalls,
  retentionCalls,
  originAllowCalls,
  statusCalls,
];

/** Path parameters that mean the same row everywhere. */
export const sharedParams = { siteID: siteTable };

export const createApi = (options: Pick<MountOptions, 'services' | 'log' | 'checkAnswers' | 'trustedProxies'>) =>
  createServer({ ...options, groups, implementations, params: sharedParams });
