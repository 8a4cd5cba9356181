/**
 * Origins that are down, for whoever wants to be told: found in the heartbeats of nodes. One node's word is its own way to an origin, and a
 * node may be stolen: told is what more than half of those say that are heard in the zone (one alone only where there is no other), of what
 * the domain's document has checked, once it has lasted. That it is back is told when more than half say that: a node that is silent, has
 * more to tell than it can or has not asked yet says nothing, neither that it is down nor that it is well. What is not checked any more is
 * forgotten without a word. How many are told of a domain and of a zone is bounded, and a zone's customers take turns.
 */
import { sql } from 'kysely';
import { noticeLimits } from '#contract/limits.ts';
import type { Db } from '../store/db.ts';

const { originFreshSeconds, originDownSeconds, originBackSeconds, originPauseMinutes, originsOfDomainMax, originsOfZoneMax } =
  noticeLimits;
const seconds = (count: number) => sql`${count} * interval '1 second'`;
const pause = sql`${originPauseMinutes} * interval '1 minute'`;

const number = (name: string) =>
  sql`case jsonb_typeof(n.beat->'origins'->${name}) when 'number' then (n.beat->'origins'->>${name})::numeric end`;
/**
 * `heard` are nodes of a zone that is believed. `whole`: what such a node does not name is well. An earlier release says neither that nor
 * what is back; it names all that is wrong or says that there is more.
 */
const words = sql`present as (select n.id, n."zoneID", n.beat->'origins' as said,
      coalesce(${number('wrong')} <= case jsonb_typeof(n.beat->'origins'->'troubles') when 'array' then jsonb_array_length(n.beat->'origins'->'troubles') end and ${number('checked')} > 0
        and n.beat->'origins'->'whole' is distinct from 'false', false) as whole,
      coalesce(jsonb_typeof(n.beat->'origins'->'troubles') = 'array' and n."lastBeat" > clock_timestamp() - ${seconds(originFreshSeconds)}, false) as "isHeard"
    from node n where n."deletedAt" is null and n."zoneID" is not null and n.status <> 'paused'),
  zones as (select "zoneID", count(*) filter (where "isHeard") as nodes, count(*) filter (where "isHeard" and whole) as whole
    from present group by 1 having count(*) filter (where "isHeard") > case when count(*) = 1 then 0 else 1 end),
  heard as (select p.* from present p join zones using ("zoneID") where "isHeard"),
  named as (select h.id, h."zoneID", h.whole, t.host, t.origin, t.port, bool_or(t."isDown") as "isDown", max(t.error) as error
    from heard h cross join lateral jsonb_to_recordset(h.said->'troubles') t(host text, origin text, port int, error text, "isDown" boolean)
    group by 1, 2, 3, 4, 5, 6)`;
const concerned = sql`domain d join site s on s.id = d."siteID" and s."deletedAt" is null
  join product p on p.id = s."productID" join "group" g on g.id = p."groupID"`;
/** What its zone's nodes have of a domain; no row, or one without a text: it is not known here. */
const document = sql`(select o.body::jsonb as it from published o
  where o.kind = 'domain' and o."entityID" = d.id and o."zoneID" = g."zoneID" and o.hash <> '' and o.body <> '' offset 0) document`;
/** Whether the document has nodes ask an origin of this name at this port. */
const isAsked = (address: ReturnType<typeof sql>, port: ReturnType<typeof sql>) => sql`(
  coalesce(document.it->'originCheck'->>'type', 'off') <> 'off' and exists (select from jsonb_to_recordset(document.it->'upstreams')
    u(address text, port int, "httpsPort" int) where u.address = ${address} and ${port} in (u.port, u."httpsPort")))`;
/** `down` is what is told of; both who sells the site and whose it is hear of it. */
const events = (kind: 'originDown' | 'originBack', down: ReturnType<typeof sql>) => sql`
  insert into "noticeEvent" ("rootID", kind, name, detail, "siteID")
  select who.id, ${kind}::text, d."domainName" || ' (' || x.address || ':' || x.port || ')', ${kind === 'originDown' ? sql`x.error` : sql`''`}, s.id
  from ${down} x join ${concerned} on d.id = x."domainID"
  cross join lateral (values (s."clientID"), (s."userID")) who(id) order by x.id`;

