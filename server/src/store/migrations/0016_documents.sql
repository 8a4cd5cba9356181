-- Documents in parts. Which kinds there are the contract says (contract/src/edge/kinds), not this table.
alter table outbox drop constraint outbox_kind_check;

-- How what stands on the bus was made: when schemas or compilers are others, everything is compiled again and what differs is published.
alter table "busStream" add column compiler text not null default '';

-- A module holds settings of one type that domains of its site share.
create table module (
  id bigint generated always as identity primary key,
  "siteID" bigint not null references site,
  type text not null,
  name text not null,
  memo text not null default '',
  enabled boolean not null default true,
  settings jsonb not null default '{}',
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create index module_site on module ("siteID");
create index module_deleted on module ("deletedAt") where "deletedAt" is not null;

-- Which module of each type holds for a domain.
create table "domainModule" (
  "domainID" bigint not null references domain on delete cascade,
  type text not null,
  "moduleID" bigint not null references module on delete cascade,
  primary key ("domainID", type)
);
create index "domainModule_module" on "domainModule" ("moduleID");
