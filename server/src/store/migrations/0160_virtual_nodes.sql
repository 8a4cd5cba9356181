-- Virtual nodes: named sets of records that lines answer with beside nodes: addresses of nodes of one zone, or one name elsewhere.

create table "virtualNode" (
  id bigint generated always as identity primary key,
  "clientID" bigint not null references account,
  "zoneID" bigint not null references zone,
  name text not null,
  memo text not null default '',
  "rowVersion" int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create unique index virtual_node_name on "virtualNode" ("zoneID", lower(name)) where "deletedAt" is null;
create index virtual_node_zone on "virtualNode" ("zoneID");
create index virtual_node_client on "virtualNode" ("clientID");
create index virtual_node_deleted on "virtualNode" ("deletedAt") where "deletedAt" is not null;

-- Either a node with a family of its addresses, or the name that is answered instead.
create table "virtualNodeRecord" (
  id bigint generated always as identity primary key,
  "virtualNodeID" bigint not null references "virtualNode",
  "nodeID" bigint references node,
  "ipVersion" text check ("ipVersion" in ('ipv4', 'ipv6')),
  target text,
  "rowVersion" int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz,
  check (("nodeID" is null) = ("ipVersion" is null) and ("nodeID" is null) <> (target is null))
);
create unique index virtual_node_record_node on "virtualNodeRecord" ("virtualNodeID", "nodeID", "ipVersion") where "deletedAt" is null;
create unique index virtual_node_record_cname on "virtualNodeRecord" ("virtualNodeID") where target is not null and "deletedAt" is null;
create index virtual_node_record_parent on "virtualNodeRecord" ("virtualNodeID");
create index virtual_node_record_of_node on "virtualNodeRecord" ("nodeID");
create index virtual_node_record_deleted on "virtualNodeRecord" ("deletedAt") where "deletedAt" is not null;

create table "lineVirtualNode" (
  id bigint generated always as identity primary key,
  "groupID" bigint not null references "group",
  "lineID" bigint not null references line,
  "virtualNodeID" bigint not null references "virtualNode",
  backup boolean not null default false,
  unique ("groupID", "lineID", "virtualNodeID")
);
create index line_virtual_node_line on "lineVirtualNode" ("lineID");
create index line_virtual_node_node on "lineVirtualNode" ("virtualNodeID");

create trigger resolution_line_virtual_node after insert or update or delete on "lineVirtualNode" for each statement execute function resolution_lines();
create trigger resolution_virtual_node_record after insert or update or delete on "virtualNodeRecord" for each statement execute function resolution_lines();
create trigger resolution_virtual_node after update of name, "deletedAt" on "virtualNode" for each statement execute function resolution_lines();
