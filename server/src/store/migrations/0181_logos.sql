-- What the console shows of an operator, by hostname; null: on every one that has none of its own.
create table brand (
  id bigint generated always as identity primary key,
  "clientID" bigint not null references account,
  hostname text,
  title text not null default '',
  copyright text not null default '',
  -- names of images: SHA-256 of their bytes, with the ending
  logo text not null default '',
  favicon text not null default '',
  "backgroundImage" text not null default '',
  "sidebarLogo" text not null default '',
  "sidebarSimpleLogo" text not null default '',
  "rowVersion" int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
-- one hostname is one operator's
create unique index brand_hostname on brand (hostname) where "deletedAt" is null;
create unique index brand_default on brand ("clientID") where "deletedAt" is null and hostname is null;
create index brand_client on brand ("clientID");
create index brand_deleted on brand ("deletedAt") where "deletedAt" is not null;

create table "brandImage" (
  id bigint generated always as identity primary key,
  "clientID" bigint not null references account,
  name text not null,
  bytes bytea not null,
  "createdAt" timestamptz not null default now(),
  unique ("clientID", name)
);
create index "brandImage_name" on "brandImage" (name);
