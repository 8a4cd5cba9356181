import { sql } from 'kysely';
import type * as z from 'zod/mini';
import type { Site } from '#contract/site/sites.ts';
import { customerTable } from '../account/tables.ts';
import type { Actor } from '../kit/actor.ts';
import { col, eq, like, overlaps, table } from '../kit/table.ts';
import type { Sql } from '../store/db.ts';
import { productTable } from '../node/tables.ts';

export type SiteRow = z.output<typeof Site> & { clientID: number; cacheGeneration: number; changedAt: string | null };

/** Sites that are shown in one of these states (contract/src/states.ts): whose time is over is nothing else. */
const shown = (states: string[], a: string) =>
  sql`case when coalesce(${col('expired', a)} <= now(), false) then 'expired' else ${col('status', a)} end = any(${states})`;

const seen = (actor: Actor, a: string): Sql =>
  actor.area === 'user'
    ? sql`(${col('userID', a)} = ${actor.rootID} and ${
        actor.isRoot
          ? sql`true`
          : sql`exists (select 1 from "siteUser" su where su."siteID" = ${col('id', a)} and su."userID" = ${actor.accountID})`
      })`
    : actor.area === 'client'
      ? sql`(${col('clientID', a)} = ${actor.rootID} and ${
          actor.isRoot
            ? sql`true`
            : sql`exists (select 1 from product sp join "group" sg on sg.id = sp."groupID" join "zoneAccount" za on za."zoneID" = sg."zoneID"
                where sp.id = ${col('productID', a)} and za."accountID" = ${actor.accountID})`
        })`
      : sql`false`;

/** A customer sees its sites, a sub-user those assigned to it; an operator its customers', a sub-account those in its zones. */
export const siteTable = table<SiteRow>()({
  table: 'site',
  scope: {
    tenant: [['clientID'], ['userID']],
    owner: (actor, a) =>
      // a token may be for some sites alone
      actor.token?.siteIDs ? sql`(${col('id', a)} = any(${actor.token.siteIDs}) and ${seen(actor, a)})` : seen(actor, a),
  },
  sort: ['siteName', 'status', 'expired', 'productID', 'createdAt', 'updatedAt'],
  filters: {
    siteName: like('siteName'),
    tags: overlaps('tags'),
    status: (state: string, a) => shown([state], a),
    statuses: shown,
    productID: eq('productID'),
    productName: (name: string, a) =>
      sql`exists (select 1 from product fp where fp.id = ${col('productID', a)} and ${like('name')(name, 'fp')})`,
    portType: (type: string, a) =>
      sql`exists (select 1 from product fp where fp.id = ${col('productID', a)} and fp."portType" = ${type})`,
    zoneID: (id: number, a) =>
      sql`exists (select 1 from product fp join "group" fg on fg.id = fp."groupID" where fp.id = ${col('productID', a)} and fg."zoneID" = ${id})`,
  },
  refs: { productID: productTable, userID: customerTable },
  unique: { site_name: 'duplicated' },
  edge: { kind: 'site', column: 'id' },
  closed: true,
  extra: {
    productName: sql`select name from product p where p.id = t."productID"`,
    portType: sql`select p."portType" from product p where p.id = t."productID"`,
    isExpired: sql`coalesce(t.expired <= now(), false)`,
    zoneID: sql`select g."zoneID" from product p join "group" g on g.id = p."groupID" where p.id = t."productID"`,
    zoneName: sql`select z.name from product p join "group" g on g.id = p."groupID" join zone z on z.id = g."zoneID" where p.id = t."productID"`,
    userEmail: sql`select email from account a where a.id = t."userID"`,
    // who is gone sees nothing any more, though the pair stays until it is swept
    users: sql`coalesce((select array_agg(su."userID" order by su."userID") from "siteUser" su
      join account ua on ua.id = su."userID" and ua."deletedAt" is null where su."siteID" = t.id), '{}')`,
    domainCount: sql`select count(*) from domain d where d."siteID" = t.id and d."deletedAt" is null`,
  },
});
