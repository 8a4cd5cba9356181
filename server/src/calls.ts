/** Every implementation, and what the ids of paths mean. A folder says what it has in its own index; a further folder is one line. */
import { groups } from '#contract/index.ts';
import * as account from './account/index.ts';
import * as analytics from './analytics/index.ts';
import * as cache from './cache/index.ts';
import * as domain from './domain/index.ts';
import * as module from './module/index.ts';
import * as node from './node/index.ts';
import * as protect from './protect/index.ts';
import * as site from './site/index.ts';
import * as system from './system/index.ts';
import type { Implementation } from './kit/implement.ts';
import { createServer, type MountOptions } from './kit/mount.ts';
import { siteTable } from './site/tables.ts';

const folders: Record<string, Record<string, Implementation>> = {
  account,
  analytics,
  cache,
  domain,
  module,
  node,
  protect,
  site,
  system,
};
export const implementations: readonly Implementation[] = Object.values(folders).flatMap(folder => Object.values(folder));

/** Path parameters that mean the same row everywhere. */
export const sharedParams = { siteID: siteTable };

export const createApi = (options: Pick<MountOptions, 'services' | 'log' | 'checkAnswers' | 'trustedProxies'>) =>
  createServer({ ...options, groups, implementations, params: sharedParams });
