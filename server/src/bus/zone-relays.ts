/**
 * Which relays the nodes of a zone are told of. Looked at every second, beside who fell silent: a zone whose relays are others than those
 * it was told last is raised in a transaction of its own, which holds that one row. Each time is a document to every node of the zone, and
 * a node says itself where its door is: so a relay that says another port is believed when it has said so for a while, and one that comes
 * and goes, or changes, more often than it should waits for longer each time. One that goes is left out at once.
 * Who left is said as long as the zone has any relay, be it paused or silent: its door may still be open. Where they are too many those who
 * left last are said, and who is in the zone: nobody else is let in then.
 * Several processes may look; the second finds nothing.
 */
import { relayLimits } from '#contract/limits.ts';
import type { Queryable } from '../compile/load.ts';

/** A certificate of who left holds so long, and a day for clocks. */
const leftDays = relayLimits.certificateDays + 1;
const { portHoldSeconds, changesFree } = relayLimits;
/** Of waiting: it doubles so often, to an hour. */
const doublesMax = 7;
const relaysThere = `n.type = 'relay' and n."deletedAt" is null and n."zoneID" is not null and n.status in ('normal', 'error', 'reconnect')
  and n.beat->'relay'->>'port' is not null and cardinality(n.addresses) > 0`;

/** What edges are told of each relay's door, from what it says of it. */
const doors = (db: Queryable) =>
  db.query({
    name: 'relay doors',
    text: `with said as (
       select n.id, case when ${relaysThere} then (n.beat->'relay'->>'port')::int end as said, d.port, d."saidPort", d."saidAt", d."nodeID",
         greatest(coalesce(d.changes, 0) - floor(extract(epoch from clock_timestamp() - d."changedAt") / 3600)::int, 0) as changes
       from node n left join "relayDoor" d on d."nodeID" = n.id where n.type = 'relay' and n."deletedAt" is null
     ), judged as (
       select *, case when "saidPort" = said then "saidAt" else clock_timestamp() end as since,
         greatest(case when port is null then 0 else ${portHoldSeconds} end,
           case when changes < ${changesFree} then 0 else ${portHoldSeconds} * power(2, least(changes - ${changesFree}, ${doublesMax})) end) * interval '1 second' as hold
       from said where said is distinct from port or "saidPort" is not null
     ), next as (
       select id, changes, said, port, since, coalesce(said <> port or port is null, false) as "isOther",
         coalesce((said <> port or port is null) and said is not null and clock_timestamp() - since >= hold, false) as "isBelieved" from judged
     ) insert into "relayDoor" as d ("nodeID", port, "saidPort", "saidAt", changes, "changedAt")
       select id, case when said is null or "isBelieved" then said else port end, case when said is not null and "isOther" and not "isBelieved" then said end,
         case when said is not null and "isOther" and not "isBelieved" then since end, changes + case when "isBelieved" then 1 else 0 end,
         case when "isBelieved" then clock_timestamp() end from next
       on conflict ("nodeID") do update set port = excluded.port, "saidPort" = excluded."saidPort", "saidAt" = excluded."saidAt",
         changes = case when excluded."changedAt" is null then d.changes else excluded.changes end, "changedAt" = coalesce(excluded."changedAt", d."changedAt")`,
  });

export async function followRelays(db: Queryable): Promise<void> {
  await doors(db);
  await db.query({
    name: 'relays',
    text: `with living as (
       select "zoneID", jsonb_agg(jsonb_build_object('id', id, 'addresses', to_jsonb(addresses[1:20]), 'port', port) order by id) relays from (
         select n.id, n."zoneID", n.addresses, d.port, row_number() over (partition by n."zoneID" order by n.id) place
         from node n join "relayDoor" d on d."nodeID" = n.id where ${relaysThere} and d.port is not null
       ) r where place <= ${relayLimits.perZoneMax} group by "zoneID"
     ), gone as (
       select "zoneID", jsonb_agg("nodeID" order by "nodeID") filter (where place <= ${relayLimits.leftMax}) ids, count(*) > ${relayLimits.leftMax} as "isCut" from (
         select h."zoneID", h."nodeID", row_number() over (partition by h."zoneID" order by max(h."to") desc, h."nodeID" desc) place from "nodeZone" h
         where h."to" > now() - ${leftDays} * interval '1 day'
           and exists (select from node r where r."zoneID" = h."zoneID" and r.type = 'relay' and r."deletedAt" is null)
           and not exists (select from node n where n.id = h."nodeID" and n."zoneID" = h."zoneID" and n."deletedAt" is null)
         group by h."zoneID", h."nodeID"
       ) l group by "zoneID"
     ), members as (
       select "zoneID", jsonb_agg(id order by id) ids from (
         select n.id, n."zoneID", row_number() over (partition by n."zoneID" order by n.id) place from node n
         where n."deletedAt" is null and n."zoneID" in (select "zoneID" from gone where "isCut")
       ) m where place <= ${relayLimits.membersMax} group by "zoneID"
     ), wished as (
       select z.id, jsonb_build_object('relays', coalesce(l.relays, '[]'), 'left', coalesce(g.ids, '[]'))
         || case when m.ids is null then '{}' else jsonb_build_object('members', m.ids) end relays
       from zone z left join living l on l."zoneID" = z.id left join gone g on g."zoneID" = z.id left join members m on m."zoneID" = z.id
       where z."deletedAt" is null
     ), changed as (
       update zone z set relays = w.relays, revision = nextval('revision') from wished w where w.id = z.id and z.relays is distinct from w.relays
       returning z.id, z.revision
     ) insert into outbox (kind, "entityID", "zoneID", revision) select 'zone', id, id, revision from changed`,
  });
}
