-- Where a relay's door is, as edges are told: what it says itself counts when it has said so for a while. Edges know those of before at once.
create table "relayDoor" (
  "nodeID" bigint primary key references node on delete cascade,
  -- what edges are told; null: nothing
  port int,
  -- what it says instead, and since when
  "saidPort" int,
  "saidAt" timestamptz,
  -- changes lately: one is forgotten an hour
  changes int not null default 0,
  "changedAt" timestamptz
);
-- A zone that is gone still names the relays it was told of last, one of which may stand in another by now.
insert into "relayDoor" ("nodeID", port) select n.id, (r->>'port')::int from zone z cross join lateral jsonb_array_elements(z.relays->'relays') r
  join node n on n.id = (r->>'id')::bigint where z."deletedAt" is null on conflict do nothing;
