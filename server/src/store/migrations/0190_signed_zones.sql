-- Zones whose answers are signed (DNSSEC), and name servers that have copies of an operator's zones.

alter table cname add column signed boolean not null default false;
-- what the zone above has to say of it, as it was seen last
alter table cname add column ds text[] not null default '{}';

create table "dnsSecondary" (
  id bigint generated always as identity primary key,
  "clientID" bigint not null references account,
  address text not null,
  port int not null default 53,
  "keyName" text not null,
  algorithm text not null default 'hmacSHA256',
  credentials text,
  memo text not null default '',
  "rowVersion" int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
-- one name server has the keys of all operators
create unique index dns_secondary_key on "dnsSecondary" (lower("keyName")) where "deletedAt" is null;
create index dns_secondary_client on "dnsSecondary" ("clientID");
create index dns_secondary_deleted on "dnsSecondary" ("deletedAt") where "deletedAt" is not null;

drop trigger resolution_cname on cname;
create trigger resolution_cname after insert or update of "deletedAt", "nameServers", "nextAt", signed, "dnsSettingID" on cname for each statement execute function resolution_names();
create trigger resolution_secondary after insert or update on "dnsSecondary" for each statement execute function resolution_names();
