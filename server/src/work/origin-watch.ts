/**
 * Origins that are down, for whoever wants to be told: found in the heartbeats of nodes. One node's word is its own way to an origin; told
 * is what at least half of the zone's nodes say, once it has lasted, and that fewer say it, once that has lasted. Nodes that are silent
 * say nothing, neither that it is down nor that it is well.
 */
import { sql } from 'kysely';
import { noticeLimits } from '#contract/limits.ts';
import type { Db } from '../store/db.ts';

const freshNodes = sql`select n.id, n."zoneID", n.beat->'origins'->'troubles' as troubles from node n
  where n."deletedAt" is null and n."zoneID" is not null and n.status <> 'paused' and jsonb_typeof(n.beat->'origins'->'troubles') = 'array'
    and n."lastBeat" > clock_timestamp() - ${noticeLimits.originFreshSeconds} * interval '1 second'`;
const concerned = sql`domain d join site s on s.id = d."siteID" and s."deletedAt" is null`;
/** `down` is what is told of; both who sells the site and whose it is hear of it. */
const events = (kind: 'originDown' | 'originBack', down: ReturnType<typeof sql>) => sql`
  insert into "noticeEvent" ("rootID", kind, name, detail, "siteID")
  select who.id, ${kind}::text, d."domainName" || ' (' || x.address || ':' || x.port || ')', ${kind === 'originDown' ? sql`x.error` : sql`''`}, s.id
  from ${down} x join ${concerned} on d.id = x."domainID" and d."deletedAt" is null and d.status = 1
  cross join lateral (values (s."clientID"), (s."userID")) who(id) order by x.id`;

/** To be called every few seconds, by any number of processes. */
export async function watchOrigins(db: Db): Promise<void> {
  await sql`with fresh as (${freshNodes}),
      counted as (select "zoneID", count(*) as nodes from fresh group by 1),
      said as (select f."zoneID", t.host, t.origin, t.port, count(distinct f.id) as nodes, max(t.error) as error
        from fresh f cross join lateral jsonb_to_recordset(f.troubles) t(host text, origin text, port int, error text, "isDown" boolean)
        where t."isDown" group by 1, 2, 3, 4)
    insert into "originDown" ("domainID", address, port, error)
    select d.id, o.origin, o.port, left(o.error, 64) from said o join counted c on c."zoneID" = o."zoneID" and o.nodes * 2 >= c.nodes
      join ${concerned} on d."domainName" = o.host and d."deletedAt" is null and d.status = 1
      join product p on p.id = s."productID" join "group" g on g.id = p."groupID" and g."zoneID" = o."zoneID"
    where exists (select from upstream u where u."domainID" = d.id and u.address = o.origin and u.enabled and u."deletedAt" is null)
    on conflict ("domainID", address, port) do update set "seenAt" = now(), error = excluded.error`.execute(db);
  await sql`with due as (update "originDown" set "toldAt" = now()
      where "toldAt" is null and since < now() - ${noticeLimits.originDownSeconds} * interval '1 second'
        and "seenAt" > now() - ${noticeLimits.originFreshSeconds} * interval '1 second' returning *)
    ${events('originDown', sql`due`)}`.execute(db);
  // an origin that is not asked for any more, and one whose nodes say nothing, did not come back
  await sql`with fresh as (${freshNodes}),
      gone as (delete from "originDown" x using ${concerned}, product p, "group" g
        where d.id = x."domainID" and p.id = s."productID" and g.id = p."groupID"
          and x."seenAt" < now() - ${noticeLimits.originBackSeconds} * interval '1 second'
          and exists (select from fresh f where f."zoneID" = g."zoneID") returning x.*),
      back as (select * from gone where "toldAt" is not null and exists (select from upstream u
        where u."domainID" = gone."domainID" and u.address = gone.address and u.enabled and u."deletedAt" is null))
    ${events('originBack', sql`back`)}`.execute(db);
  await sql`delete from "originDown" where "seenAt" < now() - ${noticeLimits.keptDays} * interval '1 day'`.execute(db);
}
