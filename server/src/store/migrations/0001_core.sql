-- Columns are named as the fields of the API, quoted. Rows are not removed but marked by "deletedAt".
-- Everything an operator owns hangs on its root ("clientID"), everything a customer owns on the customer's root ("userID").

create table account (
  id bigint generated always as identity primary key,
  email text not null,
  name text not null,
  auth text not null check (auth in ('user', 'client', 'admin')),
  "roleID" bigint,
  grade int not null default 0,
  "isRoot" boolean not null default false,
  -- the root this account belongs to: itself when "isRoot"
  "rootID" bigint,
  -- root client of a user
  "parentClient" bigint references account,
  "parentUser" bigint references account,
  "createdBy" text,
  password text,
  "emailConfirmed" boolean not null default false,
  status text not null default 'normal' check (status in ('pause', 'normal', 'lock', 'expired')),
  language text not null default 'zh_TW',
  timezone text not null default 'Asia/Taipei',
  "dnsType" text,
  "maxLogExportTimes" int not null default 10,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create unique index account_email on account (auth, lower(email)) where "deletedAt" is null;
create index account_root on account ("rootID");
create index account_client on account ("parentClient");

create table role (
  id bigint generated always as identity primary key,
  -- the root account whose roles these are
  "rootID" bigint not null references account,
  name text not null,
  "permissionKeys" text[] not null default '{}',
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create unique index role_name on role ("rootID", lower(name)) where "deletedAt" is null;
alter table account add foreign key ("roleID") references role;

-- One sign-in. Refresh tokens rotate; a token is stored as its SHA-256 alone.
create table session (
  id uuid primary key,
  "accountID" bigint not null references account,
  "refreshHash" bytea not null,
  -- the one before, for the ten seconds in which several tabs may still send it
  "previousHash" bytea,
  "previousUntil" timestamptz,
  -- the successor that was answered for it, encrypted, so that the same can be answered again
  successor bytea,
  "proxyID" bigint references account,
  "createdAt" timestamptz not null default now(),
  "usedAt" timestamptz not null default now(),
  "expiredAt" timestamptz not null,
  "endedAt" timestamptz
);
create index session_account on session ("accountID") where "endedAt" is null;

-- One-pass keys of logins that wait for their code.
create table login (
  hash bytea primary key,
  "accountID" bigint not null references account,
  code text not null,
  tries int not null default 0,
  "expiredAt" timestamptz not null
);

create table audit (
  id bigint generated always as identity primary key,
  "reqID" text not null,
  "accountID" bigint,
  "accountName" text,
  "proxyName" text,
  -- the roots whose people may read this line
  "clientID" bigint,
  "userID" bigint,
  area text,
  method text not null,
  url text not null,
  permission text,
  body jsonb,
  changes jsonb,
  ip text,
  "createdAt" timestamptz not null default now()
);
create index audit_client on audit ("clientID", id);
create index audit_user on audit ("userID", id);

create table zone (
  id bigint generated always as identity primary key,
  "clientID" bigint not null references account,
  name text not null,
  memo text not null default '',
  revision bigint not null default 0,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create unique index zone_name on zone ("clientID", lower(name)) where "deletedAt" is null;

-- Zones a sub-account of the operator may see.
create table "zoneAccount" ("zoneID" bigint not null references zone, "accountID" bigint not null references account, primary key ("zoneID", "accountID"));

create table node (
  id bigint generated always as identity primary key,
  "clientID" bigint not null references account,
  "zoneID" bigint references zone,
  name text not null,
  type text not null default 'edge' check (type in ('edge', 'relay')),
  status text not null default 'unknown',
  "publicKey" text,
  addresses text[] not null default '{}',
  version text not null default '',
  memo text not null default '',
  "lastBeat" timestamptz,
  "startedAt" timestamptz,
  "appliedSeq" bigint not null default 0,
  refused jsonb not null default '[]',
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create index node_zone on node ("zoneID") where "deletedAt" is null;
create unique index node_key on node ("publicKey") where "deletedAt" is null;

create table "joinToken" (
  hash bytea primary key,
  "clientID" bigint not null references account,
  name text,
  "zoneID" bigint references zone,
  "expiredAt" timestamptz not null,
  "usedAt" timestamptz,
  "nodeID" bigint references node
);

create table "group" (
  id bigint generated always as identity primary key,
  "clientID" bigint not null references account,
  "zoneID" bigint not null references zone,
  name text not null,
  memo text not null default '',
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create unique index group_name on "group" ("zoneID", lower(name)) where "deletedAt" is null;

create table line (id bigint primary key, kind text not null, name text not null);
insert into line values (1, 'default', 'default');

create table "lineNode" (
  id bigint generated always as identity primary key,
  "groupID" bigint not null references "group",
  "lineID" bigint not null references line,
  "nodeID" bigint not null references node,
  backup boolean not null default false,
  unique ("groupID", "lineID", "nodeID")
);

create table product (
  id bigint generated always as identity primary key,
  "clientID" bigint not null references account,
  "groupID" bigint not null references "group",
  name text not null,
  "siteLimit" int not null default 0,
  "domainLimit" int not null default 0,
  "defaultState" text not null default 'normal',
  memo text not null default '',
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create unique index product_name on product ("clientID", lower(name)) where "deletedAt" is null;

-- Numbers of changes: one sequence for the installation, so that a revision is never seen twice.
create sequence revision;

create table site (
  id bigint generated always as identity primary key,
  "clientID" bigint not null references account,
  "userID" bigint not null references account,
  "productID" bigint not null references product,
  "siteName" text not null,
  tags text[] not null default '{}',
  status text not null default 'normal' check (status in ('normal', 'pause', 'limit')),
  expired timestamptz,
  revision bigint not null default 0,
  "changedAt" timestamptz,
  "cacheGeneration" bigint not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create unique index site_name on site ("userID", lower("siteName")) where "deletedAt" is null;
create index site_client on site ("clientID");
create index site_product on site ("productID") where "deletedAt" is null;

-- Sites a sub-user may see.
create table "siteUser" ("siteID" bigint not null references site, "userID" bigint not null references account, primary key ("siteID", "userID"));
create index "siteUser_user" on "siteUser" ("userID");

create table domain (
  id bigint generated always as identity primary key,
  "siteID" bigint not null references site,
  "domainName" text not null,
  status smallint not null default 1 check (status in (0, 1)),
  tags text[] not null default '{}',
  balance text not null default 'roundRobin',
  "originHost" text not null default '',
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
-- One enabled domain of a name in the installation (401001); paused twins may exist.
create unique index domain_name on domain ("domainName") where "deletedAt" is null and status = 1;
create index domain_site on domain ("siteID") where "deletedAt" is null;

create table upstream (
  id bigint generated always as identity primary key,
  "domainID" bigint not null references domain,
  address text not null,
  port int not null default 80,
  weight int not null default 1,
  protocol text not null default 'http',
  backup boolean not null default false,
  enabled boolean not null default true,
  "maxFails" int not null default 1,
  "failTimeout" int not null default 10,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create unique index upstream_address on upstream ("domainID", address, port) where "deletedAt" is null;
create index upstream_domain on upstream ("domainID") where "deletedAt" is null;

create table "cacheRule" (
  id bigint generated always as identity primary key,
  "siteID" bigint not null references site,
  type text not null,
  value text not null default '',
  duration int not null,
  mode text not null,
  priority int not null default 100,
  enabled boolean not null default true,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create index "cacheRule_site" on "cacheRule" ("siteID") where "deletedAt" is null;

create table "purgeTask" (
  id bigint generated always as identity primary key,
  "siteID" bigint not null references site,
  kind text not null default 'clear',
  -- 0 everything of the site, 1 URL, 2 prefix, 3 host
  type int not null,
  url text not null,
  generation bigint not null,
  revision bigint not null default 0,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create index "purgeTask_site" on "purgeTask" ("siteID", id);

create table blacklist (
  id bigint generated always as identity primary key,
  "siteID" bigint not null references site,
  ips text[] not null,
  "blockType" text not null,
  memo text not null default '',
  enabled boolean not null default true,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create index blacklist_site on blacklist ("siteID") where "deletedAt" is null;

-- What has been committed and not yet published, in commit order per entity.
create table outbox (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('domain', 'site', 'zone')),
  "entityID" bigint not null,
  "siteID" bigint,
  "zoneID" bigint,
  revision bigint not null,
  "committedAt" timestamptz not null default clock_timestamp()
);

-- Failed sign-ins by account and by address, within a window.
create table "loginAttempt" (key text primary key, count int not null, "startedAt" timestamptz not null);
