-- What the relay remembers about the bus, and what the nodes say they serve.

-- One notice per statement wakes the relay; the notice is sent when the transaction commits.
create function outbox_notify() returns trigger language plpgsql as $$
begin
  perform pg_notify('outbox', '');
  return null;
end $$;
create trigger outbox_notify after insert on outbox for each statement execute function outbox_notify();

-- A stream is one life of a JetStream stream: when it is made anew, its creation time changes and all is published again.
create table "busStream" (
  name text primary key,
  epoch text not null,
  -- the last sequence the relay knows it wrote; what the stream holds beyond it is compiled again
  "lastSeq" bigint not null
);

-- What stands on each subject. A hash of '' is an empty body: the entity is gone from that zone.
create table published (
  kind text not null,
  "entityID" bigint not null,
  "zoneID" bigint not null,
  "siteID" bigint,
  subject text not null,
  hash text not null,
  seq bigint not null,
  -- what a site's domains take from it: when it changes they are compiled too
  inherited text not null default '',
  primary key (kind, "entityID", "zoneID")
);
create index published_site on published ("siteID");

-- The last revision of each site that is on the bus, and the sequence a node must have passed to serve it.
create table publication (
  "siteID" bigint primary key,
  revision bigint not null,
  -- null: the site hangs on no zone
  "zoneID" bigint,
  seq bigint not null,
  "committedAt" timestamptz not null
);
create index publication_zone on publication ("zoneID", seq);

-- Up to which revision a node serves a site; ms: from commit to acknowledgement, both by this database's clock.
create table ack (
  "nodeID" bigint not null references node on delete cascade,
  "siteID" bigint not null,
  revision bigint not null,
  ms int not null,
  primary key ("nodeID", "siteID")
);
create index ack_site on ack ("siteID");

-- Entities whose document cannot be made: their last good document stays at the edge.
create table "compileError" (
  kind text not null,
  "entityID" bigint not null,
  "siteID" bigint,
  message text not null,
  "createdAt" timestamptz not null default now(),
  primary key (kind, "entityID")
);
create index "compileError_site" on "compileError" ("siteID");

-- The life of the stream in which "appliedSeq" counts, and when it last rose.
alter table node add column "appliedEpoch" text not null default '', add column "appliedAt" timestamptz, add column "beat" jsonb not null default '{}';
