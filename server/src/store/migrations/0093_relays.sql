-- Relays stand between edges and origins. What the nodes of a zone are told of them, as it was found last (server/src/bus/zone-relays.ts).
alter table zone add column relays jsonb not null default '{"relays":[],"left":[]}';
alter table "joinToken" add column type text not null default 'edge' check (type in ('edge', 'relay'));
create index node_relays on node ("zoneID") where type = 'relay' and "deletedAt" is null;
