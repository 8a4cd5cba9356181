-- Where data of places are fetched from by themselves: one row, of the installation's owner.
create table "geoSource" (
  id bigint generated always as identity primary key,
  "clientID" bigint not null references account,
  url text not null default '',
  "headerName" text not null default 'Authorization',
  -- sealed
  header text,
  every text not null default 'off' check (every in ('off', 'day', 'week')),
  "rowVersion" int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create unique index geo_source_client on "geoSource" ("clientID") where "deletedAt" is null;
create index geo_source_clients on "geoSource" ("clientID");
create index geo_source_deleted on "geoSource" ("deletedAt") where "deletedAt" is not null;

-- One file is fetched at a time: two would be the same.
drop index task_single;
create unique index task_single on task ("rootID", kind) where kind in ('nodeUpgrade', 'geoRefresh') and "endedAt" is null;
