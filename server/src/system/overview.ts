/** `GET /admin/installation`: counted, never listed, but for the operators with the most sites. */
import { sql } from 'kysely';
import type * as z from 'zod/mini';
import { installation, type Licences, type Operator, operatorsMost } from '#contract/system/installation.ts';
import { licenceEndsSoonDays } from '#contract/limits.ts';
import { version } from '../kit/own-version.ts';
import { implement } from '../kit/implement.ts';
import { row, rows, type Sql } from '../store/db.ts';

export { version };

const live = (alias: string): Sql => sql`${sql.ref(`${alias}.deletedAt`)} is null`;
const isOperator = sql`a.auth = 'client' and a."isRoot" and ${live('a')}`;
const isCustomer = sql`a.auth = 'user' and a."isRoot" and ${live('a')}`;

const holds = sql`(not o."isGone" and coalesce(o."expiredAt" > now(), true))`;

interface Counts {
  since: string;
  operatorCount: number;
  customers: number;
  sites: number;
  domains: number;
}
export const installationCalls = implement(installation, {
  'GET /installation': async ({ ctx: { db, services } }) => {
    const counts = await row<Counts>(
      db,
      sql`select (select min("createdAt") from account) as since,
        (select count(*) from account a where ${isOperator}) as "operatorCount",
        (select count(*) from account a where ${isCustomer}) as customers,
        (select count(*) from site s where ${live('s')}) as sites,
        (select count(*) from domain d where ${live('d')}) as domains`,
    );
    const licenses = await row<z.output<typeof Licences>>(
      db,
      sql`select count(o.id) filter (where ${holds}) as "inForce",
          count(o.id) filter (where ${holds} and o."expiredAt" < now() + ${licenceEndsSoonDays} * interval '1 day') as "endingSoon",
          count(o.id) filter (where not ${holds}) as ended, count(*) filter (where o.id is null) as unlimited
        from account a left join "licenseOrder" o on o."clientID" = a.id where ${isOperator}`,
    );
    const listed = await rows<Omit<z.output<typeof Operator>, 'licenseState' | 'licenseEnds'>>(
      db,
      sql`with largest as (
          select a.id, a.name, a.email, a.status, a."createdAt", coalesce(n.sites, 0) as sites
          from account a
          left join (select s."clientID", count(*) as sites from site s where ${live('s')} group by s."clientID") n on n."clientID" = a.id
          where ${isOperator} order by coalesce(n.sites, 0) desc, a.id limit ${operatorsMost})
        select o.id, o.name, o.email, o.status, o."createdAt", o.sites,
          (select count(*) from account a where a."parentClient" = o.id and ${isCustomer}) as customers,
          (select count(*) from domain d join site s on s.id = d."siteID" where s."clientID" = o.id and ${live('s')} and ${live('d')}) as domains,
          (select count(*) from node n where n."clientID" = o.id and ${live('n')}) as nodes,
          (select count(*) from node n where n."clientID" = o.id and ${live('n')} and n."zoneID" is not null and n.status = 'normal') as "normalNodes"
        from largest o order by o.sites desc, o.id`,
    );
    const held = await Promise.all(listed.map(one => services.licences.of(db, one.id)));
    const operators = listed.map((one, i) => ({ ...one, licenseState: held[i]!.state, licenseEnds: held[i]!.expiredAt }));
    const nodes = await rows<{ status: 'unknown'; count: number }>(
      db,
      sql`select case when n."zoneID" is null then 'uninitialized' else n.status end as status, count(*) as count
        from node n where ${live('n')} group by 1 order by 2 desc, 1`,
    );
    const versions = await rows<{ version: string; nodes: number }>(
      db,
      sql`select n.version, count(*) as nodes from node n where ${live('n')} group by 1 order by 2 desc, 1 desc limit 100`,
    );
    return { version, ...counts!, licenses: licenses!, operators, nodes, versions };
  },
});
