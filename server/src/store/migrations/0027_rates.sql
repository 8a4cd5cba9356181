-- How fast answers of a site are sent, by URL; rate in K/s.
create table rate (
  id bigint generated always as identity primary key,
  "siteID" bigint not null references site,
  type text not null,
  value text not null default '',
  rate int not null check (rate > 0),
  priority int not null default 100,
  enabled boolean not null default true,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create index rate_site on rate ("siteID");
create index rate_deleted on rate ("deletedAt") where "deletedAt" is not null;
