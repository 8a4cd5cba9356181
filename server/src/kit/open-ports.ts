/** Ports of sites, against those that a zone has open. */
import { sql } from 'kysely';
import { Fail } from '#contract/errors.ts';
import { row, type Sql } from '../store/db.ts';
import type { Context } from './context.ts';

/**
 * Ports that these sites have open, and that the zone of the product has not.
 * @param sites a condition on `site s`
 * @param path the field that leads there
 * @throws 101011
 */
export async function checkPorts(ctx: Context, sites: Sql, productID: number, path: string): Promise<void> {
  const lacking = await row<{ port: number; scheme: string }>(
    ctx.db,
    sql`select o.port, o.scheme from product p join "group" g on g.id = p."groupID" join site s on s."deletedAt" is null and ${sites}
          join port o on o."siteID" = s.id and o."deletedAt" is null
        where p.id = ${productID} and not exists (select 1 from "zonePort" z where z."zoneID" = g."zoneID" and z.port = o.port and z.scheme = o.scheme
          and z."deletedAt" is null) limit 1`,
  );
  if (lacking) throw new Fail('inconsistentPorts', { errorData: [{ path, rule: 'portNotOpen', bounds: lacking }] });
}
