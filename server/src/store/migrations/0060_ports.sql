-- Ports of a site beside the usual ones, with origins of their own; which ports there are, a zone says.
create table "zonePort" (
  id bigint generated always as identity primary key,
  "zoneID" bigint not null references zone,
  port int not null,
  scheme text not null,
  memo text not null default '',
  "rowVersion" int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create unique index zone_port_number on "zonePort" ("zoneID", port) where "deletedAt" is null;
create index zone_port_zone on "zonePort" ("zoneID");
create index zone_port_deleted on "zonePort" ("deletedAt") where "deletedAt" is not null;

create table port (
  id bigint generated always as identity primary key,
  "siteID" bigint not null references site,
  port int not null,
  scheme text not null,
  "portMap" jsonb not null default '{"enabled":true,"http":null,"https":443}',
  -- visitors who may come; none: everybody
  ips text[] not null default '{}',
  memo text not null default '',
  "rowVersion" int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create unique index port_number on port ("siteID", port) where "deletedAt" is null;
create index port_site on port ("siteID");
-- which sites have a port of a zone open
create index port_opened on port (port) where "deletedAt" is null;
create index port_deleted on port ("deletedAt") where "deletedAt" is not null;

-- As the origins of a domain are.
create table "portUpstream" (
  like upstream including defaults including identity including constraints,
  primary key (id)
);
alter table "portUpstream" drop column "domainID";
alter table "portUpstream" add column "portID" bigint not null references port;
create unique index port_upstream_address on "portUpstream" ("portID", address, port) where "deletedAt" is null;
create index port_upstream_port on "portUpstream" ("portID");
create index port_upstream_deleted on "portUpstream" ("deletedAt") where "deletedAt" is not null;

-- Ports of one site; 0: as many as there are.
alter table product add column "portLimit" int not null default 0;
