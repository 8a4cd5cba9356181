-- What the vendor sells: templates, by the vendor's root account.
create table license (
  id bigint generated always as identity primary key,
  "vendorID" bigint not null references account,
  name text not null,
  days int not null default 0,
  "siteLimit" int not null default 0,
  "nodeLimit" int not null default 0,
  "zoneLimit" int not null default 0,
  "domainLimit" int not null default 0,
  "autoSSLLimit" int not null default 0,
  "portType" text not null default '7' check ("portType" in ('7', '7+4')),
  "nodeMonitorSeconds" int not null default 0,
  "rowVersion" int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create unique index license_name on license ("vendorID", lower(name)) where "deletedAt" is null;
create index license_vendor on license ("vendorID");
create index license_deleted on license ("deletedAt") where "deletedAt" is not null;

-- Files the vendor signed.
create table "offlineLicense" (
  id bigint generated always as identity primary key,
  "vendorID" bigint not null references account,
  name text not null,
  serial text not null,
  revision int not null default 1,
  days int not null default 0,
  "siteLimit" int not null default 0,
  "nodeLimit" int not null default 0,
  "zoneLimit" int not null default 0,
  "domainLimit" int not null default 0,
  "autoSSLLimit" int not null default 0,
  "portType" text not null default '7' check ("portType" in ('7', '7+4')),
  "nodeMonitorSeconds" int not null default 0,
  "issuedAt" timestamptz not null default now(),
  "expiredAt" timestamptz,
  "installationID" text,
  "registeredAt" timestamptz,
  file text not null,
  "rowVersion" int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create unique index offline_license_serial on "offlineLicense" (serial);
create index offline_license_vendor on "offlineLicense" ("vendorID");
create index offline_license_deleted on "offlineLicense" ("deletedAt") where "deletedAt" is not null;

-- What an operator holds: one row, whichever way it came last. Of a file the limits count that stand in it, never these columns.
create table "licenseOrder" (
  id bigint generated always as identity primary key,
  "clientID" bigint not null references account,
  kind text not null check (kind in ('order', 'offline')),
  name text not null default '',
  "licenseID" bigint references license,
  "siteLimit" int not null default 0,
  "nodeLimit" int not null default 0,
  "zoneLimit" int not null default 0,
  "domainLimit" int not null default 0,
  "autoSSLLimit" int not null default 0,
  "portType" text not null default '7+4' check ("portType" in ('7', '7+4')),
  "nodeMonitorSeconds" int not null default 0,
  "startTime" timestamptz not null default now(),
  "expiredAt" timestamptz,
  file text,
  serial text,
  revision int not null default 0,
  -- of a file: the installation it was registered at
  "installationID" text,
  -- taken away: what was issued once does not become unlimited
  "isGone" boolean not null default false,
  "rowVersion" int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create unique index license_order_client on "licenseOrder" ("clientID");
create index license_order_license on "licenseOrder" ("licenseID");
create index license_order_deleted on "licenseOrder" ("deletedAt") where "deletedAt" is not null;

-- The latest time this installation saw: a clock that was set back is noticed.
create table "licenseClock" (
  one boolean primary key default true check (one),
  "seenAt" timestamptz not null default now()
);
insert into "licenseClock" default values;
