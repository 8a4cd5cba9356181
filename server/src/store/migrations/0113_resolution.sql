-- How names lead to nodes: who answers for an operator's names, the zones customers' names lead into, and what is answered now.

-- What a site's names lead to in each zone: `KEY.ZONE`. Nobody guesses another site's.
alter table site add column "cnameKey" text not null default left(replace(gen_random_uuid()::text, '-', ''), 12);
create unique index site_cname_key on site ("cnameKey");

create table "dnsSetting" (
  id bigint generated always as identity primary key,
  "clientID" bigint not null references account,
  driver text not null,
  server text not null default '',
  "keyName" text not null default '',
  algorithm text not null default 'hmacSHA256',
  credentials text,
  memo text not null default '',
  "rowVersion" int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create unique index dns_setting_driver on "dnsSetting" ("clientID", driver, server) where "deletedAt" is null;
create index dns_setting_deleted on "dnsSetting" ("deletedAt") where "deletedAt" is not null;

create table cname (
  id bigint generated always as identity primary key,
  "clientID" bigint not null references account,
  "dnsSettingID" bigint not null references "dnsSetting",
  "domainName" text not null,
  disabled boolean not null default false,
  -- each with the addresses of one that lies in the zone itself: `ns1.cdn.example.net 192.0.2.53`
  "nameServers" text[] not null default '{}',
  memo text not null default '',
  -- of the queue: what went wrong last, how often in a row, and when it is tried again; '' and 0: nothing
  error text not null default '',
  tries int not null default 0,
  "nextAt" timestamptz not null default now(),
  -- when all that stands there was compared with what should
  "comparedAt" timestamptz,
  "rowVersion" int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
-- one name server answers for all operators: a zone is one operator's
create unique index cname_name on cname ("domainName") where "deletedAt" is null;
create index cname_client on cname ("clientID");
create index cname_deleted on cname ("deletedAt") where "deletedAt" is not null;

-- What is answered for a group, by line; written by whoever steers (server/src/resolution/steer.ts). No reference holds it to its group.
create table "groupAnswer" (
  "groupID" bigint primary key,
  version bigint not null,
  lines jsonb not null,
  "changedAt" timestamptz not null default clock_timestamp()
);
create sequence answer_version;

-- Who came into an answer, who left it, and why.
create table "answerChange" (
  id bigint generated always as identity primary key,
  "groupID" bigint not null,
  "lineID" bigint not null,
  version bigint not null,
  change text not null,
  "UID" text not null,
  name text not null,
  reason text not null,
  seconds int not null default 0,
  at timestamptz not null default clock_timestamp()
);
create index answer_change_group on "answerChange" ("groupID", id);
create index answer_change_at on "answerChange" (at);

-- How far each zone is: the version of a group that it answers, the group that a site's name leads to there. What differs from what should
-- be is the queue.
create table "cnameGroup" (
  "cnameID" bigint not null,
  "groupID" bigint not null,
  applied bigint not null,
  primary key ("cnameID", "groupID")
);
create table "cnameSite" (
  "cnameID" bigint not null,
  "siteID" bigint not null,
  label text not null,
  "groupID" bigint not null,
  primary key ("cnameID", "siteID")
);

-- Where a domain's name leads, as it was seen last.
-- A fact about the world, and no change of the domain.
create table "cnameSeen" (
  "domainID" bigint primary key references domain on delete cascade,
  seen text[] not null default '{}',
  "checkedAt" timestamptz not null default clock_timestamp()
);
create index cname_seen_at on "cnameSeen" ("checkedAt");

-- Whoever steers is woken by what changes answers.
create function resolution_lines() returns trigger language plpgsql as $$ begin perform pg_notify('resolution', 'lines'); return null; end $$;
create function resolution_names() returns trigger language plpgsql as $$ begin perform pg_notify('resolution', 'names'); return null; end $$;
create trigger resolution_node after update of status, addresses, "zoneID", "deletedAt", type on node for each row
  when (old.status is distinct from new.status or old.addresses is distinct from new.addresses or old."zoneID" is distinct from new."zoneID"
    or old."deletedAt" is distinct from new."deletedAt" or old.type is distinct from new.type) execute function resolution_lines();
create trigger resolution_line_node after insert or update or delete on "lineNode" for each statement execute function resolution_lines();
create trigger resolution_line after insert or update or delete on line for each statement execute function resolution_lines();
create trigger resolution_group after insert or update of "deletedAt" on "group" for each statement execute function resolution_lines();
create trigger resolution_site after insert or update of "productID", "deletedAt" on site for each statement execute function resolution_names();
create trigger resolution_product after update of "groupID" on product for each row when (old."groupID" <> new."groupID") execute function resolution_names();
create trigger resolution_cname after insert or update of "deletedAt", "nameServers", "nextAt" on cname for each statement execute function resolution_names();

-- An operator who had a name server by its type alone has it as a setting.
insert into "dnsSetting" ("clientID", driver) select id, "dnsType" from account where "dnsType" = 'knot' and "deletedAt" is null;
