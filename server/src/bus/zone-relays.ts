/**
 * Which relays the nodes of a zone are told of. Looked at every second, beside who fell silent: a zone whose relays are others than those
 * it was told last is raised in a transaction of its own, which holds that one row. Who left is said as long as the zone has any relay,
 * be it paused or silent: its door may still be open. Where they are too many those who left last are said.
 * Several processes may look; the second finds nothing.
 */
import { relayLimits } from '#contract/limits.ts';
import type { Queryable } from '../compile/load.ts';

/** A certificate of who left holds so long, and a day for clocks. */
const leftDays = relayLimits.certificateDays + 1;

export async function followRelays(db: Queryable): Promise<void> {
  await db.query({
    name: 'relays',
    text: `with living as (
       select "zoneID", jsonb_agg(jsonb_build_object('id', id, 'addresses', to_jsonb(addresses[1:20]), 'port', port) order by id) relays from (
         select n.id, n."zoneID", n.addresses, (n.beat->'relay'->>'port')::int port, row_number() over (partition by n."zoneID" order by n.id) place
         from node n where n.type = 'relay' and n."deletedAt" is null and n."zoneID" is not null
           and n.status in ('normal', 'error', 'reconnect') and n.beat->'relay'->>'port' is not null and cardinality(n.addresses) > 0
       ) r where place <= ${relayLimits.perZoneMax} group by "zoneID"
     ), gone as (
       select "zoneID", jsonb_agg("nodeID" order by "nodeID") ids from (
         select h."zoneID", h."nodeID", row_number() over (partition by h."zoneID" order by max(h."to") desc, h."nodeID" desc) place from "nodeZone" h
         where h."to" > now() - ${leftDays} * interval '1 day'
           and exists (select from node r where r."zoneID" = h."zoneID" and r.type = 'relay' and r."deletedAt" is null)
           and not exists (select from node n where n.id = h."nodeID" and n."zoneID" = h."zoneID" and n."deletedAt" is null)
         group by h."zoneID", h."nodeID"
       ) l where place <= ${relayLimits.leftMax} group by "zoneID"
     ), wished as (
       select z.id, jsonb_build_object('relays', coalesce(l.relays, '[]'), 'left', coalesce(g.ids, '[]')) relays
       from zone z left join living l on l."zoneID" = z.id left join gone g on g."zoneID" = z.id where z."deletedAt" is null
     ), changed as (
       update zone z set relays = w.relays, revision = nextval('revision') from wished w where w.id = z.id and z.relays is distinct from w.relays
       returning z.id, z.revision
     ) insert into outbox (kind, "entityID", "zoneID", revision) select 'zone', id, id, revision from changed`,
  });
}
