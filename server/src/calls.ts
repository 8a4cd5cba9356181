/** Every implementation, and what the ids of paths mean. A folder says what it has in its own index; a further folder is one line. */
import { groups } from '#contract/index.ts';
import { isModuleGroup } from '#contract/kit/module.ts';
import { isSettingGroup, type SettingLevel } from '#contract/kit/setting.ts';
import * as account from './account/index.ts';
import * as analytics from './analytics/index.ts';
import * as cache from './cache/index.ts';
import * as domain from './domain/index.ts';
import { domainTable } from './domain/tables.ts';
import * as licence from './licence/index.ts';
import * as module from './module/index.ts';
import * as node from './node/index.ts';
import { moduleRows } from './module/rows.ts';
import { zoneTable } from './node/tables.ts';
import * as protect from './protect/index.ts';
import * as resolution from './resolution/index.ts';
import * as site from './site/index.ts';
import * as system from './system/index.ts';
import * as traffic from './traffic/index.ts';
import type { Implementation } from './kit/implement.ts';
import { createServer, type MountOptions } from './kit/mount.ts';
import { implementSetting } from './kit/setting.ts';
import type { Table } from './kit/table.ts';
import { isSiteList, siteRows } from './site/rows.ts';
import { siteTable } from './site/tables.ts';
import { historyCalls } from './system/history.ts';

const folders: Record<string, Record<string, Implementation>> = {
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
};
/** Path parameters that mean the same row everywhere. */
export const sharedParams = { siteID: siteTable };

const written: readonly Implementation[] = Object.values(folders).flatMap(folder => Object.values(folder));
/** Whose id the path of a setting ends with. */
const levelTables: Partial<Record<SettingLevel, Table>> = { zone: zoneTable, domain: domainTable };
/** Lists, settings and modules that refuse nothing beyond their contract are what they declare, and written nowhere. */
const rest = groups.filter(group => !written.some(one => one.group === group));
const listed: readonly Implementation[] = [
  ...written,
  ...rest.filter(isSiteList).map(group => siteRows(group)),
  ...rest.filter(isModuleGroup).map(({ module: declared }) => moduleRows(declared)),
  ...rest.filter(isSettingGroup).map(({ settingAt: { setting, level } }) => implementSetting(setting, level, levelTables[level])),
];
export const implementations: readonly Implementation[] = [...listed, historyCalls(listed, sharedParams)];

export const createApi = (options: Pick<MountOptions, 'services' | 'log' | 'checkAnswers' | 'trustedProxies'>) =>
  createServer({ ...options, groups, implementations, params: sharedParams });
