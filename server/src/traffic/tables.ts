import { sql } from 'kysely';
import { customerTable } from '../account/tables.ts';
import type { Actor } from '../kit/actor.ts';
import { col, eq, like, oneOf, table } from '../kit/table.ts';
import type { Sql } from '../store/db.ts';
import { productTable } from '../node/tables.ts';

/** A customer has what it bought, a sub-account of it what is sold of its sites; an operator all of it, a sub-account of his what is sold of its zones. */
const owner = (actor: Actor, a: string): Sql =>
  actor.area === 'user'
    ? sql`(${col('userID', a)} = ${actor.rootID} and ${
        actor.isRoot
          ? sql`true`
          : sql`exists (select 1 from site ts join "siteUser" tu on tu."siteID" = ts.id
              where ts."productID" = ${col('productID', a)} and ts."userID" = ${actor.rootID} and ts."deletedAt" is null and tu."userID" = ${actor.accountID})`
      })`
    : actor.area === 'client'
      ? sql`(${col('clientID', a)} = ${actor.rootID} and ${
          actor.isRoot
            ? sql`true`
            : sql`exists (select 1 from product tp join "group" tg on tg.id = tp."groupID" join "zoneAccount" za on za."zoneID" = tg."zoneID"
                where tp.id = ${col('productID', a)} and za."accountID" = ${actor.accountID})`
        })`
      : sql`false`;
const scope = { tenant: [['clientID'], ['userID']], owner };
const names = {
  userEmail: sql`select email from account a where a.id = t."userID"`,
  productName: sql`select name from product p where p.id = t."productID"`,
};
const productName = (name: string, a: string): Sql =>
  sql`exists (select 1 from product fp where fp.id = ${col('productID', a)} and ${like('name')(name, 'fp')})`;

export interface PlanRow extends Record<string, unknown> {
  id: number;
  version: number;
  createdAt: string;
  updatedAt: string;
  deletedAt: string | null;
  clientID: number;
  userID: number;
  userEmail: string;
  productID: number;
  productName: string;
  bytes: number;
  startTime: string;
  endTime: string;
  memo: string;
  usedBytes: number;
  state: 'planned' | 'holds' | 'usedUp' | 'over';
}
const used = sql`coalesce((select sum(d.bytes) from "trafficDraw" d where d."planID" = t.id), 0)::bigint`;
const planSort = ['productID', 'bytes', 'startTime', 'endTime', 'createdAt', 'updatedAt'];
const plans = {
  table: 'extraTrafficPlan',
  scope,
  refs: { userID: customerTable, productID: productTable },
  extra: {
    ...names,
    usedBytes: used,
    state: sql`case when t."endTime" <= now() then 'over' when t."startTime" > now() then 'planned' when ${used} >= t.bytes then 'usedUp' else 'holds' end`,
  },
} as const;
export const planTable = table<PlanRow>()({
  ...plans,
  sort: ['userID', ...planSort],
  filters: { userID: eq('userID'), productID: eq('productID'), productName },
});
/** The same as its customer sees it: all of it is its own. */
export const ownPlanTable = table<PlanRow>()({ ...plans, sort: planSort, filters: { productName } });

export interface UsageRow extends Record<string, unknown> {
  id: number;
  userID: number;
  userEmail: string;
  productID: number;
  productName: string;
  year: number;
  month: number;
  startTime: string;
  endTime: string;
  days: number[];
  bytes: number;
  baseBytes: number;
  extraBytes: number;
  action: 'none' | 'limit' | 'notify';
  state: 'normal' | 'warning' | 'limited';
  sellType: 'plan' | 'usage';
  trafficPrice: number;
  isCurrent: boolean;
  countedAt: string | null;
  countedTo: string | null;
}
const usageSort = ['productID', 'year', 'month', 'bytes', 'baseBytes', 'state'];
const monthFilters = { year: eq('year'), month: eq('month'), states: oneOf('state') };
const usages = {
  table: 'trafficMonth',
  scope,
  soft: false,
  order: sql`t.year desc, t.month desc, t.bytes desc, t.id`,
  extra: {
    ...names,
    isCurrent: sql`t."startTime" <= now() and t."endTime" > now()`,
    countedAt: sql`select "countedAt" from "trafficCount" k where k."clientID" = t."clientID"`,
    countedTo: sql`coalesce((select coalesce(c."countedTo", to_timestamp(0)) from "trafficCalendar" c where c."clientID" = t."clientID" and c.year = t.year and c.month = t.month),
      (select "countedAt" from "trafficCount" k where k."clientID" = t."clientID"))`,
  },
} as const;
export const usageTable = table<UsageRow>()({
  ...usages,
  sort: ['userID', ...usageSort],
  filters: { userID: eq('userID'), productID: eq('productID'), ...monthFilters },
});
export const ownUsageTable = table<UsageRow>()({ ...usages, sort: usageSort, filters: monthFilters });
