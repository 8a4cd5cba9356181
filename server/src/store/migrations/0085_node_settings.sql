-- What an operator sets of a node; it stands in the node's document.
alter table node
  add column "portType" text not null default '7' check ("portType" in ('7', '7+4')),
  add column geneva jsonb,
  -- seconds; 0: it begins no new log files by itself
  add column "logRotateTime" int not null default 0 check ("logRotateTime" >= 0),
  -- its addresses are answered whatever the others of its lines do
  add column "forceBackup" boolean not null default false,
  -- since when it is in its state: whoever writes the state need not think of it
  add column "statusSince" timestamptz;

create function node_status_since() returns trigger language plpgsql as $$
begin
  new."statusSince" := clock_timestamp();
  return new;
end $$;
create trigger node_status_since before update of status on node for each row
  when (old.status is distinct from new.status) execute function node_status_since();

-- Further addresses of a node (sub-nodes).
create table "nodeSub" (
  id bigint generated always as identity primary key,
  "nodeID" bigint not null references node,
  -- in its shortest form
  address text not null,
  -- nginx listens there by an entry of its own
  listen boolean not null default false,
  memo text not null default '',
  "rowVersion" int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create unique index node_sub_address on "nodeSub" ("nodeID", address) where "deletedAt" is null;
create index node_sub_deleted on "nodeSub" ("deletedAt") where "deletedAt" is not null;
