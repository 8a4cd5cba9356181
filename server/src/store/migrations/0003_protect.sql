create table whitelist (
  id bigint generated always as identity primary key,
  "siteID" bigint not null references site,
  ips text[] not null default '{}',
  urls text[] not null default '{}',
  memo text not null default '',
  enabled boolean not null default true,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create index whitelist_site on whitelist ("siteID") where "deletedAt" is null;

create table "userAgent" (
  id bigint generated always as identity primary key,
  "siteID" bigint not null references site,
  "urlRegex" text not null,
  "userAgentRegex" text not null,
  "blockType" text not null,
  enabled boolean not null default true,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create index "userAgent_site" on "userAgent" ("siteID") where "deletedAt" is null;
