/** The table: every group of calls, and their types by key. A folder says what it has in its own index; a further folder is one line. */
import { type ApiOf, type Declared, type Group, groupsOf, type GroupsOf } from './kit/call.ts';
import * as account from './account/index.ts';
import * as analytics from './analytics/index.ts';
import * as cache from './cache/index.ts';
import * as domain from './domain/index.ts';
import * as licence from './licence/index.ts';
import * as module from './module/index.ts';
import * as node from './node/index.ts';
import * as protect from './protect/index.ts';
import * as resolution from './resolution/index.ts';
import * as site from './site/index.ts';
import * as system from './system/index.ts';
import * as traffic from './traffic/index.ts';

/** By the name of the folder, in the order of `groups`. */
export const folders = {
  account,
  analytics,
  cache,
  domain,
  licence,
  module,
  node,
  protect,
  resolution,
  site,
  system,
  traffic,
} as const satisfies Record<string, Record<string, Declared>>;
type Folders = typeof folders;

export const groups: readonly Group[] = Object.values(folders).flatMap(folder =>
  Object.values<Declared>(folder).flatMap(groupsOf),
);

/** One interface for each folder: the checker reads members of interfaces one by one, and a large mapped type whole. */
type All<G> = (G extends unknown ? (given: ApiOf<G>) => void : never) extends (given: infer I) => void ? I : never;
type Of<F extends keyof Folders> = All<GroupsOf<Folders[F][keyof Folders[F]]>>;
interface Account extends Of<'account'> {}
interface Analytics extends Of<'analytics'> {}
interface Cache extends Of<'cache'> {}
interface Domain extends Of<'domain'> {}
interface Licence extends Of<'licence'> {}
interface Module extends Of<'module'> {}
interface Node extends Of<'node'> {}
interface Protect extends Of<'protect'> {}
interface Resolution extends Of<'resolution'> {}
interface Site extends Of<'site'> {}
interface System extends Of<'system'> {}
interface Traffic extends Of<'traffic'> {}

export interface Api
  extends Account, Analytics, Cache, Domain, Licence, Module, Node, Protect, Resolution, Site, System, Traffic {}