/** To be called every few seconds, by any number of processes. */
export async function watchOrigins(db: Db): Promise<void> {
  await sql`with ${words},
      said as (select "zoneID", host, origin, port, count(*) as nodes, max(error) as error from named where "isDown" group by 1, 2, 3, 4)
    insert into "originDown" ("domainID", "zoneID", address, port, error)
    select d.id, g."zoneID", o.origin, o.port, left(o.error, 64) from said o join zones z on z."zoneID" = o."zoneID" and o.nodes * 2 > z.nodes
      join ${concerned} on d."domainName" = o.host and d."deletedAt" is null and d.status = 1 and g."zoneID" = o."zoneID"
      cross join lateral ${document}
    where ${isAsked(sql`o.origin`, sql`o.port`)}
    on conflict ("domainID", address, port) do update set "seenAt" = now(), error = excluded.error, "zoneID" = excluded."zoneID"`.execute(
    db,
  );
  await forget(db);
  await tellDown(db);
  await sql`with ${words},
      listed as (select "zoneID", host, origin, port, count(*) filter (where whole) as whole from named group by 1, 2, 3, 4),
      named_back as (select h."zoneID", b.host, b.origin, b.port, count(distinct h.id) as nodes
        from heard h cross join lateral jsonb_to_recordset(case jsonb_typeof(h.said->'back') when 'array' then h.said->'back' else '[]' end)
          b(host text, origin text, port int)
        where not h.whole and not exists (select from named o where o.id = h.id and (o.host, o.origin, o.port) = (b.host, b.origin, b.port))
        group by 1, 2, 3, 4),
      well as (select x.id, coalesce(z.whole - coalesce(l.whole, 0) + coalesce(b.nodes, 0), 0) * 2 > z.nodes as "isWell"
        from "originDown" x join domain d on d.id = x."domainID" left join zones z on z."zoneID" = x."zoneID"
        left join listed l on (l."zoneID", l.host, l.origin, l.port) = (x."zoneID", d."domainName", x.address, x.port)
        left join named_back b on (b."zoneID", b.host, b.origin, b.port) = (x."zoneID", d."domainName", x.address, x.port))
    update "originDown" x set "backSince" = case when w."isWell" then now() end from well w
    where w.id = x.id and coalesce(w."isWell", false) <> (x."backSince" is not null)`.execute(db);
  await sql`with gone as (delete from "originDown" where "backSince" <= now() - ${seconds(originBackSeconds)} returning *),
      back as (select gone.* from gone join ${concerned} on d.id = gone."domainID" cross join lateral ${document}
        where gone."toldAt" is not null and ${isAsked(sql`gone.address`, sql`gone.port`)})
    ${events('originBack', sql`back`)}`.execute(db);
}

/** What has not lasted, what no node asks for any more, and what another zone's nodes said. */
async function forget(db: Db): Promise<void> {
  await sql`delete from "originDown" x using ${concerned} left join lateral ${document} on true where d.id = x."domainID"
    and (d."deletedAt" is not null or d.status <> 1 or g."zoneID" is distinct from x."zoneID"
      or document.it is not null and not ${isAsked(sql`x.address`, sql`x.port`)})`.execute(db);
  await sql`delete from "originDown" where "seenAt" < now() - ${noticeLimits.keptDays} * interval '1 day'
    or "toldAt" is null and "seenAt" < now() - ${seconds(originFreshSeconds)}`.execute(db);
  await sql`delete from "originDown" x using domain d join site s on s.id = d."siteID" where d.id = x."domainID" and s."deletedAt" is not null`.execute(
    db,
  );
  await sql`delete from "originTold" where at < now() - ${pause}`.execute(db);
}

/** What has lasted, so many of a domain and of a zone at a time; the others wait as long as they are down. */
async function tellDown(db: Db): Promise<void> {
  await sql`with ready as (select x.id, x."zoneID", s."userID",
        row_number() over (partition by x."domainID" order by x.since, x.id) + (select count(*) from "originTold" t
          where t."domainID" = x."domainID" and t.at > now() - ${pause}) as "ofDomain"
      from "originDown" x join ${concerned} on d.id = x."domainID"
      where x."toldAt" is null and x.since < now() - ${seconds(originDownSeconds)} and x."seenAt" > now() - ${seconds(originFreshSeconds)}
        and not exists (select from "originTold" t where (t."domainID", t.address, t.port) = (x."domainID", x.address, x.port)
          and t.at > now() - ${pause})),
    shared as (select *, row_number() over (partition by "zoneID", "userID" order by id) + (select count(*) from "originTold" t
        where t."zoneID" = ready."zoneID" and t."rootID" = ready."userID" and t.at > now() - interval '1 minute') as turn
      from ready where "ofDomain" <= ${originsOfDomainMax}),
    placed as (select id, "userID", row_number() over (partition by "zoneID" order by turn, id) + (select count(*) from "originTold" t
        where t."zoneID" = shared."zoneID" and t.at > now() - interval '1 minute') as place from shared),
    due as (update "originDown" x set "toldAt" = now() from placed
      where placed.id = x.id and placed.place <= ${originsOfZoneMax} and x."toldAt" is null returning x.*, placed."userID"),
    noted as (insert into "originTold" ("zoneID", "rootID", "domainID", address, port)
      select "zoneID", "userID", "domainID", address, port from due)
    ${events('originDown', sql`due`)}`.execute(db);
}
