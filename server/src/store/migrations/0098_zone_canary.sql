-- Of a zone whose nginx settings are tried on one node before the others have them; no row: all nodes have what is set.
create sequence "zoneCanaryAttempt";
create table "zoneCanary" (
  "zoneID" bigint primary key references zone on delete cascade,
  -- the attempt: documents and heartbeats name it
  id bigint not null default nextval('"zoneCanaryAttempt"'),
  state text not null default 'trying' check (state in ('trying', 'stopped', 'passed')),
  -- null: to be chosen
  "nodeID" bigint references node on delete set null,
  -- what all nodes have, and what one tries: {http2, http3, ports}
  accepted jsonb not null,
  wanted jsonb not null,
  -- why it was stopped: refused, ill, offline, silent; and what the node said
  why text,
  detail text,
  "beganAt" timestamptz not null default clock_timestamp(),
  "takenAt" timestamptz,
  "endedAt" timestamptz
);
create index zone_canary_node on "zoneCanary" ("nodeID");
