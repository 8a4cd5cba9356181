-- Frequencies and request limits have one sequence: the log names a rule by its number, and the block reason is the same.
create sequence "limitRule";
create table frequency (
  id bigint primary key default nextval('"limitRule"'),
  "siteID" bigint not null references site,
  "urlRegex" text not null,
  seconds int not null,
  times int not null,
  type text not null,
  action text not null default 'limit',
  priority int not null default 100,
  colour text not null default 'grey',
  enabled boolean not null default true,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create index frequency_site on frequency ("siteID");
create index frequency_deleted on frequency ("deletedAt") where "deletedAt" is not null;

create table "limitReq" (
  id bigint primary key default nextval('"limitRule"'),
  "siteID" bigint not null references site,
  "urlRegex" text not null,
  rate int not null,
  burst int not null,
  type text not null,
  priority int not null default 100,
  enabled boolean not null default true,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create index "limitReq_site" on "limitReq" ("siteID");
create index "limitReq_deleted" on "limitReq" ("deletedAt") where "deletedAt" is not null;
