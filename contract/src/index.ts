/** The table: every group of calls, and their types by key. A new resource is one import and one line in each list. */
import type { ApiOf, Group } from './kit/call.ts';
import { accounts, roles } from './account/accounts.ts';
import { logs, statistics } from './analytics/analytics.ts';
import { session } from './account/session.ts';
import { cache } from './cache/cache.ts';
import { domains } from './domain/domains.ts';
import { nodes, nodeSelf } from './node/nodes.ts';
import { groups as nodeGroups, products, zones } from './node/zones.ts';
import { blacklists } from './protect/blacklists.ts';
import { userAgents } from './protect/user-agents.ts';
import { whitelists } from './protect/whitelists.ts';
import { retention } from './system/retention.ts';
import { originAllow } from './system/origins.ts';
import { status } from './system/status.ts';
import { applied, clientSites, resourceInfo, userSites } from './site/sites.ts';

export const groups: readonly Group[] = [
  session,
  accounts,
  roles,
  zones,
  nodeGroups,
  products,
  nodes,
  nodeSelf,
  clientSites,
  userSites,
  resourceInfo,
  applied,
  domains,
  cache,
  blacklists,
  whitelists,
  userAgents,
  statistics,
  logs,
  retention,
  originAllow,
  status,
];

export interface Api
  extends
    ApiOf<typeof session>,
    ApiOf<typeof accounts>,
    ApiOf<typeof roles>,
    ApiOf<typeof zones>,
    ApiOf<typeof nodeGroups>,
    ApiOf<typeof products>,
    ApiOf<typeof nodes>,
    ApiOf<typeof nodeSelf>,
    ApiOf<typeof clientSites>,
    ApiOf<typeof userSites>,
    ApiOf<typeof resourceInfo>,
    ApiOf<typeof applied>,
    ApiOf<typeof domains>,
    ApiOf<typeof cache>,
    ApiOf<typeof blacklists>,
    ApiOf<typeof whitelists>,
    ApiOf<typeof userAgents>,
    ApiOf<typeof statistics>,
    ApiOf<typeof logs>,
    ApiOf<typeof retention>,
    ApiOf<typeof originAllow>,
    ApiOf<typeof status> {}
